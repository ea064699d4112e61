#pragma once

// The units that titles of columns name: rates of tokens or requests, and times.

#include <optional>
#include <string>

namespace assay {

// "ktok/s/GPU": what one of it is in tokens (or requests) per second of one device or sequence.
struct RateUnit {
  double per_second = 1;
  bool requests = false;
  bool per_device = false;
  bool per_sequence = false;  // per user, request, sequence or stream
};

// The unit in a title: none, a unit, or one that cannot be converted ("tok/s/node").
struct TitleRate {
  bool names_one = false;
  std::optional<RateUnit> unit;  // absent: not understood, or none is named
};
TitleRate rate_of_title(const std::string& title);

// True if a title means minutes, which must be spelled out or in brackets, because "latency_min"
// may be "Minimum latency".
bool says_minutes(const std::string& title);
// True if a title divides: "ms/token", "W per device".
bool names_ratio(const std::string& title);

}  // namespace assay
