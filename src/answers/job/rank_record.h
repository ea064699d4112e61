#pragma once

// Makes the rank record of a trace: the parts of breakdown, dependency graph and import log that a
// comparison with thousands of other ranks needs.

#include <string>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "job/record.h"
#include "flow/flow.h"
#include "breakdown/breakdown.h"

namespace assay {

// The record's stamp contains only the source.
Result<RankRecord> make_rank_record(const LoadedTrace& loaded);
// The same from existing analyses.
Result<RankRecord> make_rank_record(const LoadedTrace& loaded, const FlowRun& run,
                                    const FlowReport& flow);
RankRecord rank_record_of(const LoadedTrace& loaded, const FlowReport& flow,
                          const BreakdownReport& breakdown, RankFold fold);

// The host part of a file name HOST_PID.TIME.pt.trace.json, as written by PyTorch's
// tensorboard_trace_handler; empty for other names.
std::string host_in_name(const std::string& path);

}  // namespace assay
