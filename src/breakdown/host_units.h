#pragma once

// Groups host operators into units. The unit of a launch is the outermost enclosing operator that
// is not a backward node and does not cover a large part of an iteration.

#include <cstdint>
#include <vector>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

class HostUnits {
 public:
  HostUnits(const Trace& trace, const Links& links, size_t windows);

  // The unit of a launching operator; the operator itself if all enclosing ones are too wide.
  OpId unit_of(OpId op) const { return unit_[op.index()] ? unit_[op.index()] : op; }

 private:
  std::vector<OpId> unit_;  // per op; none = too wide
};

}  // namespace assay
