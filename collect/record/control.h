#pragma once

// The word with which `assay record` switches recording on and off in all its processes.

#include <string>

#include "collect/wire.h"

namespace assay::record {

class Control {
 public:
  // A file with a wire::Control; empty = none.
  void open(const std::string& path);
  bool is_open() const { return word_ != nullptr; }
  // True if it changed since the last call. recording: the current value.
  bool changed(bool& recording);

 private:
  const wire::Control* word_ = nullptr;
  uint32_t seen_ = 0;
};

}  // namespace assay::record
