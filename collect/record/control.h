#pragma once

// The word by which `assay record` switches recording on and off in all processes it started.

#include <string>

#include "collect/wire.h"

namespace assay::record {

class Control {
 public:
  // A file holding a wire::Control; empty = there is none.
  void open(const std::string& path);
  bool is_open() const { return word_ != nullptr; }
  // True: it says otherwise than when this was asked last. recording: what it says.
  bool changed(bool& recording);

 private:
  const wire::Control* word_ = nullptr;
  uint32_t seen_ = 0;
};

}  // namespace assay::record
