#pragma once

// A recorder in the program's process: what it says on stderr, what the program is called, and a
// thread of its own.

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include <string>

namespace assay::record {

inline void say_line(const std::string& text) {
  const std::string line = "assay record: " + text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

// Without folders; "unknown" where /proc does not tell.
inline std::string running_program() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return "unknown";
  const std::string text(path, static_cast<size_t>(length));
  return text.substr(text.rfind('/') + 1);
}

// All signals are the program's: blocked here, inherited by the thread, then as before. The error's
// number, 0 = the thread runs.
inline int start_own_thread(void* (*run)(void*), void* data) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int failed = ::pthread_create(&thread, nullptr, run, data);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return failed;
  ::pthread_detach(thread);
  ::pthread_setname_np(thread, "assay-record");
  return 0;
}

}  // namespace assay::record
