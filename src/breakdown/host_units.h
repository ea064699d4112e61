#pragma once

// Operators as units of work. The unit of a launch is the outermost operator around it that is not
// a node of the backward pass and does not cover a large part of an iteration.

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
