#pragma once

// Loads the observer into PyTorch.

#include <dlfcn.h>

#include <string>

#include "collect/operators/sink.h"

namespace assay::record {

// Returns the problem; empty = it observes. The library is never closed and the sink must stay:
// PyTorch calls both until the process ends.
inline std::string start_observer(const std::string& path, const OperatorSink& sink) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* problem = ::dlerror();
    return problem != nullptr ? problem : path + " cannot be loaded";
  }
  const auto observe = reinterpret_cast<ObserveOperators>(::dlsym(library, kObserveOperators));
  if (observe != nullptr && observe(&sink) == 0) return "";
  return path + " is of another version of assay";
}

}  // namespace assay::record
