#pragma once

// Which runs of kernels always occur together, and how many launches fusing them would save (SKIP
// section III-C, equations 6 to 8; spec/launch 3). Speed-ups are ideal: launches only, each of
// equal cost, nothing else changes. They are meaningful only where the run is CPU-bound
// (launch/sweep.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "floor/floor.h"
#include "kernels/names.h"
#include "launch/metrics.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Boundaries of kernel sequences. Under every rule, streams and iterations are never mixed, and a
// graph launch on the stream always ends a sequence.
enum class SegmentRule : uint8_t {
  kNone,    // no further boundaries
  kSync,    // where the launching thread waits for the device: blocking call, device-to-host copy,
            // aten::item, aten::_local_scalar_dense, aten::nonzero
  kRootOp,  // where the outermost operator changes
  kIteration,  // as kNone, and kernels outside every iteration are left out
};
std::string_view segment_rule_name(SegmentRule rule);  // "none", "sync", "rootop", "iteration"
std::optional<SegmentRule> parse_segment_rule(std::string_view name);

enum class KernelIdentity : uint8_t { kName, kNameAndShape };

struct FusionOptions {
  std::vector<uint32_t> lengths = {2, 4, 8, 16, 32, 64, 128, 256};  // each at least 2
  double threshold = 1;  // T of the candidates, in (0, 1]
  SegmentRule segment = SegmentRule::kSync;
  KernelIdentity identity = KernelIdentity::kName;
  size_t max_candidates = 10;  // candidate chains listed per length; all are counted
  size_t max_chains = 10;      // recommended chains listed
  uint32_t min_count = 2;      // occurrences that a recommended chain needs
  std::optional<LaunchFloor> floor = std::nullopt;  // absent: found in the trace
  // Kernel kinds; null = use the built-in table.
  std::shared_ptr<const KernelNames> kernels = {};
};

enum class Remedy : uint8_t {
  kTriton,        // one hand-written kernel for a short elementwise run
  kTorchCompile,  // a torch.compile region
  kEpilogue,      // the epilogue of the preceding GEMM or convolution
};
std::string_view remedy_name(Remedy remedy);

struct CandidateChain {
  std::vector<std::string> kernels;  // full names, in order
  uint64_t count = 0;                // f(C), overlapping windows counted
  double proximity = 0;              // PS(C) = f(C) / f(first kernel), Eq. 6
  uint64_t first_position = 0;       // of the first window, in mining order
};

// One chain length.
struct ChainRow {
  uint32_t length = 0;
  uint64_t unique = 0;        // distinct windows of that length (Fig. 7a)
  uint64_t total = 0;         // all windows (Fig. 7b)
  uint64_t candidates = 0;    // distinct windows with PS >= T
  uint64_t c_fused = 0;       // most non-overlapping windows with PS = 1 (Fig. 7c)
  uint64_t c_fused_min2 = 0;  // the same, for chains with a first kernel that occurs at least twice
  uint64_t k_eager = 0;       // kernels in all segments (Fig. 7d)
  uint64_t k_fused = 0;       // Eq. 7
  uint64_t k_fused_min2 = 0;
  double speedup = 1;  // Eq. 8; 1 when there are no kernels
  double speedup_min2 = 1;
  std::vector<CandidateChain> top_candidates;  // by f descending, then first position
};

// The best mix of lengths: most launches saved by non-overlapping chains with PS = 1.
struct FusionPlan {
  uint64_t chains = 0;
  uint64_t launches_saved = 0;
  uint64_t k_fused = 0;
  double speedup = 1;
};

struct NamedCount {
  std::string name;
  uint64_t count = 0;
};

// A run of kernels that one kernel could replace (launch/fusion_runs.h).
struct RecommendedChain {
  std::vector<std::string> kernels;        // full names, in order
  std::vector<std::string> short_kernels;  // the same, without template and call arguments
  uint32_t length = 0;
  uint64_t count = 0;           // occurrences
  uint64_t launches_saved = 0;  // count x (length - 1)
  int64_t device_ns = 0;        // summed duration of its kernels over these occurrences
  // Lower bound on device_ns of one fused kernel: FusedTime::least_ns, or for kEpilogue the
  // duration of the first kernel. nullopt if a shape or the bandwidth is unknown.
  std::optional<int64_t> device_least_ns = std::nullopt;
  int64_t launch_queue_ns = 0;  // summed t_l of its kernels over these occurrences
  double saving_ns = 0;  // launches_saved x F; NaN without F. An upper bound on host time saved
  double speedup = 1;    // ideal, of the whole trace, from this chain alone (Eq. 8)
  // Innermost operator that encloses all kernels of an occurrence, by how often; and outermost
  // operators of the first kernel, by how often. At most 3 each; empty without operators.
  std::vector<NamedCount> common_ops;
  std::vector<NamedCount> root_ops;
  uint64_t without_common_op = 0;  // occurrences that no single operator encloses
  Remedy remedy = Remedy::kTorchCompile;
  std::string remedy_reason;  // one sentence
};

struct FusionReport {
  SegmentRule segment = SegmentRule::kSync;
  KernelIdentity identity = KernelIdentity::kName;
  double threshold = 1;
  uint64_t segments = 0;
  uint64_t longest_segment = 0;
  uint64_t distinct_kernels = 0;
  uint64_t k_eager = 0;
  bool device_order = false;  // no kernel has a launch call: ordered by device start instead
  // Kernels left out of k_eager. They and k_eager sum to all kernels of the trace.
  uint64_t graph_kernels = 0;     // replayed by a graph: already one launch for many
  uint64_t unlinked_kernels = 0;  // without a launch call, while others have one
  uint64_t outside_kernels = 0;   // outside every iteration, under kIteration
  std::vector<ChainRow> chains;   // one per requested length, ascending, without repeats
  FusionPlan plan;                // every chain with PS = 1
  FusionPlan plan_min;            // only kernels that occur at least min_count times
  uint32_t min_count = 2;
  uint64_t recommended_total = 0;             // distinct chains, before the cut to max_chains
  std::vector<RecommendedChain> recommended;  // by launches_saved descending
  // Kernels of every chain before the cut to max_chains, in mining order.
  std::vector<std::vector<ActivityId>> planned_kernels;
  LaunchFloor floor;
  TrustNotes trust;
};

// Fails on a length below 2, an empty list of lengths, a threshold outside (0, 1], or an invalid
// launch-overhead floor.
Result<FusionReport> analyze_fusion(const Trace& trace, const Links& links, const Windows& windows,
                                    const FusionOptions& options);

}  // namespace assay
