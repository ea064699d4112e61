#include "serve/guard.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace assay {
namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kMethodNotAllowed = 405;
constexpr int kMisdirected = 421;

bool is_own_host(std::string_view host, uint16_t port) {
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (host == fmt::format("{}:{}", name, port)) return true;
  }
  return false;
}

}  // namespace

Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error{ErrorCode::kIo, std::string("no random bytes: ") + std::strerror(errno), "", -1};
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differ = 0;
  for (size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differ == 0;
}

int refusal_of(const RequestHead& head, uint16_t port, std::string_view token, bool needs_token) {
  if (!is_own_host(head.host, port)) return kMisdirected;
  if (head.method != "GET" && head.method != "HEAD") return kMethodNotAllowed;
  const bool own_origin = head.origin.empty() || head.origin == "http://" + std::string(head.host);
  const bool own_site =
      head.fetch_site.empty() || head.fetch_site == "same-origin" || head.fetch_site == "none";
  // Links from other sites may lead to a page without data.
  if (!own_origin || (needs_token && !own_site)) return kForbidden;
  constexpr std::string_view kBearer = "Bearer ";
  const bool has_token = head.authorization.starts_with(kBearer) &&
                         same_secret(head.authorization.substr(kBearer.size()), token);
  return needs_token && !has_token ? kUnauthorized : 0;
}

}  // namespace assay
