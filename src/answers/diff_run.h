#pragma once

// Runs the analyses on a trace and keeps the plain numbers that `assay diff` compares.

#include <optional>
#include <string>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "diff/run.h"
#include "flow/job.h"
#include "flow/untraced.h"
#include "report/document/document.h"

namespace assay {

// One trace, by iteration and as a whole. The other side decides which of them is compared.
struct DiffInput {
  std::string file;
  DiffRun by_iteration;
  DiffRun whole;
  Untraced untraced = {};
  std::optional<DiffRun> untraced_by_iteration = {};  // with a measured iteration
  std::vector<Item> head;
  std::vector<ImportNote> import_log;
  bool data_lost = false;
  std::optional<RankGraph> rank_graph = {};  // if requested
  std::vector<int64_t> devices = {};         // devices of the rank graph, as recorded
};

// rank_graph: also keep the graph that joins this rank to the others of its job. `untraced` is as
// in untraced_times() (answers/untraced.h).
Result<DiffInput> reduce_for_diff(const LoadedTrace& loaded, bool rank_graph,
                                  const std::string& untraced);

// Reads every file that `argument` names, one trace in memory at a time. The inputs of `traces` are
// ignored. untraced: as untraced_times(), of each file.
Result<std::vector<DiffInput>> read_diff_side(const std::string& argument,
                                              const TraceRequest& traces,
                                              const std::string& untraced);

}  // namespace assay
