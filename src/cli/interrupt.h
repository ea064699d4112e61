#pragma once

// Long searches end early on Ctrl-C and print what they have.

#include <csignal>

namespace assay {

// Catches SIGINT for as long as it lives.
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
