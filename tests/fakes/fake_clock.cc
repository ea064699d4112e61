// Preloaded into a program: CLOCK_REALTIME is set back by an hour, half a second after the first
// look at it, as an administrator or NTP does. Other clocks are the system's.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  constexpr int64_t kHour = 3600;
  constexpr int64_t kHalf = 500'000'000;
  const auto code = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (code != 0 || clock != CLOCK_REALTIME) return code;
  timespec steady = {};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
  const int64_t now = int64_t{steady.tv_sec} * 1'000'000'000 + steady.tv_nsec;
  static const int64_t first = now;
  if (now - first > kHalf) time->tv_sec -= kHour;
  return 0;
}
