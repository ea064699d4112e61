#pragma once

// Detects a different host speed: operators and launch calls that both sides call equally often
// take longer or shorter by one factor. The cause is not the program, but the machine's clock,
// other processes on it, or the software below the model.

#include <cstdint>
#include <vector>

#include "diff/run.h"

namespace assay {

// Reason why no speed ratio was found.
enum class NoPace : uint8_t {
  kNone,      // one was found
  kFewNames,  // fewer than kLeastPaceNames names are called equally often
  kLittle,    // those names take less than kLeastPaceShare of the host's time, on both sides
  kApart,     // their times changed by factors that differ too much
};
constexpr size_t kLeastPaceNames = 5;
constexpr double kLeastPaceShare = 0.2;

struct PaceChange {
  bool told = false;  // a ratio was found: why_none == kNone
  NoPace why_none = NoPace::kFewNames;
  // Share of the host's time in names that are called equally often; the smaller of both sides.
  double share = 0;
  double ratio = 1;  // B's time / A's: median over names, weighted by time
  double low = 1;    // low and high: 10 % and 90 % quantiles, weighted likewise
  double high = 1;
  uint64_t names = 0;  // operators and launch calls that both sides call equally often
  // Per iteration and GPU: the part of the change in device idle time after host activity that
  // comes from the host's speed, at the mean amount of host activity of both sides. Exchanging the
  // sides changes the sign. from_ns to to_ns: at the ends of the ratio's interval; from_ns <=
  // to_ns.
  int64_t change_ns = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;

  bool differs() const;  // known, by a tenth or more, and in one direction for nearly all names
};

// Exchanging the sides gives 1 / ratio. Needs DiffRun::host_calls.
PaceChange compare_pace(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b);

}  // namespace assay
