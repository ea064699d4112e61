#pragma once

// Duration of an iteration measured without a recorder.

#include <cstdint>

namespace assay {

struct UntracedTime {
  int64_t ns = 0;
  int64_t low_ns = 0;  // range of several measurements; equal to ns for one
  int64_t high_ns = 0;
};

}  // namespace assay
