#pragma once

// Launch sizes of made-up kernels over one axis.

#include <cstdint>

#include "trace/trace.h"

namespace assay::testing {

// Tells that an activity ran in so many blocks of 128 threads.
inline void add_flat_launch(Trace& trace, uint32_t activity, uint32_t blocks) {
  trace.kernel_shapes.push_back({.activity = ActivityId(activity),
                                 .grid_x = blocks,
                                 .grid_y = 1,
                                 .grid_z = 1,
                                 .block_x = 128,
                                 .block_y = 1,
                                 .block_z = 1});
}

}  // namespace assay::testing
