#pragma once

// What NVTX ranges are in a Trace: operators where a framework labelled them so, else annotations;
// and where nothing is an operator, the innermost ranges of the user stand in.

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

// Files one push/pop range. keep_op_inputs: fill builder.op_inputs from the label.
RangeRow add_nvtx_range(TraceBuilder& builder, const RangeSpan& span, std::string_view text,
                        bool keep_op_inputs);

// In a trace without operators, the user's push/pop ranges (rows of builder.annotations) that hold
// no other one stand in for them. Call once, when all rows are read and none is open.
void add_stand_in_operators(TraceBuilder& builder, std::vector<uint32_t> rows);

}  // namespace assay
