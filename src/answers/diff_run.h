#pragma once

// Runs the modules on a trace and keeps the plain numbers that `assay diff` compares.

#include <optional>
#include <string>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "diff/run.h"
#include "flow/job.h"
#include "report/document/document.h"

namespace assay {

// The same trace by iterations and as a whole: which one is compared depends on the other side.
struct DiffInput {
  std::string file;
  DiffRun by_iteration;
  DiffRun whole;
  std::vector<Item> head;
  std::vector<ImportNote> import_log;
  bool data_lost = false;
  std::optional<RankGraph> rank_graph = {};  // if requested
  std::vector<int64_t> devices = {};         // of the rank graph, as recorded
};

// rank_graph: keep what joins this rank to others of its job.
Result<DiffInput> reduce_for_diff(const LoadedTrace& loaded, bool rank_graph);

// Reads every file of one argument, one trace in memory at a time. traces: how to read; its inputs
// are ignored.
Result<std::vector<DiffInput>> read_diff_side(const std::string& argument,
                                              const TraceRequest& traces);

}  // namespace assay
