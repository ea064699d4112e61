#pragma once

// When everything would have happened: the graph's points again, with lags as recorded or edited.

#include <cstdint>
#include <vector>

#include "flow/graph.h"

namespace assay {

// What becomes of the time that no edge explains.
enum class Residuals : uint8_t {
  kKeep,  // it moves with the edge that binds: without edits this is the record itself
  kPin,   // a long one does not move: its point comes at its recorded time or later
  kDrop,  // none: what the model alone says, with usual lags where they are longer
};

// An edge with this lag is cut.
constexpr int64_t kCutLag = INT64_MIN;

struct ReplayOptions {
  Residuals residuals = Residuals::kKeep;
  // Lags per edge in place of the graph's; null = those of the graph.
  const std::vector<int64_t>* lags_ns = nullptr;
  // A residual of this or more does not move under kPin.
  int64_t pinned_ns = INT64_MAX;
  // A call that waits does not where what it waits for has ended by its begin: it returns without
  // the time that a return takes. Then shorter lags may make a point later, by less than that time.
  bool skips_ended = false;
};

// Times of all points.
std::vector<int64_t> replay(const FlowGraph& graph, const ReplayOptions& options);
// The same, into the room of the replay before.
void replay(const FlowGraph& graph, const ReplayOptions& options, std::vector<int64_t>& times);

// From the graph's begin to the latest end point.
int64_t makespan_ns(const FlowRun& run, const FlowGraph& graph, const std::vector<int64_t>& times);

// Points of the replay without edits that are off their recorded time: 0, or there is a bug.
uint64_t identity_errors(const FlowGraph& graph);

// The last device work that the host asked for, by its end point; kNoPoint where there is none.
// Gains are told to its end.
uint32_t last_work(const FlowRun& run, const FlowGraph& graph, const std::vector<int64_t>& times);

// What the model alone makes of the run: no residuals, usual lags instead of recorded ones.
std::vector<int64_t> model_times(const FlowRun& run, const FlowGraph& graph);

// What is left of each cause (0 to 1), and of the work of each kind; sync at 0 also cuts the waits.
struct FlowScale {
  std::array<double, kFlowCauses> cause = [] {
    std::array<double, kFlowCauses> all{};
    all.fill(1);
    return all;
  }();
  std::array<double, 4> work = {1, 1, 1, 1};  // by WorkKind
};
// Lags of the graph with host pieces, calls and work scaled. A scale is a sensitivity, no
// prediction.
std::vector<int64_t> scaled_lags(const FlowRun& run, const FlowGraph& graph,
                                 const FlowScale& scale);

}  // namespace assay
