#include "serve/http.h"

#include <fcntl.h>

#include <utility>  // needed before Asio of Boost 1.74

#include <boost/asio.hpp>
#include <boost/beast.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

namespace assay {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr size_t kMostConnections = 64;
constexpr uint32_t kMostHead = 8192;  // bytes
constexpr std::chrono::seconds kArrives{15};
constexpr std::chrono::seconds kLeaves{120};
constexpr int kPorts = 10;

using Answering = std::function<HttpAnswer(const RequestHead&)>;
using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

Response response_of(HttpAnswer answer, unsigned version, bool is_head) {
  Response response(static_cast<http::status>(answer.status), version);
  response.set(http::field::content_type, answer.type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Content-Security-Policy", answer.policy);
  response.keep_alive(false);
  const size_t bytes = answer.body.size();
  if (!is_head) response.body() = std::move(answer.body);
  response.content_length(bytes);
  return response;
}

asio::awaitable<void> serve_one(beast::tcp_stream stream, const Answering& answer) {
  boost::system::error_code failed;
  const auto done = [&failed] { return asio::redirect_error(asio::use_awaitable, failed); };
  beast::flat_buffer buffer;
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kMostHead);
  parser.body_limit(std::numeric_limits<uint64_t>::max());
  stream.expires_after(kArrives);
  co_await http::async_read_header(stream, buffer, parser, done());
  HttpAnswer made{.status = 400, .body = R"({"error":"this is no request that this server reads"})"};
  unsigned version = 11;
  bool is_head = false;
  const bool is_ours = failed && failed.category() == make_error_code(http::error::bad_version).category();
  if (failed == http::error::end_of_stream || (failed && !is_ours)) co_return;  // no request, or
                                                                                // too slow
  if (failed == http::error::header_limit) made.status = 431;
  if (!failed) {
    const Request& request = parser.get();
    version = request.version();
    is_head = request.method() == http::verb::head;
    const auto field = [&request](auto name) { return view_of(request[name]); };
    const bool has_body = parser.content_length().value_or(0) > 0 || parser.chunked();
    if (!has_body) {
      made = answer({.method = view_of(request.method_string()),
                     .target = view_of(request.target()),
                     .host = field(http::field::host),
                     .origin = field(http::field::origin),
                     .fetch_site = field("Sec-Fetch-Site"),
                     .authorization = field(http::field::authorization)});
    }
  }
  Response response = response_of(std::move(made), version, is_head);
  http::response_serializer<http::string_body> serializer(response);
  stream.expires_after(kLeaves);
  if (is_head) {
    co_await http::async_write_header(stream, serializer, done());
  } else {
    co_await http::async_write(stream, serializer, done());
  }
  stream.socket().shutdown(tcp::socket::shutdown_send, failed);
}

}  // namespace

struct HttpServer::Sockets {
  asio::io_context context;
  tcp::acceptor acceptor{context};
  std::atomic<size_t> connections{0};

  asio::awaitable<void> accept(const Answering& answer) {
    for (;;) {
      boost::system::error_code failed;
      tcp::socket socket =
          co_await acceptor.async_accept(asio::make_strand(context), asio::redirect_error(asio::use_awaitable, failed));
      if (failed || connections.load() >= kMostConnections) continue;  // the socket closes
      // Analyses run in child processes, which must not inherit the connections of others.
      ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
      ++connections;
      const auto executor = socket.get_executor();
      asio::co_spawn(executor, serve_one(beast::tcp_stream(std::move(socket)), answer),
                     [this](const std::exception_ptr&) { --connections; });
    }
  }
};

HttpServer::HttpServer(std::unique_ptr<Sockets> sockets) : sockets_(std::move(sockets)) {}
HttpServer::HttpServer(HttpServer&& other) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::listen(uint16_t port) {
  auto sockets = std::make_unique<Sockets>();
  boost::system::error_code failed;
  for (int more = 0; more < (port == 0 ? 1 : kPorts); ++more) {
    const tcp::endpoint place(asio::ip::address_v4::loopback(), static_cast<uint16_t>(port + more));
    sockets->acceptor = tcp::acceptor(sockets->context);
    (void)sockets->acceptor.open(place.protocol(), failed);
    if (!failed) (void)sockets->acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed) (void)sockets->acceptor.bind(place, failed);
    if (!failed) (void)sockets->acceptor.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) continue;
    ::fcntl(sockets->acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
    return HttpServer(std::move(sockets));
  }
  return Error{ErrorCode::kIo, "cannot listen on 127.0.0.1, port " + std::to_string(port) + ": " + failed.message(), "", -1};
}

uint16_t HttpServer::port() const { return sockets_->acceptor.local_endpoint().port(); }

void HttpServer::run(unsigned threads, const std::function<HttpAnswer(const RequestHead&)>& answer) {
  asio::co_spawn(sockets_->context, sockets_->accept(answer), asio::detached);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { sockets_->context.run(); });
  sockets_->context.run();
  for (std::thread& other : others) other.join();
}

}  // namespace assay
