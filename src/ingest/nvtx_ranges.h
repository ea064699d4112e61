#pragma once

// Converts NVTX ranges to operators if a framework labelled them so, else to annotations. If there
// are no operators, the innermost user ranges replace them.

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace assay {

struct RangeSpan {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  ThreadId thread;
};

struct RangeRow {
  bool is_operator = false;  // the row is the last one of builder.ops
  uint32_t annotation = 0;   // else: its row in builder.annotations
};

// Adds one push/pop range. keep_op_inputs: fill builder.op_inputs from the label.
RangeRow add_nvtx_range(TraceBuilder& builder, const RangeSpan& span, std::string_view text,
                        bool keep_op_inputs);

// In a trace without operators, adds the user's innermost push/pop ranges (rows of
// builder.annotations) as operators. Call once, after all rows are read and closed.
void add_stand_in_operators(TraceBuilder& builder, std::vector<uint32_t> rows);

}  // namespace assay
