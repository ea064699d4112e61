#include "roof/gradients.h"

#include <algorithm>
#include <deque>
#include <string_view>

#include "roof/inputs.h"
#include "roof/models.h"

namespace assay {
namespace {

// True for "CudnnConvolutionBackward", "ConvolutionBackward0", ...
bool undoes_convolution(std::string_view name) {
  return name.find(':') == std::string_view::npos &&
         name.find("ConvolutionBackward") != std::string_view::npos;
}

struct SizedOp {
  OpId op;
  uint32_t row = 0;  // into op_inputs
  bool node = false;
  double bags = 0;     // per table; for a node, rows of its gradient
  double indices = 0;  // number of indices; for a lookup
  Sizes made = {};     // lengths of the vectors that a node's operators were called with
};

// Lookups and their backward nodes in time order, with the sizes used to match them.
std::vector<SizedOp> lookups_and_nodes(const Trace& trace, const std::vector<uint32_t>& input_row) {
  std::vector<SizedOp> all;
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const uint32_t row = input_row[i];
    if (row == UINT32_MAX) continue;
    const std::string_view name = trace.text(trace.ops.name[i]);
    const bool node = undoes_lookup(name);
    if (!node && !is_lookup(name)) continue;
    SizedOp one{.op = OpId(static_cast<uint32_t>(i)), .row = row, .node = node};
    const OpInputs inputs = read_op_inputs(trace.text(trace.op_inputs.dims[row]), {}, {}, {});
    const TensorInput* gradient = inputs.tensor(0);
    if (node && gradient != nullptr && gradient->sizes.size() == 2) {
      one.bags = gradient->sizes[0];
    } else if (!node) {
      const LookupSizes sizes = lookup_sizes(inputs);
      one.indices = sizes.indices;
      one.bags = sizes.bags;
    }
    if (one.bags > 0) all.push_back(std::move(one));
  }
  std::stable_sort(all.begin(), all.end(), [&trace](const SizedOp& a, const SizedOp& b) {
    return trace.ops.start_ns[a.op.index()] < trace.ops.start_ns[b.op.index()];
  });
  return all;
}

// Fills `made`: arguments of the operators directly inside the nodes.
void take_made(const Trace& trace, const Links& links, const std::vector<uint32_t>& input_row,
               std::vector<SizedOp>& all) {
  std::unordered_map<OpId, SizedOp*> nodes;
  for (SizedOp& one : all) {
    if (one.node) nodes[one.op] = &one;
  }
  if (nodes.empty()) return;
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const auto found = links.op_parent[i] ? nodes.find(links.op_parent[i]) : nodes.end();
    if (found == nodes.end() || input_row[i] == UINT32_MAX) continue;
    const OpInputs inputs =
        read_op_inputs(trace.text(trace.op_inputs.dims[input_row[i]]), {}, {}, {});
    const TensorInput* first = inputs.tensor(0);
    if (first != nullptr && first->sizes.size() == 1)
      found->second->made.push_back(first->sizes[0]);
  }
}

bool fits(const SizedOp& node, const SizedOp& lookup) {
  // If there are as many indices as bags, the gradient's rows may be either: ambiguous.
  if (node.bags != lookup.bags || lookup.indices == lookup.bags) return false;
  return node.made.empty() ||
         std::find(node.made.begin(), node.made.end(), lookup.indices) != node.made.end();
}

using CalledWith = std::pair<uint32_t, uint32_t>;  // operator and dims, as texts

// Number of calls of a convolution with the same sizes.
struct SizedCalls {
  ConvolutionSizes sizes;
  uint64_t calls = 0;
};

std::map<CalledWith, SizedCalls> sized_convolutions(const Trace& trace,
                                                    const std::vector<uint32_t>& input_row) {
  std::map<CalledWith, SizedCalls> found;
  std::unordered_map<uint32_t, bool> names;
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    if (input_row[i] == UINT32_MAX) continue;
    const StringId name = trace.ops.name[i];
    const auto [known, is_new_name] = names.try_emplace(name.value, false);
    if (is_new_name) known->second = trace.text(name).find("conv") != std::string_view::npos;
    if (!known->second) continue;
    const StringId dims = trace.op_inputs.dims[input_row[i]];
    const auto [place, is_new] = found.try_emplace({name.value, dims.value});
    if (is_new) {
      const OpInputs inputs = read_op_inputs(trace.text(dims), {}, {}, {});
      const auto sizes = convolution_sizes(trace.text(name), inputs);
      if (sizes) place->second.sizes = *sizes;
    }
    ++place->second.calls;
  }
  std::erase_if(found, [](const auto& one) { return one.second.sizes.input.empty(); });
  return found;
}

}  // namespace

ConvolutionsBySize::ConvolutionsBySize(const Trace& trace, const std::vector<uint32_t>& input_row) {
  struct CameBack {
    Sizes result;
    uint64_t calls = 0;
    bool alike = true;
  };
  const auto calls = sized_convolutions(trace, input_row);
  std::map<std::pair<Sizes, Sizes>, CameBack> came_back;
  for (const auto& [with, call] : calls) {
    if (!call.sizes.backward) continue;
    const auto [place, is_new] =
        came_back.try_emplace({call.sizes.input, call.sizes.weight}, CameBack{call.sizes.result});
    place->second.alike &= place->second.result == call.sizes.result;
    place->second.calls += call.calls;
  }
  for (const auto& [with, call] : calls) {
    if (call.sizes.backward) continue;
    const auto back = came_back.find({call.sizes.input, call.sizes.weight});
    const bool told =
        back != came_back.end() && back->second.alike && call.calls <= back->second.calls;
    if (told) results_[with] = back->second.result;
  }
}

Sizes ConvolutionsBySize::result_of(StringId op, StringId dims) const {
  const auto found = results_.find({op.value, dims.value});
  return found == results_.end() ? Sizes{} : found->second;
}

LookupGradients::LookupGradients(const Trace& trace, const Links& links,
                                 const std::vector<uint32_t>& input_row) {
  std::vector<SizedOp> all = lookups_and_nodes(trace, input_row);
  take_made(trace, links, input_row, all);
  // Forget old lookups: those of a pass without backward (evaluation) must not block later matches.
  constexpr size_t kMostOpen = 4096;
  std::deque<const SizedOp*> open;
  for (const SizedOp& one : all) {
    if (!one.node) {
      open.push_back(&one);
      if (open.size() > kMostOpen) open.pop_front();
      continue;
    }
    const auto alike = [&one](const SizedOp* lookup) { return fits(one, *lookup); };
    if (std::count_if(open.begin(), open.end(), alike) != 1) continue;
    const auto lookup = std::find_if(open.begin(), open.end(), alike);
    other_[one.op] = (*lookup)->row;
    other_[(*lookup)->op] = one.row;
    open.erase(lookup);
  }
}

uint32_t LookupGradients::row_of(OpId op) const {
  const auto found = other_.find(op);
  return found == other_.end() ? kNone : found->second;
}

ConvolutionGradients::ConvolutionGradients(const Trace& trace, const Links& links,
                                           const std::vector<uint32_t>& input_row)
    : links_(links) {
  const auto& sequences = trace.op_sequences;
  if (sequences.empty()) return;
  forward_number_.assign(trace.ops.size(), -1);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const OpId op = sequences.op[i];
    const int64_t number = sequences.sequence[i];
    if (sequences.forward_thread[i] == 0) {
      forward_number_[op.index()] = number;
      continue;
    }
    const uint32_t row = input_row[op.index()];
    if (row == kNone || number < 0 || !undoes_convolution(trace.text(trace.ops.name[op.index()])))
      continue;
    const auto [place, is_new] = node_.try_emplace(number, row);
    const bool same = is_new || (place->second != kNone &&
                                 trace.op_inputs.dims[place->second] == trace.op_inputs.dims[row]);
    if (!same) place->second = kNone;
  }
}

uint32_t ConvolutionGradients::row_of(OpId op) const {
  if (node_.empty()) return kNone;
  for (; op; op = links_.op_parent[op.index()]) {
    const int64_t number = forward_number_[op.index()];
    if (number < 0) continue;
    const auto found = node_.find(number);
    return found == node_.end() ? kNone : found->second;
  }
  return kNone;
}

}  // namespace assay
