#pragma once

// Operators as units of work: of the operators around a launch the outermost one that is not so
// wide that it holds a good part of an iteration, and no node of the backward pass.

#include <cstdint>
#include <vector>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

class HostUnits {
 public:
  HostUnits(const Trace& trace, const Links& links, size_t windows);

  // The unit around an operator that launches; the operator itself where all around it are wide.
  OpId unit_of(OpId op) const { return unit_[op.index()] ? unit_[op.index()] : op; }

 private:
  std::vector<OpId> unit_;  // per op; none = too wide
};

}  // namespace assay
