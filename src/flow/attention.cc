#include "flow/attention.h"

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/names.h"

namespace assay {
namespace {

constexpr size_t kMostBetween = 24;  // scale, mask and the like: about 12, doubled

class CoreFinder {
 public:
  explicit CoreFinder(const FlowRun& run) : run_(run), trace_(*run.trace) {}

  UnfusedAttention find() {
    for (uint32_t c = 0; c < run_.calls.size(); ++c) {
      const FlowCall& call = run_.calls[c];
      if (c == 0 || call.thread != run_.calls[c - 1].thread) begin_at(OpId{});
      if (call.work_count > 0) {
        take(c, call);
      } else if (is_host_work(call.kind)) {
        between_.push_back(c);
      } else {
        begin_at(OpId{});
      }
    }
    found_.falls_back = fell_back_ * 2 > found_.cores.size();
    return std::move(found_);
  }

 private:
  void take(uint32_t c, const FlowCall& call) {
    const OpId op = run_.links->call_op[call.row.index()];
    if (op && second_ == op) {
      found_.cores.back().second.push_back(c);
      return;
    }
    if (is_product(op)) {
      product(c, op);
    } else if (first_ && fits(call) && ++launches_ < kMostBetween) {
      between_.push_back(c);
      softmax_ |= is_softmax(op, call);
    } else {
      begin_at(OpId{});
    }
  }

  void product(uint32_t c, OpId op) {
    if (op == first_ && launches_ == 0) return;  // a further kernel of the same product
    const bool core = first_ && softmax_ && stream_of(c) == stream_;
    if (core) {
      found_.cores.push_back({between_, {c}});
      fell_back_ += falls_back(op);
    }
    begin_at(op);
    stream_ = stream_of(c);
    if (core) second_ = op;
  }

  void begin_at(OpId product) {
    first_ = product;
    second_ = OpId{};
    between_.clear();
    launches_ = 0;
    softmax_ = false;
  }

  const FlowWork& work_of(const FlowCall& call) const {
    return run_.works[run_.works_of_calls[call.first_work]];
  }
  uint32_t stream_of(uint32_t c) const { return work_of(run_.calls[c]).stream; }
  std::string_view name_of(OpId op) const { return trace_.text(trace_.ops.name[op.index()]); }

  bool is_product(OpId op) const {
    return op && (name_of(op) == "aten::bmm" || name_of(op) == "aten::baddbmm");
  }

  KernelKind kind_of(const FlowWork& work) const {
    return run_.kernels->of(trace_.activities.name[work.activity.index()]).kind;
  }

  // The softmax over the keys, not that of a loss.
  bool is_softmax(OpId op, const FlowCall& call) const {
    return kind_of(work_of(call)) == KernelKind::kSoftmax &&
           !(op && name_of(op).starts_with("aten::_log_softmax"));
  }

  // True if all work of the call may be part of attention on this stream.
  bool fits(const FlowCall& call) const {
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
      if (work.stream != stream_ || work.kind == WorkKind::kCollective || work.in_graph)
        return false;
      if (work.kind != WorkKind::kCompute) continue;
      switch (kind_of(work)) {
        case KernelKind::kGemm:
        case KernelKind::kConv:
        case KernelKind::kAttention:
        case KernelKind::kNorm:
        case KernelKind::kOptimizer:
        case KernelKind::kMoe:
        case KernelKind::kPool:
        case KernelKind::kCommunication:
          return false;
        default:
          break;
      }
    }
    return true;
  }

  bool falls_back(OpId op) const {
    for (; op; op = run_.links->op_parent[op.index()]) {
      if (name_of(op) == "aten::_scaled_dot_product_attention_math") return true;
    }
    return false;
  }

  const FlowRun& run_;
  const Trace& trace_;
  UnfusedAttention found_;
  size_t fell_back_ = 0;
  OpId first_;                     // a product that may start a core
  OpId second_;                    // the second product of the last core while it still launches
  std::vector<uint32_t> between_;  // calls since first_
  size_t launches_ = 0;            // launches among them
  bool softmax_ = false;           // one of them is a softmax
  uint32_t stream_ = 0;
};

}  // namespace

UnfusedAttention find_unfused_attention(const FlowRun& run) {
  if (!run.has_ops || run.kernels == nullptr) return {};
  return CoreFinder(run).find();
}

}  // namespace assay
