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
  std::string output;  // its standard output, when asked for
};

// argv[0] is looked for on PATH. keep_output: collect standard output (at most 1 MiB) instead of
// passing it on. Standard output of a child that is not collected goes to standard error: what a
// verb prints is its own.
Result<ChildResult> run_child(const std::vector<std::string>& argv, bool keep_output);

// A program that runs while its parent does something else: what it prints on standard output and
// standard error together is collected, and nothing is on its standard input. It ends with the
// object, and with this process however that ends.
class AskedChild {
 public:
  // memory_bytes: of its data; 0 = no limit. Call it from the main thread, with whose end the
  // kernel ends the child.
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

  pid_t child_;  // leads a process group; 0: waited for
  int output_;
  std::string text_;
};

// What `ask` returns, in a copy of this process that has so many seconds: whatever it does to that
// process, as a library may that is opened where threads or memory are short, this one goes on.
Result<std::string> ask_copy(const std::function<std::string()>& ask, unsigned seconds);

// Waits for the end of a child; its exit code, 128 + signal when a signal ended it.
int wait_for(pid_t child);

// An executable file of that name on PATH; empty when there is none.
std::string find_on_path(const std::string& name);

}  // namespace assay
