// The verdict on one trace: which of the two processors waits for the other, and why.

#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "launch/bound.h"

namespace assay {
namespace {

void fill_shares(const LaunchMetrics& metrics, TraceVerdict& verdict) {
  verdict.queue_share = metrics.queue_share;
  verdict.gpu_idle_share = share(metrics.gpu_idle_union_ns, metrics.il_ns);
  verdict.gpu_idle_share_low = share(metrics.gpu_idle_bracket.low_ns, metrics.il_ns);
  verdict.gpu_idle_share_high = share(metrics.gpu_idle_bracket.high_ns, metrics.il_ns);
  verdict.graph_share = share(metrics.graph_kernel_sum_ns, metrics.kernel_sum_ns);
  verdict.cpu_idle_share = kNan;
  verdict.idle_after_sync_share = kNan;
  verdict.idle_blocked_share = kNan;
  verdict.idle_input_share = kNan;
  verdict.idle_host_share = kNan;
  if (!metrics.cpu_idle_known) return;
  const IdleBlame& blame = metrics.idle_blame;
  const int64_t idle = metrics.gpu_idle_union_ns;
  verdict.cpu_idle_share = share(metrics.cpu_idle_ns, metrics.il_ns);
  verdict.idle_after_sync_share = share(metrics.gpu_idle_after_sync_ns, idle);
  verdict.idle_blocked_share = share(metrics.idle_blame.host_blocked_ns, idle);
  verdict.idle_input_share = share(blame.host_input_ns + blame.host_gap_long_ns, idle);
  verdict.idle_host_share = share(blame.host_busy_ns + blame.host_gap_short_ns, idle);
}

TraceBound classify(const TraceVerdict& verdict, const VerdictOptions& options) {
  const bool graph = verdict.graph_share > 0.5;
  const bool queues = verdict.queue_share > options.queue_bound;  // false for NaN
  if (verdict.gpu_idle_share <= options.idle_bound) {
    // Without a floor nobody can say that launches do not queue, and the GPU is hardly ever idle.
    const bool may_queue = queues || std::isnan(verdict.queue_share);
    return graph || may_queue ? TraceBound::kGpu : TraceBound::kTransition;
  }
  if (std::isnan(verdict.cpu_idle_share)) return TraceBound::kUnknown;
  if (verdict.idle_input_share >= options.dominance) return TraceBound::kInput;
  if (std::max(verdict.idle_after_sync_share, verdict.idle_blocked_share) >= options.dominance) {
    return TraceBound::kSync;
  }
  if (graph) return TraceBound::kGraph;
  const bool host = verdict.idle_host_share >= options.dominance;
  return queues && !host ? TraceBound::kTransition : TraceBound::kCpu;
}

std::string borderline_reason(const TraceVerdict& verdict, const VerdictOptions& options) {
  const auto near = [&](double value, double bound) {
    return std::abs(value - bound) <= options.borderline;  // false for NaN
  };
  if (near(verdict.gpu_idle_share, options.idle_bound)) return "GPU idle share is at its bound";
  if (verdict.gpu_idle_share_low <= options.idle_bound &&
      verdict.gpu_idle_share_high > options.idle_bound) {
    return "the bracket of the GPU idle share reaches across its bound";
  }
  const bool idle = verdict.gpu_idle_share > options.idle_bound;
  if (idle && near(verdict.idle_input_share, options.dominance)) {
    return "idle time during input and long gaps is at its bound";
  }
  if (idle && verdict.bound != TraceBound::kInput &&
      near(verdict.idle_after_sync_share, options.dominance)) {
    return "idle time after synchronisation is at its bound";
  }
  if (near(verdict.graph_share, 0.5)) return "about half of the device time is graph replay";
  const bool queue_decides =
      verdict.graph_share <= 0.5 &&
      (!idle || verdict.bound == TraceBound::kCpu || verdict.bound == TraceBound::kTransition);
  if (queue_decides && near(verdict.queue_share, options.queue_bound)) {
    return "queue share is at its bound";
  }
  if (queue_decides && std::isnan(verdict.queue_share)) return "queue share is unknown";
  if (verdict.bound == TraceBound::kCpu && verdict.queue_share > options.queue_bound) {
    return "queue share points to the GPU: launches come in bursts";
  }
  return "";
}

}  // namespace

std::string_view trace_bound_name(TraceBound bound) {
  switch (bound) {
    case TraceBound::kUnknown:
      return "unknown";
    case TraceBound::kCpu:
      return "cpu_bound";
    case TraceBound::kGpu:
      return "gpu_bound";
    case TraceBound::kGraph:
      return "graph_bound";
    case TraceBound::kSync:
      return "sync_bound";
    case TraceBound::kInput:
      return "input_bound";
    case TraceBound::kTransition:
      return "transition";
  }
  return "";
}

TraceVerdict judge_trace(const LaunchMetrics& metrics, const VerdictOptions& options) {
  TraceVerdict verdict;
  fill_shares(metrics, verdict);
  if (metrics.kernels == 0 || metrics.il_ns <= 0) return verdict;
  verdict.bound = classify(verdict, options);
  verdict.borderline_reason = borderline_reason(verdict, options);
  verdict.borderline = !verdict.borderline_reason.empty();
  return verdict;
}

}  // namespace assay
