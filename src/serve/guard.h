#pragma once

// Which requests a server on loopback answers. Any page that a browser has open can send requests to 127.0.0.1. The
// token keeps such a page from the data. The host of a request shows names that resolve to this machine (DNS rebinding),
// and its origin shows other sites.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

// A request as it came; the views live as long as its owner.
struct RequestHead {
  std::string_view method;
  std::string_view target;         // path and query, percent-encoded
  std::string_view host;           // header fields; empty where they are missing
  std::string_view origin;
  std::string_view fetch_site;
  std::string_view authorization;
};

// 128 random bits as 32 hexadecimal digits. Errors: the system has none to give.
Result<std::string> random_token();

// Compares two texts in a time that depends on their lengths alone.
bool same_secret(std::string_view a, std::string_view b);

// The HTTP status of a refusal, or 0 if the request may be answered. It is 421 if the host is not this server on
// loopback, and 405 if the method is neither GET nor HEAD. It is 403 if another site asks, and 401 if the token is missing
// or wrong. Paths that hold no data need no token.
int refusal_of(const RequestHead& head, uint16_t port, std::string_view token, bool needs_token);

}  // namespace assay
