#include "launch/fusion_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "kernels/views.h"
#include "roof/inputs.h"
#include "roof/peaks.h"

namespace assay {
namespace {

// Shortest kernel duration that a prediction may assume.
constexpr double kShortestNs = 1'000;

// Sorting and prefix sums exchange elements between blocks, and lists of tensors are not a single
// loop.
bool fits_a_loop(const KernelFacts& facts) {
  if (facts.library != "aten") return false;
  switch (facts.kind) {
    case KernelKind::kElementwise:
    case KernelKind::kRandom:
    case KernelKind::kQuantize:
    case KernelKind::kNorm:
    case KernelKind::kSoftmax:
    case KernelKind::kReduce:
    case KernelKind::kCopy:
    case KernelKind::kEmbedding:
      return std::find(facts.tags.begin(), facts.tags.end(), "tensor_list") == facts.tags.end();
    default:
      return false;
  }
}

bool has_epilogue(const KernelFacts& facts) {
  return facts.kind == KernelKind::kGemm || facts.kind == KernelKind::kConv;
}

// GEMMs and convolutions do not produce int64. An int64 elementwise kernel after a convolution is
// usually the batch counter of batch normalization.
bool fits_an_epilogue(const KernelFacts& facts) {
  return facts.kind == KernelKind::kElementwise && facts.data_type != "int64";
}

// The inputs of operators, each read once.
class Shapes {
 public:
  explicit Shapes(const Trace& trace) : trace_(trace), rows_(input_rows(trace)) {}

  // Tensors in order; empty where they are not recorded.
  std::vector<TensorInput> tensors(OpId op) const {
    std::vector<TensorInput> found;
    const uint32_t row = op ? rows_[op.index()] : UINT32_MAX;
    if (row == UINT32_MAX) return found;
    const auto& inputs = trace_.op_inputs;
    const OpInputs read =
        read_op_inputs(trace_.text(inputs.dims[row]), trace_.text(inputs.types[row]),
                       trace_.text(inputs.strides[row]), trace_.text(inputs.concrete[row]));
    for (const OpArgument& argument : read.arguments) {
      found.insert(found.end(), argument.tensors.begin(), argument.tensors.end());
    }
    return found;
  }

  // Elements of the largest tensor; 0 = not recorded.
  double elements(OpId op) const {
    double most = 0;
    for (const TensorInput& tensor : tensors(op)) most = std::max(most, tensor.elements());
    return most;
  }

 private:
  const Trace& trace_;
  std::vector<uint32_t> rows_;
};

// True if the two loops cover equal element counts, or one count divides the other (broadcast). 0 =
// unknown, which never separates two loops.
bool one_domain(double a, double b) {
  if (a <= 0 || b <= 0) return true;
  return std::fmod(std::max(a, b), std::min(a, b)) == 0;
}

class RunFinder {
 public:
  RunFinder(const Trace& trace, const Links& links, const KernelNames& names,
            const KernelSegments& segments)
      : trace_(trace), links_(links), names_(names), segments_(segments), shapes_(trace) {}

  std::vector<PlannedChain> find() const {
    std::vector<PlannedChain> runs;
    const std::vector<uint32_t>& offsets = segments_.sequences.offsets;
    for (size_t s = 0; s + 1 < offsets.size(); ++s) add_runs(offsets[s], offsets[s + 1], runs);
    return runs;
  }

 private:
  void add_runs(uint32_t begin, uint32_t end, std::vector<PlannedChain>& runs) const {
    for (uint32_t at = begin; at < end;) {
      uint32_t next = at + 1;
      if (!fits_a_loop(facts(at))) {
        at = next;
        continue;
      }
      double elements = elements_at(at);
      for (; next < end && fits_a_loop(facts(next)); ++next) {
        const double its = elements_at(next);
        if (!one_domain(elements, its)) break;
        elements = its;
      }
      if (next - at >= 2) {
        runs.push_back({at, next - at});
      } else if (at > begin && has_epilogue(facts(at - 1)) && fits_an_epilogue(facts(at))) {
        runs.push_back({at - 1, 2});
      }
      at = next;
    }
  }

  const KernelFacts& facts(uint32_t position) const {
    return names_.of(trace_.activities.name[segments_.kernels[position].index()]);
  }
  double elements_at(uint32_t position) const {
    return shapes_.elements(links_.activity_op[segments_.kernels[position].index()]);
  }

  const Trace& trace_;
  const Links& links_;
  const KernelNames& names_;
  const KernelSegments& segments_;
  const Shapes shapes_;
};

// Operators that read only part of their tensors (reads_in_part) or overwrite the first one
// (writes_first): those sizes do not bound the bytes read.
bool reads_in_part(std::string_view op) {
  constexpr std::array<std::string_view, 5> kNames = {
      "aten::embedding", "aten::index", "aten::index_select", "aten::gather", "aten::slice"};
  return std::find(kNames.begin(), kNames.end(), op) != kNames.end();
}
bool writes_first(std::string_view op) {
  return op == "aten::copy_" || op == "aten::fill_" || op == "aten::zero_";
}

}  // namespace

std::vector<PlannedChain> fusible_runs(const Trace& trace, const Links& links,
                                       const KernelNames& names, const KernelSegments& segments,
                                       uint32_t min_count) {
  const std::vector<PlannedChain> runs = RunFinder(trace, links, names, segments).find();
  std::map<std::vector<uint32_t>, uint32_t> counts;
  const auto ids = [&](const PlannedChain& run) {
    const auto first = segments.sequences.ids.begin() + run.position;
    return std::vector<uint32_t>(first, first + run.length);
  };
  for (const PlannedChain& run : runs) ++counts[ids(run)];
  std::vector<PlannedChain> kept;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(kept),
               [&](const PlannedChain& run) { return counts.at(ids(run)) >= min_count; });
  return kept;
}

struct FusedTime::Inputs {
  explicit Inputs(const Trace& trace) : shapes(trace) {}
  Shapes shapes;
  std::map<int64_t, DeviceRoof> roofs;  // by device
};

FusedTime::FusedTime(const Trace& trace, const Links& links)
    : trace_(trace), links_(links), inputs_(std::make_unique<Inputs>(trace)) {
  for (const Stream& stream : trace.streams) {
    const auto [place, is_new] = inputs_->roofs.try_emplace(stream.device);
    if (is_new) place->second = trace_roof(FactBook::built_in(), trace, stream.device);
  }
}

FusedTime::~FusedTime() = default;

std::optional<int64_t> FusedTime::least_ns(const std::vector<ActivityId>& run) const {
  const StreamId stream = trace_.activities.stream[run.front().index()];
  const DeviceRoof& roof = inputs_->roofs.at(trace_.streams[stream.index()].device);
  if (!roof.exists()) return std::nullopt;
  double read_bytes = 0;
  double made_bytes = 0;  // largest tensor of the previous kernel, taken as its output
  std::set<double> seen;
  for (const ActivityId kernel : run) {
    const OpId op = links_.activity_op[kernel.index()];
    const std::vector<TensorInput> tensors = inputs_->shapes.tensors(op);
    if (tensors.empty()) return std::nullopt;
    const std::string_view name = trace_.text(trace_.ops.name[op.index()]);
    const double made_before = made_bytes;
    made_bytes = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const double bytes = tensors[i].bytes();
      made_bytes = std::max(made_bytes, bytes);
      if (reads_in_part(name) || (i == 0 && writes_first(name))) continue;
      if (bytes > made_before && seen.insert(bytes).second) read_bytes += bytes;
    }
  }
  // Data that fits in the cache may already be cached.
  const bool cached = read_bytes <= roof.cache_bytes;
  const double rate = cached ? roof.cache_bytes_per_s : roof.memory_bytes_per_s;
  const double moved_ns = rate > 0 ? read_bytes / rate * 1e9 : 0;
  return std::llround(std::max(kShortestNs, moved_ns));
}

}  // namespace assay
