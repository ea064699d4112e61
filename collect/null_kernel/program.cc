#include "collect/null_kernel/program.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace assay::null_kernel {
namespace {

constexpr int kExitError = 2;
const char* volatile current_step = "starting";

void write_text(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) ::_exit(kExitError);
}

// Calls only async-signal-safe functions.
void on_alarm(int) {
  write_text("the GPU's driver did not answer in time while ");
  write_text(current_step);
  write_text(": is the GPU hung or busy? (--limit sets the seconds)\n");
  ::_exit(kExitError);
}

}  // namespace

void limit_time(unsigned seconds) {
  std::signal(SIGALRM, on_alarm);
  ::alarm(seconds);
}

void tell_step(const char* step) { current_step = step; }

void* open_library(const char* names, const char* missing) {
  std::string reason;
  const std::string all = names;
  for (size_t from = 0; from <= all.size();) {
    const size_t end = std::min(all.find(':', from), all.size());
    const std::string name = all.substr(from, end - from);
    from = end + 1;
    if (name.empty()) continue;  // dlopen("") opens this program
    if (void* library = ::dlopen(name.c_str(), RTLD_NOW)) return library;
    if (reason.empty()) reason = ::dlerror();
  }
  std::fprintf(stderr, "%s: %s\n", missing, reason.c_str());
  return nullptr;
}

bool choose_devices(const char* device, int count, const char* hiding, int& first, int& last) {
  const bool all = std::strcmp(device, "all") == 0;
  first = all ? 0 : std::atoi(device);
  last = all ? count - 1 : first;
  if (count > 0 && first >= 0 && last < count) return true;
  std::fprintf(stderr, "there is no GPU %s: the driver shows %d (does %s hide some?)\n", device,
               count, hiding);
  return false;
}

}  // namespace assay::null_kernel
