#pragma once

// Finds and binds CUPTI at run time, inside the recorded program.

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

// Opens and binds one library.
CuptiLibrary open_cupti(const std::string& path);

// Candidate paths of CUPTI, in this order: the loaded one; by name through the loader; next to the
// loaded CUDA libraries (pip packages use a folder per library); under CUDA_HOME, CUDA_PATH and
// /usr/local/cuda. Candidates of a newer CUDA major version than the driver's come last, because
// they mostly reject the driver. driver: from driver_version().
std::vector<std::string> cupti_candidates(uint32_t driver);

// True if PyTorch's profiler is loaded, which may take CUPTI at any time.
bool kineto_is_loaded();

// A function of the loaded libcuda; nullptr = none.
void* driver_function(const char* name);
// 13000 for CUDA 13.0; 0 = unknown.
uint32_t driver_version();

}  // namespace assay::record
