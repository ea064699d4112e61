#pragma once

// From a trace to its rank record: the parts of breakdown, dependency graph and import log that a
// comparison with thousands of other ranks needs.

#include <string>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "job/record.h"
#include "flow/flow.h"
#include "breakdown/breakdown.h"

namespace assay {

// The stamp has the source alone.
Result<RankRecord> make_rank_record(const LoadedTrace& loaded);
// The same from given analyses.
Result<RankRecord> make_rank_record(const LoadedTrace& loaded, const FlowRun& run,
                                    const FlowReport& flow);
RankRecord rank_record_of(const LoadedTrace& loaded, const FlowReport& flow,
                          const BreakdownReport& breakdown, RankFold fold);

// The host in a file's name: HOST_PID.TIME.pt.trace.json, as PyTorch's
// tensorboard_trace_handler writes it; empty for other names.
std::string host_in_name(const std::string& path);

}  // namespace assay
