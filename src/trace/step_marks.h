#pragma once

// The marks that PyTorch's profiler sets around the steps of a program.

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace assay {

// "ProfilerStep#7", as one thread or device has it.
struct StepMark {
  uint64_t number = 0;
  StringId name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// First from the annotations, then from the operators, where Kineto put them before it had user
// annotations; each in the order of its table.
std::vector<StepMark> profiler_marks(const Trace& trace);

}  // namespace assay
