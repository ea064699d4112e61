#pragma once

// Tests if the host ran at another speed: equal operators and launch calls, equally often, take
// longer or shorter by one factor. That is not a change of the program. The causes are the
// machine's clock, other processes on it, or the software below the model.

#include <cstdint>
#include <vector>

#include "diff/run.h"

namespace assay {

// Why two runs have no common pace.
enum class NoPace : uint8_t {
  kNone,      // they have one
  kFewNames,  // fewer than kLeastPaceNames are called as often
  kLittle,    // those that are take less than kLeastPaceShare of the host's time, on both sides
  kApart,     // they changed by factors that are too different
};
constexpr size_t kLeastPaceNames = 5;
constexpr double kLeastPaceShare = 0.2;

struct PaceChange {
  bool told = false;  // enough of the host's work is the same, and alike in how it changed
  NoPace why_none = NoPace::kFewNames;
  // Share of the host's time in names that are called as often, of the side with less of it.
  double share = 0;
  double ratio = 1;   // B's time over A's: middle of the names, each by its time
  double low = 1;     // eight tenths of their time lie between these
  double high = 1;
  uint64_t names = 0;  // operators and launch calls that both sides call as often
  // Per iteration and GPU: the part of the change in device idle time after host activity that
  // comes from the host's speed, at the mean amount of host activity of both sides. Exchanging the
  // sides changes the sign. from_ns to to_ns: at the ends of the ratio's interval; from_ns <=
  // to_ns.
  int64_t change_ns = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;

  bool differs() const;  // known, by a tenth or more, and in one direction for nearly all names
};

// Exchanged sides give 1 / ratio. Sides need their iterations' host calls (DiffRun::host_calls).
PaceChange compare_pace(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b);

}  // namespace assay
