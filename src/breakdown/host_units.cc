#include "breakdown/host_units.h"

#include <algorithm>
#include <string_view>

namespace assay {
namespace {

// An operator that contains more than this share of an iteration's launches is not a unit (a model
// call, a step recorded as an operator).
constexpr double kManyWindowsShare = 0.1;
// Minimum limit, for iterations with few launches.
constexpr uint32_t kLeastLimit = 8;

// Per name: true for a backward node. Operators that are recomputed inside a node have their own
// names.
std::vector<uint8_t> autograd_nodes(const Trace& trace) {
  std::vector<uint8_t> is_node(trace.strings.size());
  for (size_t s = 0; s < is_node.size(); ++s) {
    const std::string_view name = trace.text(StringId(s));
    is_node[s] =
        name.starts_with("autograd::engine::") || name.find("Backward") != std::string_view::npos;
  }
  return is_node;
}

// True for wrappers that a compiler puts around a compiled part of the model.
bool wraps_compiled(std::string_view name) {
  return name.starts_with("Torch-Compiled Region") || name.starts_with("CompiledFunction") ||
         name.starts_with("## Call CompiledFxGraph");
}

}  // namespace

HostUnits::HostUnits(const Trace& trace, const Links& links, size_t windows)
    : unit_(trace.ops.size()) {
  std::vector<uint32_t> inside(trace.ops.size(), 0);
  double launches = 0;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    if (links.activities_of(ApiCallId(c)).empty()) continue;
    ++launches;
    if (const OpId op = links.call_op[c]) ++inside[op.index()];
  }
  // Parents precede their children in the table.
  for (size_t o = trace.ops.size(); o-- > 0;) {
    if (const OpId parent = links.op_parent[o]) inside[parent.index()] += inside[o];
  }
  const std::vector<uint8_t> is_node = autograd_nodes(trace);
  const double limit =
      std::max<double>(kLeastLimit, kManyWindowsShare * launches /
                                        static_cast<double>(std::max<size_t>(windows, 1)));
  for (size_t o = 0; o < trace.ops.size(); ++o) {
    const OpId parent = links.op_parent[o];
    const bool wraps = inside[o] > kLeastLimit && wraps_compiled(trace.text(trace.ops.name[o]));
    if (parent && unit_[parent.index()]) {
      unit_[o] = unit_[parent.index()];
    } else if (!wraps && is_node[trace.ops.name[o].index()] == 0 &&
               static_cast<double>(inside[o]) <= limit) {
      unit_[o] = OpId(o);
    }
  }
}

}  // namespace assay
