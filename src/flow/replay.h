#pragma once

// Replays a graph: computes the time of every point, with recorded or edited lags.

#include <cstdint>
#include <vector>

#include "flow/graph.h"

namespace assay {

// Treatment of residuals, the time that no edge explains.
enum class Residuals : uint8_t {
  kKeep,  // they move with the binding edge: without edits, the recording itself
  kPin,   // long ones do not move: the point happens no earlier than recorded
  kDrop,  // none: only the model's lags
};

// The lag of a cut edge.
constexpr int64_t kCutLag = INT64_MIN;

struct ReplayOptions {
  Residuals residuals = Residuals::kKeep;
  // Lags per edge; null: those of the graph.
  const std::vector<int64_t>* lags_ns = nullptr;
  // Residuals of this length or more do not move under kPin.
  int64_t pinned_ns = INT64_MAX;
  // A waiting call does not wait, and takes no return time, if its work ended before it began. With
  // this, shorter lags may move a point later, by at most that time.
  bool skips_ended = false;
};

// Times of all points in ns. O(edges).
std::vector<int64_t> replay(const FlowGraph& graph, const ReplayOptions& options);
// The same, into an existing vector.
void replay(const FlowGraph& graph, const ReplayOptions& options, std::vector<int64_t>& times);

// Time in ns from the graph's begin to the latest end point.
int64_t makespan_ns(const FlowRun& run, const FlowGraph& graph, const std::vector<int64_t>& times);

// Number of points that a replay without edits gets wrong; must be 0.
uint64_t identity_errors(const FlowGraph& graph);

// The end point of the device work that ends last, without helpers; kNoPoint if there is none.
// Gains refer to it.
uint32_t last_work(const FlowRun& run, const FlowGraph& graph, const std::vector<int64_t>& times);

// Times by the model alone: no residuals, and typical returns from waits if recorded ones are
// longer.
std::vector<int64_t> model_times(const FlowRun& run, const FlowGraph& graph);

}  // namespace assay
