#pragma once

// The user's program beside the sampler, and the signals that end the sampling. The program keeps
// its exit code, its standard streams and its signals, whatever happens to the sampler.

#include <sys/types.h>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sample {

// Holds back SIGINT, SIGTERM, SIGHUP and SIGCHLD in this thread, and in those it starts, for as
// long as it lives; those that the process was started to ignore stay ignored.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Sleeps until that time of CLOCK_MONOTONIC or a signal; the signal, or nullopt at the time.
  std::optional<siginfo_t> wait_until(int64_t monotonic_ns) const;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t held_ = {};
  sigset_t before_ = {};
};

class Job {
 public:
  // What the system says against starting this command (errno); 0 = nothing.
  static int problem(const std::vector<std::string>& command);
  // Fails when there is no such program, before anything is written or run.
  static Status check(const std::vector<std::string>& command);
  // Fails when the command cannot be started.
  static Result<Job> start(const std::vector<std::string>& command, const HeldSignals& signals);
  pid_t pid() const { return pid_; }
  // The exit code once it has ended, 128 + N after signal N.
  std::optional<int> ended();
  void send(int signal) const;

 private:
  explicit Job(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<int> exit_code_;
};

}  // namespace assay::sample
