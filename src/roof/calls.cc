#include "roof/calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/decimal.h"
#include "trace/api_names.h"

namespace assay {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

class Finder {
 public:
  Finder(const Trace& trace, const Links& links, const KernelNames& kernels)
      : trace_(trace), links_(links), kernels_(kernels), rows_(trace.ops.size(), kNoRow) {
    for (size_t i = 0; i < trace.op_inputs.size(); ++i) {
      rows_[trace.op_inputs.op[i].index()] = static_cast<uint32_t>(i);
    }
    found_.call.assign(trace.activities.size(), kNoCallWork);
    found_.why.assign(trace.activities.size(), NoWork::kKnown);
    found_.innermost.resize(trace.activities.size());
  }

  RoofCalls find() {
    for (size_t a = 0; a < trace_.activities.size(); ++a) {
      if (trace_.activities.kind[a] != ActivityKind::kKernel) continue;
      if (facts_of(a).kind == KernelKind::kCommunication) {
        found_.why[a] = NoWork::kNoModel;
        found_.innermost[a] = links_.activity_op[a];
      } else {
        place(a);
      }
    }
    share_out();
    return std::move(found_);
  }

 private:
  const KernelFacts& facts_of(size_t activity) const {
    return kernels_.of(trace_.activities.name[activity]);
  }

  OpInputs inputs_of(OpId op, ElementType list_type) const {
    const uint32_t row = rows_[op.index()];
    if (row == kNoRow) return {};
    const OpInputTable& table = trace_.op_inputs;
    return read_op_inputs(trace_.text(table.dims[row]), trace_.text(table.types[row]),
                          trace_.text(table.strides[row]), trace_.text(table.concrete[row]),
                          list_type);
  }

  // The same operator with the same arguments asks for the same work; a kernel's name adds the type
  // of lists and of products of FP32.
  const WorkAnswer& answer_of(OpId op, ElementType kernel_type) {
    const uint32_t row = rows_[op.index()];
    const OpId parent = links_.op_parent[op.index()];
    const OpInputTable& table = trace_.op_inputs;
    const Key key{
        trace_.ops.name[op.index()].value,
        row == kNoRow ? 0 : table.dims[row].value,
        row == kNoRow ? 0 : table.types[row].value,
        row == kNoRow ? 0 : table.strides[row].value,
        row == kNoRow ? 0 : table.concrete[row].value,
        parent && rows_[parent.index()] != kNoRow ? table.dims[rows_[parent.index()]].value : 0,
        static_cast<uint32_t>(kernel_type)};
    const auto [place, is_new] = answers_.try_emplace(key);
    if (!is_new) return place->second;
    const OpInputs around = parent ? inputs_of(parent, kernel_type) : OpInputs{};
    const EnclosingOp enclosing =
        parent ? EnclosingOp{trace_.text(trace_.ops.name[parent.index()]), &around} : EnclosingOp{};
    WorkAnswer& answer = place->second;
    answer = operator_work(trace_.text(trace_.ops.name[op.index()]), inputs_of(op, kernel_type),
                           enclosing);
    // In memory FP32, multiplied as what the kernel says.
    const bool reduced = kernel_type == ElementType::kTf32;
    if (answer.work.matrix && answer.work.math == ElementType::kFloat32 && reduced)
      answer.work.math = kernel_type;
    return answer;
  }

  void place(size_t activity) {
    const OpId own = links_.activity_op[activity];
    found_.innermost[activity] = own;
    if (!own) {
      found_.why[activity] = without_operator(activity);
      return;
    }
    const ElementType type = element_type_named(facts_of(activity).data_type);
    WorkKnown first = WorkKnown::kNoModel;
    for (OpId op = own; op; op = links_.op_parent[op.index()]) {
      const WorkAnswer& answer = answer_of(op, type);
      if (answer.known == WorkKnown::kTold) {
        take(activity, op, answer.work);
        return;
      }
      if (first == WorkKnown::kNoModel && answer.known != WorkKnown::kNoModel) {
        first = answer.known;
        found_.innermost[activity] = op;
      }
    }
    found_.why[activity] = first == WorkKnown::kNoModel    ? NoWork::kNoModel
                           : first == WorkKnown::kNoShapes ? NoWork::kNoShapes
                                                           : NoWork::kUntold;
  }

  NoWork without_operator(size_t activity) const {
    const ApiCallId call = links_.activity_call[activity];
    if (!call) return NoWork::kNoLaunch;
    return links_.role_of(trace_, call) == ApiRole::kGraphLaunch ? NoWork::kGraphReplay
                                                                 : NoWork::kNoOperator;
  }

  void take(size_t activity, OpId op, const OpWork& work) {
    const auto [place, is_new] =
        call_of_op_.try_emplace(op, static_cast<uint32_t>(found_.calls.size()));
    if (is_new) {
      found_.calls.push_back({op, work});
    } else if (found_.calls[place->second].work.math == ElementType::kFloat32) {
      // One of the call's kernels tells how FP32 was multiplied.
      found_.calls[place->second].work.math = work.math;
    }
    found_.call[activity] = place->second;
  }

  void share_out() {
    std::vector<OpWork> whole;
    whole.reserve(found_.calls.size());
    for (const CallWork& call : found_.calls) whole.push_back(call.work);
    for (size_t i = 0; i < found_.calls.size(); ++i) {
      OpId around = links_.op_parent[found_.calls[i].op.index()];
      while (around && call_of_op_.count(around) == 0) around = links_.op_parent[around.index()];
      if (!around) continue;
      CallWork& outer = found_.calls[call_of_op_[around]];
      const bool part_of_it =
          outer.work.kind == whole[i].kind || (outer.work.matrix && whole[i].matrix);
      if (!part_of_it) continue;
      outer.nested = true;
      outer.work.flop = std::max(0.0, outer.work.flop - whole[i].flop);
      outer.work.read_bytes = std::max(0.0, outer.work.read_bytes - whole[i].read_bytes);
      outer.work.write_bytes = std::max(0.0, outer.work.write_bytes - whole[i].write_bytes);
    }
  }

  using Key = std::array<uint32_t, 7>;
  const Trace& trace_;
  const Links& links_;
  const KernelNames& kernels_;
  std::vector<uint32_t> rows_;  // of op_inputs, per operator
  std::map<Key, WorkAnswer> answers_;
  std::unordered_map<OpId, uint32_t> call_of_op_;
  RoofCalls found_;
};

std::string sizes_text(const Sizes& sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i == 0 ? "" : ",") + shortest_text(sizes[i]);
  return text + "]";
}

}  // namespace

std::string_view no_work_words(NoWork why) {
  constexpr std::array<std::string_view, kNoWorks> kWords = {"known",
                                                             "replayed by a graph",
                                                             "launch not in the trace",
                                                             "launched outside operators",
                                                             "shapes not recorded",
                                                             "no model of the operator",
                                                             "types, values or shapes not covered"};
  return kWords[static_cast<size_t>(why)];
}

RoofCalls find_roof_calls(const Trace& trace, const Links& links, const KernelNames& kernels) {
  return Finder(trace, links, kernels).find();
}

std::string shape_words(const OpInputs& inputs, size_t most) {
  struct Run {
    std::string sizes;
    size_t times = 0;
  };
  std::vector<Run> runs;
  ElementType type = ElementType::kUntold;
  for (const OpArgument& argument : inputs.arguments) {
    for (const TensorInput& tensor : argument.tensors) {
      if (tensor.sizes.empty()) continue;
      if (runs.empty()) type = tensor.type;
      std::string sizes = sizes_text(tensor.sizes);
      if (runs.empty() || runs.back().sizes != sizes) runs.push_back({std::move(sizes)});
      ++runs.back().times;
    }
  }
  std::string text;
  for (size_t i = 0; i < runs.size() && i < most; ++i) {
    text += i == 0 ? "" : " ";
    if (runs[i].times > 1) text += std::to_string(runs[i].times) + "x";
    text += runs[i].sizes;
  }
  if (runs.size() > most) text += " +" + std::to_string(runs.size() - most);
  if (type != ElementType::kUntold) text.append(" ").append(element_type_name(type));
  return text;
}

}  // namespace assay
