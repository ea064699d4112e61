#include "launch/fusion_chains.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "kernels/name.h"
#include "launch/facts.h"
#include "launch/fusion_runs.h"

namespace assay {
namespace {

// Longest elementwise chain for which a hand-written Triton kernel is recommended.
constexpr size_t kShortChain = 8;
constexpr size_t kNamesShown = 3;

struct ChainGroup {
  uint32_t length = 0;
  std::vector<uint32_t> positions;  // ascending

  uint64_t saved() const { return positions.size() * uint64_t{length - 1}; }
};

std::vector<ChainGroup> group_runs(const KernelSegments& segments,
                                   const std::vector<PlannedChain>& runs) {
  std::map<std::vector<uint32_t>, ChainGroup> by_chain;
  for (const PlannedChain& run : runs) {
    const auto first = segments.sequences.ids.begin() + run.position;
    ChainGroup& group = by_chain[{first, first + run.length}];
    group.length = run.length;
    group.positions.push_back(run.position);
  }
  std::vector<ChainGroup> groups;
  for (auto& [key, group] : by_chain) groups.push_back(std::move(group));
  std::sort(groups.begin(), groups.end(), [](const ChainGroup& a, const ChainGroup& b) {
    if (a.saved() != b.saved()) return a.saved() > b.saved();
    return a.positions.front() < b.positions.front();
  });
  return groups;
}

using NameCounts = std::map<StringId, uint64_t>;

std::vector<NamedCount> most_frequent(const Trace& trace, const NameCounts& counts) {
  std::vector<NamedCount> names;
  for (const auto& [name, count] : counts) names.push_back({std::string(trace.text(name)), count});
  std::sort(names.begin(), names.end(), [](const NamedCount& a, const NamedCount& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  if (names.size() > kNamesShown) names.resize(kNamesShown);
  return names;
}

// Innermost common ancestors. Rows are sorted so that a parent comes before its children.
class OpTree {
 public:
  OpTree(const Links& links, const std::vector<OpId>& roots) : links_(links), roots_(roots) {
    depth_.resize(links.op_parent.size());
    for (size_t o = 0; o < depth_.size(); ++o) {
      const OpId parent = links.op_parent[o];
      depth_[o] = parent ? depth_[parent.index()] + 1 : 0;
    }
  }

  // Innermost operator that encloses both; kNone when none does, or only a ProfilerStep.
  OpId common(OpId a, OpId b) const {
    while (a && b && a != b) {
      OpId& deeper = depth_[a.index()] >= depth_[b.index()] ? a : b;
      deeper = links_.op_parent[deeper.index()];
    }
    const bool found = a && b && roots_[a.index()];
    return found ? a : OpId();
  }

 private:
  const Links& links_;
  const std::vector<OpId>& roots_;
  std::vector<uint32_t> depth_;
};

class ChainDescriber {
 public:
  ChainDescriber(const Trace& trace, const Links& links, const KernelNames& names,
                 const std::vector<int64_t>& raw, const std::vector<OpId>& roots,
                 const KernelSegments& segments)
      : trace_(trace),
        links_(links),
        names_(names),
        raw_(raw),
        roots_(roots),
        segments_(segments),
        tree_(links, roots),
        fused_(trace, links) {}

  RecommendedChain describe(const ChainGroup& group, const LaunchFloor& floor) const {
    RecommendedChain chain;
    chain.length = group.length;
    chain.count = group.positions.size();
    chain.launches_saved = group.saved();
    name_kernels(group, chain);
    NameCounts common_ops;
    NameCounts root_ops;
    chain.device_least_ns = 0;
    for (uint32_t position : group.positions) {
      add_times(position, chain);
      locate(position, chain, common_ops, root_ops);
    }
    chain.common_ops = most_frequent(trace_, common_ops);
    chain.root_ops = most_frequent(trace_, root_ops);
    const uint64_t k_eager = segments_.sequences.ids.size();
    chain.speedup = fusion_speedup(k_eager, k_eager - chain.launches_saved);
    chain.saving_ns = floor.known() ? static_cast<double>(chain.launches_saved) *
                                          static_cast<double>(floor.floor_ns)
                                    : std::numeric_limits<double>::quiet_NaN();
    return chain;
  }

 private:
  void name_kernels(const ChainGroup& group, RecommendedChain& chain) const {
    std::vector<FusionKind> kinds;
    for (uint32_t i = 0; i < group.length; ++i) {
      const ActivityId kernel = segments_.kernels[group.positions.front() + i];
      const std::string_view name = trace_.text(trace_.activities.name[kernel.index()]);
      chain.kernels.emplace_back(name);
      chain.short_kernels.push_back(describe_kernel(name));
      kinds.push_back(fusion_kind(names_.of(trace_.activities.name[kernel.index()])));
    }
    Advice advice = advise(kinds);
    chain.remedy = advice.remedy;
    chain.remedy_reason = std::move(advice.reason);
  }

  void add_times(uint32_t position, RecommendedChain& chain) const {
    add_least(position, chain);
    for (uint32_t i = 0; i < chain.length; ++i) {
      const size_t kernel = segments_.kernels[position + i].index();
      chain.device_ns += trace_.activities.dur_ns[kernel];
      if (has_launch_time(raw_[kernel])) chain.launch_queue_ns += launch_time(raw_[kernel]);
    }
  }

  // Adds the lower bound for the occurrence at `position`. A GEMM or convolution keeps its duration
  // whatever its epilogue. The bound never exceeds the recorded time.
  void add_least(uint32_t position, RecommendedChain& chain) const {
    const auto first = segments_.kernels.begin() + position;
    const std::vector<ActivityId> run(first, first + chain.length);
    int64_t now_ns = 0;
    for (const ActivityId kernel : run) now_ns += trace_.activities.dur_ns[kernel.index()];
    const std::optional<int64_t> least_ns =
        chain.remedy == Remedy::kEpilogue ? std::optional(trace_.activities.dur_ns[first->index()])
                                          : fused_.least_ns(run);
    if (least_ns && chain.device_least_ns) {
      *chain.device_least_ns += std::min(now_ns, *least_ns);
    } else {
      chain.device_least_ns.reset();
    }
  }

  void locate(uint32_t position, RecommendedChain& chain, NameCounts& common_ops,
              NameCounts& root_ops) const {
    const OpId first = links_.activity_op[segments_.kernels[position].index()];
    OpId common = first;
    for (uint32_t i = 1; i < chain.length && common; ++i) {
      const OpId op = links_.activity_op[segments_.kernels[position + i].index()];
      common = tree_.common(common, op);
    }
    if (common) {
      ++common_ops[trace_.ops.name[common.index()]];
    } else {
      ++chain.without_common_op;
    }
    const OpId root = first ? roots_[first.index()] : OpId();
    if (root) ++root_ops[trace_.ops.name[root.index()]];
  }

  const Trace& trace_;
  const Links& links_;
  const KernelNames& names_;
  const std::vector<int64_t>& raw_;
  const std::vector<OpId>& roots_;
  const KernelSegments& segments_;
  const OpTree tree_;
  const FusedTime fused_;
};

}  // namespace

std::string_view remedy_name(Remedy remedy) {
  switch (remedy) {
    case Remedy::kTriton:
      return "triton";
    case Remedy::kTorchCompile:
      return "torch_compile";
    case Remedy::kEpilogue:
      return "epilogue";
  }
  return "";
}

Advice advise(const std::vector<FusionKind>& kinds) {
  if (kinds.front() == FusionKind::kLibrary) {
    return {Remedy::kEpilogue,
            "an elementwise kernel after a product: the product's epilogue can hold it (bias, ReLU "
            "or GELU in the library, others by torch.compile mode=max-autotune)"};
  }
  const bool simple = std::all_of(kinds.begin(), kinds.end(), [](FusionKind kind) {
    return kind == FusionKind::kElementwise || kind == FusionKind::kCopy;
  });
  if (simple && kinds.size() <= kShortChain) {
    return {Remedy::kTriton, "short and elementwise throughout: one Triton kernel can do it"};
  }
  return {Remedy::kTorchCompile,
          "elementwise work and reductions over the same rows: a torch.compile region fuses it"};
}

Recommendations recommend(const Trace& trace, const Links& links, const KernelNames& names,
                          const std::vector<int64_t>& raw_launch_times,
                          const std::vector<OpId>& roots, const KernelSegments& segments,
                          const std::vector<PlannedChain>& runs, const LaunchFloor& floor,
                          size_t max_chains) {
  Recommendations result;
  const std::vector<ChainGroup> groups = group_runs(segments, runs);
  result.distinct = groups.size();
  const ChainDescriber describer(trace, links, names, raw_launch_times, roots, segments);
  for (size_t g = 0; g < std::min(max_chains, groups.size()); ++g) {
    result.chains.push_back(describer.describe(groups[g], floor));
  }
  return result;
}

}  // namespace assay
