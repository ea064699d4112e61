#include "collect/sample/clocks.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace assay::sample {
namespace {

int64_t read(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Moment now() {
  constexpr int kTries = 8;
  constexpr int64_t kTight = 20'000;  // the process was not preempted between the reads
  Moment best;
  int64_t least = INT64_MAX;
  for (int i = 0; i < kTries && least > kTight; ++i) {
    const int64_t before = read(CLOCK_MONOTONIC);
    const int64_t realtime = read(CLOCK_REALTIME);
    const int64_t took = read(CLOCK_MONOTONIC) - before;
    if (took >= least) continue;
    least = took;
    best = {realtime, before + took / 2};
  }
  return best;
}

int64_t Ticker::next_ns(int64_t now_ns) {
  const int64_t ahead = (now_ns - start_ns_) / period_ns_ + 1;
  const int64_t next = std::max(tick_ + 1, ahead);
  missed_ += static_cast<uint64_t>(next - tick_ - 1);
  tick_ = next;
  return start_ns_ + tick_ * period_ns_;
}

void Ticker::end(int64_t now_ns) {
  const int64_t due = (now_ns - start_ns_) / period_ns_;
  missed_ += static_cast<uint64_t>(std::max<int64_t>(0, due - tick_));
}

std::optional<int64_t> StepWatch::step_ns(const Moment& moment) {
  constexpr int64_t kLeast = 1'000'000;
  constexpr int64_t kMostAdjusted = 2000;  // the rate is adjusted by at most 1/2000: 500 ppm
  std::optional<int64_t> step;
  if (last_) {
    const int64_t passed = moment.monotonic_ns - last_->monotonic_ns;
    const int64_t moved = moment.realtime_ns - last_->realtime_ns - passed;
    if (std::abs(moved) > kLeast + passed / kMostAdjusted) step = moved;
  }
  last_ = moment;
  return step;
}

}  // namespace assay::sample
