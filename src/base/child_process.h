#pragma once

// Other programs that a verb runs: started without a shell, waited for.

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

// argv[0] is looked for on PATH. keep_output: collect standard output (at most 1 MiB) instead of
// passing it on. Standard output of a child that is not collected goes to standard error: what a
// verb prints is its own.
Result<ChildResult> run_child(const std::vector<std::string>& argv, bool keep_output);

// A program that runs in parallel with its parent. Its standard output and standard error are
// collected together, and its standard input is empty. It ends with the object, and with this
// process however that ends.
class AskedChild {
 public:
  // memory_bytes: limit of its data; 0 = no limit. Call it from the main thread: the kernel ends
  // the child when that thread ends.
  static Result<AskedChild> start(const std::vector<std::string>& argv, uint64_t memory_bytes);
  AskedChild(AskedChild&& other) noexcept;
  AskedChild& operator=(AskedChild&&) = delete;
  ~AskedChild();

  int output() const { return output_; }  // to poll for something to read
  // Takes what it has printed; false once it has closed its output.
  bool read_some();
  // Waits for its end.
  ChildResult finish();

 private:
  AskedChild(pid_t child, int output) : child_(child), output_(output) {}

  pid_t child_;  // leads a process group; 0 after the wait
  int output_;
  std::string text_;
};

// Result of `ask`, computed in a copy of this process with a limit of this many seconds. A crash of
// the copy does not affect this process, for example in a library that is loaded while threads or
// memory are short.
Result<std::string> ask_copy(const std::function<std::string()>& ask, unsigned seconds);

// Waits for the end of a child; its exit code, 128 + signal when a signal ended it.
int wait_for(pid_t child);

// An executable file of that name on PATH; empty when there is none.
std::string find_on_path(const std::string& name);

}  // namespace assay
