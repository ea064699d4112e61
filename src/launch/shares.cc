#include "launch/shares.h"

#include "base/numbers.h"

namespace assay {

LaunchShares launch_shares(const LaunchMetrics& metrics) {
  LaunchShares shares;
  const int64_t idle_ns = metrics.idle_told ? metrics.gpu_idle_union_ns : 0;
  shares.queue_share = metrics.queue_share;
  shares.gpu_idle_share = share(metrics.gpu_idle_union_ns, metrics.il_ns);
  shares.gpu_idle_share_low = share(metrics.gpu_idle_bracket.low_ns, metrics.il_ns);
  shares.gpu_idle_share_high = share(metrics.gpu_idle_bracket.high_ns, metrics.il_ns);
  shares.cpu_idle_share = metrics.cpu_idle_known ? share(metrics.cpu_idle_ns, metrics.il_ns) : kNan;
  shares.graph_share = share(metrics.graph_kernel_sum_ns, metrics.kernel_sum_ns);
  shares.idle_host_share = share(metrics.idle.host_ns(), idle_ns);
  shares.idle_input_share = share(metrics.idle.host_input_ns(), idle_ns);
  shares.idle_blocked_share = share(metrics.idle.host_blocked_ns(), idle_ns);
  shares.idle_after_sync_share = share(metrics.idle.after_sync_ns, idle_ns);
  shares.idle_unseen_share = share(metrics.idle.unseen_ns(), idle_ns);
  return shares;
}

}  // namespace assay
