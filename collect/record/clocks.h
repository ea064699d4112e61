#pragma once

#include <algorithm>
#include <ctime>

#include <cstdint>

#include "collect/wire.h"

namespace assay::record {

inline uint64_t clock_ns(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

// Reads one moment on three clocks: the tightest of five reads. read_tracer() -> ns, 0 = no tracer.
template <typename ReadTracer>
wire::Clock three_clocks(const ReadTracer& read_tracer) {
  wire::Clock best = {};
  best.uncertainty_ns = UINT32_MAX;
  for (int i = 0; i < 5; ++i) {
    wire::Clock clock = {};
    const uint64_t before = monotonic_ns();
    clock.tracer = read_tracer();
    clock.realtime = realtime_ns();
    const uint64_t after = monotonic_ns();
    clock.monotonic = before + (after - before) / 2;
    clock.uncertainty_ns = static_cast<uint32_t>(std::min<uint64_t>(after - before, UINT32_MAX));
    if (clock.uncertainty_ns < best.uncertainty_ns) best = clock;
  }
  return best;
}

}  // namespace assay::record
