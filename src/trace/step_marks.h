#pragma once

// Marks of PyTorch's profiler around the steps of a program.

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace assay {

// "ProfilerStep#7" on one thread.
struct StepMark {
  uint64_t number = 0;
  StringId name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Marks in annotations, then in operators, where Kineto put them before it had user annotations;
// each in table order.
std::vector<StepMark> profiler_marks(const Trace& trace);

}  // namespace assay
