#pragma once

// Parses the units in column titles: rates of tokens or requests, and times.

#include <optional>
#include <string>

namespace assay {

// A unit such as "ktok/s/GPU", converted to tokens or requests per second.
struct RateUnit {
  double per_second = 1;
  bool requests = false;
  bool per_device = false;
  bool per_sequence = false;  // per user, request, sequence or stream
};

// A title has no unit, a known unit, or one that cannot be converted ("tok/s/node").
struct TitleRate {
  bool names_one = false;
  std::optional<RateUnit> unit;  // nullopt: no unit, or one that cannot be converted
};
TitleRate rate_of_title(const std::string& title);

// True if a title names minutes spelled out or in brackets; "latency_min" may mean "minimum
// latency".
bool says_minutes(const std::string& title);
// True if a title is a ratio: "ms/token", "W per device".
bool names_ratio(const std::string& title);

}  // namespace assay
