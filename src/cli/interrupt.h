#pragma once

// Long searches end early on Ctrl-C and print their best result so far.

#include <csignal>

namespace assay {

// Catches SIGINT during its lifetime.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

 private:
  void (*before_)(int);
};

bool interrupt_asked();

}  // namespace assay
