#pragma once

// Shared by the CUDA and HIP halves of the null-kernel program: vendor libraries opened at run
// time, errors as sentences on stderr, and a time limit for a driver that hangs.

#include <dlfcn.h>

#include <cstdio>

namespace assay::null_kernel {

// The request from the command line.
struct Request {
  const char* device;  // a number, or "all"
  long warmups;
  long runs;
};

// Ends the process after that many seconds with exit code 2 and a sentence that names the step.
void limit_time(unsigned seconds);
// Names the current step for that sentence. `step` must be a literal.
void tell_step(const char* step);

// Opens the first available library of the colon-separated `names`. If there is none, returns
// nullptr and prints a sentence that begins with `missing`.
void* open_library(const char* names, const char* missing);

// Leaves `function` null and prints an error if the library has no such function.
template <typename Function>
bool bind(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) {
    std::fprintf(stderr, "the GPU's runtime library has no function %s: it is too old or too new\n",
                 name);
  }
  return function != nullptr;
}

// Sets the first and last GPU that `device` selects, of `count`. For a missing GPU returns false
// and prints an error; `hiding` names the variables that can hide GPUs.
bool choose_devices(const char* device, int count, const char* hiding, int& first, int& last);

// Launches the empty kernel warmups + runs times, with a synchronization after each launch, and
// warms up for at least 0.3 s. The recorder of this process measures the times; the file `output`
// receives the clocks of the GPU.
bool run_cuda(const Request& request, const char* output);
// Launches as run_cuda() does, measures the times itself and writes them to `output` (see hip.cc).
// Separates library names by colons.
bool run_hip(const Request& request, const char* runtimes, const char* compilers,
             const char* output);

}  // namespace assay::null_kernel
