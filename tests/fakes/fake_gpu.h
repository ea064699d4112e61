#pragma once

// What the GPUs that do not exist have in common: a stream that is busy for as long as its work
// says, events on it, and a fault named by the environment. The includer says which clock its
// driver stamps with.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fake {

// Of one library each: an inline variable would be one for all libraries of the process, although
// their clocks differ.
static std::mutex mutex;
static int64_t free_at = 0;                            // when the stream has done everything
static std::vector<std::pair<int64_t, int64_t>> busy;  // of matrix products
static double busy_ns = 0;

extern const clockid_t kClock;

inline int64_t now() {
  timespec time = {};
  ::clock_gettime(kClock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline bool faulty(const char* fault) {
  const char* set = std::getenv("FAKE_GPU");
  return set != nullptr && std::string(set) == fault;
}

inline void take(int64_t duration, bool product) {
  std::lock_guard lock(mutex);
  const int64_t start = std::max(now(), free_at);
  free_at = start + duration;
  if (!product) return;
  busy.emplace_back(start, free_at);
  busy_ns += static_cast<double>(duration);
}

inline void wait_until(int64_t t) {
  while (now() < t) std::this_thread::sleep_for(std::chrono::microseconds(5));
}

inline bool is_busy(int64_t t) {
  std::lock_guard lock(mutex);
  const auto after =
      std::upper_bound(busy.begin(), busy.end(), t,
                       [](int64_t time, const auto& span) { return time < span.first; });
  return after != busy.begin() && t < (after - 1)->second;
}

// Time of products in [from, to).
inline int64_t busy_between(int64_t from, int64_t to) {
  std::lock_guard lock(mutex);
  int64_t sum = 0;
  for (auto span = busy.rbegin(); span != busy.rend() && span->second > from; ++span) {
    sum += std::max<int64_t>(0, std::min(to, span->second) - std::max(from, span->first));
  }
  return sum;
}

struct Event {
  int64_t at = 0;
};

constexpr char kStamp[] = "assay_stamp";
constexpr char kOther[] = "other";

}  // namespace fake
