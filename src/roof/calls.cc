#include "roof/calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/decimal.h"
#include "roof/gradients.h"
#include "roof/pointwise_launch.h"
#include "trace/api_names.h"

namespace assay {
namespace {

class Finder {
 public:
  Finder(const Trace& trace, const Links& links, size_t launches)
      : trace_(trace),
        links_(links),
        inputs_(trace),
        gradients_(trace, links, inputs_.rows()),
        by_size_(trace, inputs_.rows()),
        lookups_(trace, links, inputs_.rows()) {
    found_.bound.assign(launches, kNoCallWork);
    found_.call.assign(launches, kNoCallWork);
    found_.why.assign(launches, NoWork::kKnown);
    found_.innermost.resize(launches);
  }

  RoofCalls find(const KernelNames& kernels) {
    for (size_t a = 0; a < trace_.activities.size(); ++a) {
      if (trace_.activities.kind[a] != ActivityKind::kKernel) continue;
      const KernelFacts& facts = kernels.of(trace_.activities.name[a]);
      const OpId own = links_.activity_op[a];
      if (facts.kind == KernelKind::kCommunication) {
        found_.why[a] = NoWork::kNoModel;
        found_.innermost[a] = own;
      } else if (own) {
        const ElementType told = element_type_named(facts.data_type);
        const std::string_view name = trace_.text(trace_.activities.name[a]);
        place(a, own, told == ElementType::kUntold ? element_type_moved(name) : told, name);
        // Operators around a graph launch did not request the graph's kernels.
        if (found_.why[a] == NoWork::kNoModel && replays_graph(a))
          found_.why[a] = NoWork::kGraphReplay;
      } else {
        found_.why[a] = without_operator(a);
      }
    }
    share_out();
    watch_launches();
    ask_launches();
    return std::move(found_);
  }

  RoofCalls find(const std::vector<OpId>& launches) {
    for (size_t i = 0; i < launches.size(); ++i) {
      if (launches[i]) {
        place(i, launches[i], ElementType::kUntold);
      } else {
        found_.why[i] = NoWork::kNoOperator;
      }
    }
    share_out();
    return std::move(found_);
  }

 private:
  // The same operator with the same arguments has the same work. The kernel's name adds the types
  // of lists and of FP32 products, and other types if none were recorded.
  const WorkAnswer& answer_of(OpId op, ElementType kernel_type, std::string_view kernel) {
    const OpId parent = links_.op_parent[op.index()];
    const OpInputTable& table = trace_.op_inputs;
    const uint32_t row = inputs_.row(op);
    const uint32_t gradient_row = gradients_.row_of(op);
    const uint32_t paired_row = lookups_.row_of(op);
    const uint32_t around_row = parent ? inputs_.row(parent) : RecordedInputs::kNone;
    const bool untyped = row != RecordedInputs::kNone && !types_told(row);
    const ElementType streamed =
        untyped ? pointwise_type(kernel, trace_.text(trace_.ops.name[op.index()]))
                : ElementType::kUntold;
    const auto text_in = [](const std::vector<StringId>& column, uint32_t at) {
      return at == RecordedInputs::kNone ? 0 : column[at].value;
    };
    const Key key{trace_.ops.name[op.index()].value, text_in(table.dims, row),
                  text_in(table.types, row),         text_in(table.strides, row),
                  text_in(table.concrete, row),      text_in(table.dims, around_row),
                  text_in(table.dims, gradient_row), text_in(table.dims, paired_row),
                  text_in(table.types, paired_row),  static_cast<uint32_t>(kernel_type),
                  static_cast<uint32_t>(streamed)};
    const auto [place, is_new] = answers_.try_emplace(key);
    if (!is_new) return place->second;
    const OpInputs around = parent ? inputs_.of(parent, kernel_type) : OpInputs{};
    EnclosingOp enclosing;
    if (parent) enclosing = {trace_.text(trace_.ops.name[parent.index()]), &around};
    enclosing.result = inputs_.first_sizes(gradient_row);
    if (enclosing.result.empty() && row != RecordedInputs::kNone)
      enclosing.result = by_size_.result_of(trace_.ops.name[op.index()], table.dims[row]);
    const OpInputs paired = inputs_.at(paired_row);
    if (paired_row != RecordedInputs::kNone) enclosing.paired = &paired;
    WorkAnswer& answer = place->second;
    OpInputs inputs = inputs_.of(op, kernel_type);
    answer = operator_work(trace_.text(trace_.ops.name[op.index()]), inputs, enclosing);
    if (answer.known == WorkKnown::kNoTypes && untyped) {
      take_type(type_of_all(op, answer.work, kernel_type, streamed), inputs);
      answer = operator_work(trace_.text(trace_.ops.name[op.index()]), inputs, enclosing);
    }
    answer.work.multiply_as(kernel_type);
    answer.most.multiply_as(kernel_type);
    return answer;
  }

  // False for products with narrow inputs and a wide result.
  static bool multiplies_one_type(std::string_view op) {
    constexpr std::array<std::string_view, 4> kOthers = {"scaled_mm", "scaled_grouped", "int_mm",
                                                         "pack_mm"};
    return op.starts_with("aten::") &&
           std::none_of(kOthers.begin(), kOthers.end(), [op](std::string_view other) {
             return op.find(other) != std::string_view::npos;
           });
  }

  // The type of all tensors of a call, inferred from one of its kernels' names. The operands of a
  // product have one type; the name of a streaming kernel contains its own. In single and double
  // precision, norms, softmax and reductions have parameters of the same type (in half precision
  // these may be wider).
  ElementType type_of_all(OpId op, const OpWork& work, ElementType kernel_type,
                          ElementType streamed) const {
    if (work.matrix)
      return multiplies_one_type(trace_.text(trace_.ops.name[op.index()])) ? kernel_type
                                                                           : ElementType::kUntold;
    if (work.kind == OpWorkKind::kElementwise || work.kind == OpWorkKind::kMove) return streamed;
    const bool one_type = work.kind == OpWorkKind::kNorm || work.kind == OpWorkKind::kSoftmax ||
                          work.kind == OpWorkKind::kReduction;
    const bool wide = kernel_type == ElementType::kFloat32 || kernel_type == ElementType::kFloat64;
    return one_type && wide ? kernel_type : ElementType::kUntold;
  }

  // False for profilers of early 2021, which recorded sizes without types.
  bool types_told(uint32_t row) const {
    const std::string_view types = trace_.text(trace_.op_inputs.types[row]);
    return types.find('"') != std::string_view::npos;
  }
  static void take_type(ElementType type, OpInputs& inputs) {
    for (OpArgument& argument : inputs.arguments) {
      for (TensorInput& tensor : argument.tensors) {
        if (tensor.type == ElementType::kUntold) tensor.type = type;
      }
    }
  }

  // Finds the call of one launch. own: innermost operator around the launch. type: from the
  // kernel's name.
  void place(size_t launch, OpId own, ElementType type, std::string_view kernel = {}) {
    found_.innermost[launch] = own;
    WorkKnown first = WorkKnown::kNoModel;
    OpId bounded;
    for (OpId op = own; op; op = links_.op_parent[op.index()]) {
      const WorkAnswer& answer = answer_of(op, type, kernel);
      if (answer.known == WorkKnown::kTold) {
        take(launch, op, answer.work);
        return;
      }
      if (!bounded && answer.known == WorkKnown::kBounds) bounded = op;
      if (first == WorkKnown::kNoModel && answer.known != WorkKnown::kNoModel) {
        first = answer.known;
        found_.innermost[launch] = op;
      }
    }
    if (bounded) {
      take_bounds(launch, bounded, answer_of(bounded, type, kernel));
      return;
    }
    found_.why[launch] = first == WorkKnown::kNoModel    ? NoWork::kNoModel
                         : first == WorkKnown::kNoShapes ? NoWork::kNoShapes
                                                         : NoWork::kUntold;
  }

  void take_bounds(size_t launch, OpId op, const WorkAnswer& answer) {
    const auto [place, is_new] =
        bounds_of_op_.try_emplace(op, static_cast<uint32_t>(found_.bounds.size()));
    if (is_new) found_.bounds.push_back({op, answer.work, answer.most});
    found_.bound[launch] = place->second;
    found_.why[launch] = NoWork::kBounds;
    found_.innermost[launch] = op;
  }

  // Launch size of a one-dimensional kernel; nullopt for others.
  std::optional<LaunchSize> flat_size(size_t row) const {
    const KernelShapeTable& shapes = trace_.kernel_shapes;
    const bool flat = shapes.grid_y[row] == 1 && shapes.grid_z[row] == 1 &&
                      shapes.block_y[row] == 1 && shapes.block_z[row] == 1;
    if (!flat || trace_.activities.kind[shapes.activity[row].index()] != ActivityKind::kKernel)
      return std::nullopt;
    return LaunchSize{shapes.grid_x[row], shapes.block_x[row]};
  }

  // Elements per tensor of a call that streams tensors of equal size through one kernel; 0 for
  // others.
  double streamed_elements(const CallWork& call) const {
    if (call.nested) return 0;
    if (call.work.kind != OpWorkKind::kElementwise && call.work.kind != OpWorkKind::kMove) return 0;
    double elements = 0;
    for (const OpArgument& argument : inputs_.of(call.op).arguments) {
      for (const TensorInput& tensor : argument.tensors) {
        const double own = tensor.elements();
        if (own <= 1) continue;  // a scalar
        if (elements > 0 && own != elements) return 0;
        elements = own;
      }
    }
    return elements;
  }

  // Learns launch rules. The number of elements per thread depends on types and PyTorch's version,
  // and the name of a lambda lacks its result type. Launches of the same kernel with recorded sizes
  // show both; launches that contradict each other are ignored.
  void watch_launches() {
    std::vector<uint32_t> kernels(found_.calls.size(), 0);
    for (const uint32_t call : found_.call) {
      if (call != kNoCallWork) ++kernels[call];
    }
    const KernelShapeTable& shapes = trace_.kernel_shapes;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const size_t a = shapes.activity[i].index();
      const uint32_t call = found_.call[a];
      const std::optional<LaunchSize> size = flat_size(i);
      if (call == kNoCallWork || kernels[call] != 1 || !size) continue;
      const double elements = streamed_elements(found_.calls[call]);
      const auto shown =
          elements > 0 ? per_thread_shown(*size, elements) : std::optional<LaunchRule>();
      if (!shown) continue;
      const double result_bytes = found_.calls[call].work.write_bytes / elements;
      const auto [place, is_new] =
          shown_.try_emplace({trace_.activities.name[a].value, size->threads},
                             LaunchRule{.result_bytes = result_bytes});
      LaunchRule& rule = place->second;
      rule.fewest = std::max(rule.fewest, shown->fewest);
      rule.most = std::min(rule.most, shown->most);
      if (rule.result_bytes != result_bytes) rule.result_bytes = 0;
    }
    std::erase_if(shown_, [](const auto& one) { return one.second.fewest > one.second.most; });
  }

  // Bounds kernels from their launches if their operators give no information.
  void ask_launches() {
    const KernelShapeTable& shapes = trace_.kernel_shapes;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const size_t a = shapes.activity[i].index();
      if (found_.why[a] == NoWork::kKnown || found_.why[a] == NoWork::kBounds) continue;
      const std::optional<LaunchSize> size = flat_size(i);
      if (!size) continue;
      const CallBounds& answer = launched(trace_.activities.name[a], found_.innermost[a], *size);
      if (!answer.choices.empty()) take_launch(a, *size, answer);
    }
  }

  // Bounds from name and grid; empty if these are not enough.
  const CallBounds& launched(StringId kernel, OpId op, const LaunchSize& size) {
    const StringId name = op ? trace_.ops.name[op.index()] : StringId(0);
    const auto [place, is_new] =
        launched_.try_emplace({kernel.value, name.value, size.blocks, size.threads});
    CallBounds& bounds = place->second;
    if (!is_new) return bounds;
    const auto shown = shown_.find({kernel.value, size.threads});
    const LaunchRule any;
    for (double each = any.fewest; each <= any.most; each *= 2) {
      const bool seen =
          shown == shown_.end() || (each >= shown->second.fewest && each <= shown->second.most);
      if (!seen) continue;
      const WorkAnswer answer = pointwise_launch_work(
          trace_.text(kernel), size, op ? trace_.text(name) : std::string_view(),
          {each, each, shown == shown_.end() ? 0 : shown->second.result_bytes});
      if (answer.known == WorkKnown::kBounds)
        bounds.choices.push_back({each, answer.work, answer.most});
    }
    const WorkAnswer lists = list_launch_work(trace_.text(kernel), size);
    if (lists.known == WorkKnown::kBounds) bounds.choices.push_back({0, lists.work, lists.most});
    if (bounds.choices.empty()) return bounds;
    bounds.least = bounds.choices.front().least;
    bounds.most = bounds.choices.back().most;
    bounds.shown = shown != shown_.end();
    return bounds;
  }

  void take_launch(size_t activity, const LaunchSize& size, const CallBounds& answer) {
    const OpId op = found_.innermost[activity];
    const StreamId stream = trace_.activities.stream[activity];
    const LaunchKey key{op ? trace_.ops.name[op.index()].value : 0,
                        trace_.activities.name[activity].value,
                        trace_.streams[stream.index()].device, size.blocks, size.threads};
    const auto [place, is_new] =
        bounds_of_launch_.try_emplace(key, static_cast<uint32_t>(found_.bounds.size()));
    if (is_new) found_.bounds.push_back(answer);
    found_.bound[activity] = place->second;
    found_.why[activity] = NoWork::kBounds;
  }

  NoWork without_operator(size_t activity) const {
    if (!links_.activity_call[activity]) return NoWork::kNoLaunch;
    return replays_graph(activity) ? NoWork::kGraphReplay : NoWork::kNoOperator;
  }

  bool replays_graph(size_t activity) const {
    const ApiCallId call = links_.activity_call[activity];
    return call && links_.role_of(trace_, call) == ApiRole::kGraphLaunch;
  }

  void take(size_t launch, OpId op, const OpWork& work) {
    const auto [place, is_new] =
        call_of_op_.try_emplace(op, static_cast<uint32_t>(found_.calls.size()));
    if (is_new) {
      found_.calls.push_back({op, work});
    } else if (found_.calls[place->second].work.math == ElementType::kFloat32) {
      // The name of one of the call's kernels shows whether FP32 was multiplied as TF32.
      found_.calls[place->second].work.math = work.math;
    }
    found_.call[launch] = place->second;
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

  using Key = std::array<uint32_t, 11>;
  // Operator, kernel, device, blocks, threads.
  using LaunchKey = std::tuple<uint32_t, uint32_t, int64_t, uint64_t, uint64_t>;
  const Trace& trace_;
  const Links& links_;
  RecordedInputs inputs_;
  ConvolutionGradients gradients_;
  ConvolutionsBySize by_size_;
  LookupGradients lookups_;
  std::map<Key, WorkAnswer> answers_;
  std::unordered_map<OpId, uint32_t> call_of_op_;
  std::unordered_map<OpId, uint32_t> bounds_of_op_;
  // Kernel, operator, blocks, threads.
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>, CallBounds> launched_;
  // Keyed by kernel and threads per block.
  std::map<std::pair<uint32_t, uint64_t>, LaunchRule> shown_;
  std::map<LaunchKey, uint32_t> bounds_of_launch_;
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
                                                             "replayed by a graph of some size",
                                                             "launch not in the trace",
                                                             "launched outside operators",
                                                             "shapes not recorded",
                                                             "no model of the operator",
                                                             "types, values or shapes not covered",
                                                             "known within bounds"};
  return kWords[static_cast<size_t>(why)];
}

OpInputs RecordedInputs::of(OpId op, ElementType list_type) const { return at(row(op), list_type); }

OpInputs RecordedInputs::at(uint32_t at, ElementType list_type) const {
  if (at == kNone) return {};
  const OpInputTable& table = trace_.op_inputs;
  return read_op_inputs(trace_.text(table.dims[at]), trace_.text(table.types[at]),
                        trace_.text(table.strides[at]), trace_.text(table.concrete[at]), list_type);
}

Sizes RecordedInputs::first_sizes(uint32_t at) const {
  if (at == kNone) return {};
  const OpInputs inputs = read_op_inputs(trace_.text(trace_.op_inputs.dims[at]), {}, {}, {});
  const TensorInput* first = inputs.tensor(0);
  return first == nullptr ? Sizes{} : first->sizes;
}

RoofCalls find_roof_calls(const Trace& trace, const Links& links, const KernelNames& kernels) {
  return Finder(trace, links, trace.activities.size()).find(kernels);
}

RoofCalls find_launch_calls(const Trace& trace, const Links& links,
                            const std::vector<OpId>& launches) {
  return Finder(trace, links, launches.size()).find(launches);
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
