#pragma once

// An iteration of a program as measured without a recorder.

#include <cstdint>

namespace assay {

struct UntracedTime {
  int64_t ns = 0;
  int64_t low_ns = 0;  // of several measurements; equal to ns for one
  int64_t high_ns = 0;
};

}  // namespace assay
