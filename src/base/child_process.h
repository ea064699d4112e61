#pragma once

// Child processes, started without a shell.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

struct ChildResult {
  int exit_code = 0;   // 128 + signal when a signal ended it
  std::string output;  // its standard output, if requested
};

// Runs a program and waits for it. argv[0] is searched on PATH. keep_output: collect standard
// output (at most 1 MiB). Otherwise the child's standard output goes to standard error, because
// standard output is reserved for Assay's own results.
Result<ChildResult> run_child(const std::vector<std::string>& argv, bool keep_output);

// A child process that runs in parallel with its parent. Its standard output and standard error are
// collected together; its standard input is empty. It ends when this object is destroyed, and when
// this process ends for any reason.
class AskedChild {
 public:
  // memory_bytes: limit of its data segment, 0 = no limit. Call it from the main thread: the kernel
  // ends the child when the thread that started it ends.
  static Result<AskedChild> start(const std::vector<std::string>& argv, uint64_t memory_bytes);
  AskedChild(AskedChild&& other) noexcept;
  AskedChild& operator=(AskedChild&&) = delete;
  ~AskedChild();

  int output() const { return output_; }  // for poll()
  // Reads the available output. False once the child has closed its output.
  bool read_some();
  // Waits for the child to exit.
  ChildResult finish();

 private:
  AskedChild(pid_t child, int output) : child_(child), output_(output) {}

  pid_t child_;  // leads a process group; 0 after the wait
  int output_;
  std::string text_;
};

// Calls `ask` in a forked copy of this process and returns its result; fails after `seconds`. A
// crash in the copy does not affect this process. Used, for example, to load a library that may
// crash when threads or memory are scarce.
Result<std::string> ask_copy(const std::function<std::string()>& ask, unsigned seconds);

// Waits for a child. Returns its exit code, or 128 + signal if a signal ended it.
int wait_for(pid_t child);

// Path of the executable `name` on PATH; empty if there is none.
std::string find_on_path(const std::string& name);

}  // namespace assay
