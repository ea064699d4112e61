#pragma once

// The time that the samples of a log represent. Each represents the time since the previous sample,
// unless the gap is so long that samples are missing.

#include <cstdint>
#include <vector>

#include "records/power_log.h"

namespace assay {

class Coverage {
 public:
  // readings are in order of time. longest_ns: a longer gap between two samples is a hole.
  Coverage(const std::vector<PowerReading>& readings, int64_t longest_ns);

  // Covered time within [from, to]; 0 if to <= from.
  int64_t inside(int64_t from_ns, int64_t to_ns) const {
    return to_ns > from_ns ? until(to_ns) - until(from_ns) : 0;
  }
  int64_t covered_ns() const { return covered_ns_; }
  int64_t gaps_ns() const { return gaps_ns_; }
  uint64_t gaps() const { return gaps_; }
  double joules() const { return joules_; }

 private:
  struct Stretch {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
  };
  int64_t until(int64_t t_ns) const;

  std::vector<Stretch> stretches_;  // in order of time, not touching
  std::vector<int64_t> before_;     // covered time before each
  int64_t covered_ns_ = 0;
  int64_t gaps_ns_ = 0;
  uint64_t gaps_ = 0;
  double joules_ = 0;
};

// Median time between samples; 0 for fewer than two.
int64_t typical_step_ns(const std::vector<PowerReading>& readings);
// The longest time that one sample may represent: four periods of the log or of the sensor,
// whichever is longer. Logs that record only changes have only the latter.
int64_t longest_stand_ns(const std::vector<PowerReading>& readings, int64_t period_ns);

}  // namespace assay
