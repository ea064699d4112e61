#pragma once

// Decides which requests a server on loopback answers. Any page open in a browser can send requests
// to 127.0.0.1, so data requires a token. Checking the Host header defeats DNS rebinding; checking
// Origin and Sec-Fetch-Site rejects other sites.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

// The head of a request. The views are valid as long as their owner.
struct RequestHead {
  std::string_view method;
  std::string_view target;         // path and query, percent-encoded
  std::string_view host;           // these are header fields, empty if missing
  std::string_view origin;
  std::string_view fetch_site;
  std::string_view authorization;
};

// 128 random bits as 32 hexadecimal digits. Errors: the system provides no random numbers.
Result<std::string> random_token();

// Compares in time that depends only on the lengths, not on the contents.
bool same_secret(std::string_view a, std::string_view b);

// Returns 0 if the request may be answered, else an HTTP status. It is 421 if the host is not this
// server on loopback, and 405 if the method is neither GET nor HEAD. It is 403 if the request comes
// from another site, and 401 if the token is missing or wrong. `needs_token` is false for paths
// that hold no data.
int refusal_of(const RequestHead& head, uint16_t port, std::string_view token, bool needs_token);

}  // namespace assay
