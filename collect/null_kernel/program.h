#pragma once

// What the two halves of the null-kernel program share: vendor libraries opened at run time, errors
// as sentences on stderr, and a limit on the time that a driver may take.

#include <dlfcn.h>

#include <cstdio>

namespace assay::null_kernel {

// What was asked for on the command line.
struct Request {
  const char* device;  // a number, or "all"
  long warmups;
  long runs;
};

// Ends the process after that many seconds with exit code 2 and a sentence that names the step.
void limit_time(unsigned seconds);
// `step` is what is being done, for that sentence; a literal.
void tell_step(const char* step);

// The first of the libraries in `names`, separated by colons, that opens; nullptr, and a sentence
// that begins with `missing`, when none does.
void* open_library(const char* names, const char* missing);

// Leaves `function` null and says so when the library has no function of that name.
template <typename Function>
bool bind(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) {
    std::fprintf(stderr, "the GPU's runtime library has no function %s: it is too old or too new\n",
                 name);
  }
  return function != nullptr;
}

// The GPUs that `device` names, of `count`: first to last. False, and a sentence, for one that is
// not there; `hiding` names the variables that can hide some.
bool choose_devices(const char* device, int count, const char* hiding, int& first, int& last);

// Both launch the empty kernel warmups + runs times, each followed by a synchronisation.
// CUDA's warm up for 0.3 s at least. Its times are taken by the recorder around this process; the
// file `output` gets the clocks of the GPU.
bool run_cuda(const Request& request, const char* output);
// Times are taken here and written to `output` (hip.cc says which). Libraries by colons.
bool run_hip(const Request& request, const char* runtimes, const char* compilers,
             const char* output);

}  // namespace assay::null_kernel
