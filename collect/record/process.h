#pragma once

// Process utilities of a recorder: messages on stderr, the program's name, and the writing thread.

#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include <string>

namespace assay::record {

inline void say_line(const std::string& text) {
  const std::string line = "assay record: " + text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

// Without folders; "unknown" if /proc is unreadable.
inline std::string running_program() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return "unknown";
  const std::string text(path, static_cast<size_t>(length));
  return text.substr(text.rfind('/') + 1);
}

// Starts a thread with all signals blocked, because they belong to the program. Returns the error
// number; 0 = running.
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
