#pragma once

#include <ctime>

#include <cstdint>

namespace assay::record {

inline uint64_t clock_ns(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

}  // namespace assay::record
