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

// In this order: `wanted` alone, if it is not empty; the CUPTI that the process has loaded; by
// name, as the loader finds it; beside the CUDA libraries that the process has loaded (packages of
// pip put each in a folder of its own); below CUDA_HOME, CUDA_PATH and /usr/local/cuda.
CuptiLibrary find_cupti(const std::string& wanted);

// The driver's function, from the libcuda that the process has loaded; nullptr = there is none.
void* driver_function(const char* name);
// 13000 for CUDA 13.0; 0 = unknown.
uint32_t driver_version();

// The paths tried, for a test.
std::vector<std::string> cupti_candidates(const std::vector<std::string>& loaded);

}  // namespace assay::record
