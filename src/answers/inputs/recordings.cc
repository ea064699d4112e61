#include "answers/inputs/recordings.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "breakdown/place.h"
#include "ingest/load.h"

namespace assay {
namespace {

using CapturedGraphs = std::vector<CapturedGraph>;

CapturedGraphs placed_graphs(const LoadedTrace& loaded, const FlowRun& run) {
  CapturedGraphs graphs = captured_graphs(run);
  place_captured(loaded.trace, loaded.links, loaded.windows, {.kernels = loaded.kernels}, graphs);
  return graphs;
}

Result<CapturedGraphs> graphs_recorded_in(const std::string& file, const TraceRequest& request) {
  ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(file, request));
  return placed_graphs(loaded, make_flow_run(loaded.trace, loaded.links, loaded.kernels));
}

void append(CapturedGraphs found, CapturedGraphs& graphs) {
  std::move(found.begin(), found.end(), std::back_inserter(graphs));
}

// Graphs captured in the traces given explicitly.
Result<CapturedGraphs> named_recordings(const TraceRequest& request,
                                        const std::vector<std::string>& captures) {
  CapturedGraphs graphs;
  for (const std::string& file : captures) {
    ASSAY_TRY_ASSIGN(CapturedGraphs found, graphs_recorded_in(file, request));
    if (found.empty()) {
      return Error{
          ErrorCode::kInvalidArgument,
          "no graph is recorded in this trace: no launch lies between calls that begin and "
          "end a capture",
          file, -1};
    }
    append(std::move(found), graphs);
  }
  return graphs;
}

// Graphs in traces of the same folders, recognized by name. Unreadable ones are skipped, because
// the user did not request them.
CapturedGraphs recordings_found(const TraceRequest& request) {
  std::set<std::string> files;
  for (const std::string& file : request.files) {
    for (std::string& beside : recordings_beside(file)) files.insert(std::move(beside));
  }
  CapturedGraphs graphs;
  for (const std::string& file : files) {
    auto found = graphs_recorded_in(file, request);
    if (!found || found->empty()) continue;
    append(*std::move(found), graphs);
  }
  return graphs;
}

}  // namespace

Result<std::shared_ptr<const CapturedGraphs>> recorded_graphs(
    const TraceRequest& request, const std::vector<std::string>& captures) {
  ASSAY_TRY_ASSIGN(CapturedGraphs graphs, named_recordings(request, captures));
  if (captures.empty()) graphs = recordings_found(request);
  return std::make_shared<const CapturedGraphs>(std::move(graphs));
}

ReplayReport placed_replays(const LoadedTrace& loaded, const FlowRun& run,
                            const std::shared_ptr<const CapturedGraphs>& others) {
  return find_replays(run, placed_graphs(loaded, run), others);
}

void tell_recordings(const ReplayReport& replays, const Listener& listener) {
  for (const std::string& file : replays.files) {
    listener.tell("replays get the operators of the graphs recorded in " + file);
  }
}

}  // namespace assay
