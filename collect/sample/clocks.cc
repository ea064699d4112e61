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

Moment now() { return {read(CLOCK_REALTIME), read(CLOCK_MONOTONIC)}; }

int64_t Ticker::next_ns(int64_t now_ns) {
  const int64_t ahead = (now_ns - start_ns_) / period_ns_ + 1;
  const int64_t next = std::max(tick_ + 1, ahead);
  missed_ += static_cast<uint64_t>(next - tick_ - 1);
  tick_ = next;
  return start_ns_ + tick_ * period_ns_;
}

std::optional<int64_t> StepWatch::step_ns(const Moment& moment) {
  constexpr int64_t kLeast = 1'000'000;
  constexpr int64_t kMostAdjusted = 2000;  // one part in: 500 ppm
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
