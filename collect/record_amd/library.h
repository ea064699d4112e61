#pragma once

// Binds the loaded rocprofiler-sdk at run time. Kinds are found by name, because their numbers
// differ between versions.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/record_amd/rocprofiler_abi.h"

namespace assay::record_amd {

struct Library {
  rocprofiler::Functions functions = {};
  uint32_t version = 0;  // 10000 for 1.0.0
  std::string problem;   // empty = bound
};

// Uses only the rocprofiler-sdk that is already loaded.
Library bind_rocprofiler(uint32_t version);

// "0.6.1" of 601.
std::string version_text(uint32_t version);
// The library's text for a status, or its number.
std::string status_text(const rocprofiler::Functions& functions, int status);

// Kinds or operations by name, as the library lists them.
using Numbers = std::unordered_map<std::string, int>;
Numbers kinds_by_name(rocprofiler::IterateKinds iterate, rocprofiler::KindName name);
struct Operation {
  int32_t number;
  std::string name;
};
std::vector<Operation> operations_of(int kind, rocprofiler::IterateOperations iterate,
                                     rocprofiler::OperationName name);

}  // namespace assay::record_amd
