#pragma once

// CUPTI, found and bound at run time inside the program that is recorded.

#include <cstdint>
#include <string>
#include <vector>

#include "collect/record/cupti_abi.h"

namespace assay::record {

struct CuptiLibrary {
  cupti::Functions functions = {};
  uint32_t version = 0;
  std::string problem;  // of the last library tried; empty = found

  bool found() const { return version != 0; }
};

// One library, opened and bound.
CuptiLibrary open_cupti(const std::string& path);

// Where CUPTI may be, in this order: the one that the process has loaded; by name, as the loader
// finds it; beside the CUDA libraries that the process has loaded (packages of pip put each in a
// folder of its own); below CUDA_HOME, CUDA_PATH and /usr/local/cuda. Those of a newer major
// version of CUDA than the driver's come last: mostly it does not take them. driver: as
// driver_version().
std::vector<std::string> cupti_candidates(uint32_t driver);

// PyTorch's profiler is in the process, which may take CUPTI for itself at any time.
bool kineto_is_loaded();

// The driver's function, from the libcuda that the process has loaded; nullptr = there is none.
void* driver_function(const char* name);
// 13000 for CUDA 13.0; 0 = unknown.
uint32_t driver_version();

}  // namespace assay::record
