#pragma once

// From a trace to its rank record: what the levels, the dependency graph and the import say of it,
// as far as comparing it with thousands of others needs.

#include <string>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "fleet/record.h"
#include "flow/flow.h"
#include "levels/levels.h"

namespace assay {

// Without the stamp.
Result<RankRecord> make_rank_record(const LoadedTrace& loaded);
// The same of analyses that were made already, with a stamp that tells its source alone.
RankRecord rank_record_of(const LoadedTrace& loaded, const FlowReport& flow,
                          const LevelsReport& levels, RankFold fold);

// The host that a file's name tells: HOST_PID.TIME.pt.trace.json, as PyTorch's
// tensorboard_trace_handler writes it; empty for other names.
std::string host_in_name(const std::string& path);

}  // namespace assay
