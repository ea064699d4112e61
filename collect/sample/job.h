#pragma once

// The user's program, and the signals that end the sampling. The program keeps its exit code,
// standard streams and signals if the sampler fails.

#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sample {

// Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD in this thread and the threads that it starts, for the
// lifetime of the object. Signals that the process inherited as ignored stay ignored.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Sleeps until that CLOCK_MONOTONIC time or a signal. Returns the signal, or nullopt at the time.
  std::optional<siginfo_t> wait_until(int64_t monotonic_ns) const;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t held_ = {};
  sigset_t before_ = {};
};

class Job {
 public:
  // The errno of starting this command; 0 = none.
  static int problem(const std::vector<std::string>& command);
  // Fails if there is no such program, before anything is written or run.
  static Status check(const std::vector<std::string>& command);
  // Fails if the command cannot be started.
  static Result<Job> start(const std::vector<std::string>& command, const HeldSignals& signals);
  pid_t pid() const { return pid_; }
  // The exit code after the end, 128 + N after signal N.
  std::optional<int> ended();
  void send(int signal) const;

 private:
  explicit Job(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<int> exit_code_;
};

}  // namespace assay::sample
