// Preloaded into a program: CLOCK_REALTIME is set back by an hour as soon as there is a file of the
// name in FAKE_CLOCK_STEP, as an administrator or NTP does. Other clocks are the system's.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  constexpr time_t kHour = 3600;
  const auto code = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (code != 0 || clock != CLOCK_REALTIME) return code;
  const char* file = std::getenv("FAKE_CLOCK_STEP");
  if (file != nullptr && ::access(file, F_OK) == 0) time->tv_sec -= kHour;
  return 0;
}
