#pragma once

// Shares of one window, for display. flow/ alone determines the bottleneck.

#include "launch/metrics.h"

namespace assay {

// NaN = unknown.
struct LaunchShares {
  double queue_share = 0;
  double gpu_idle_share = 0;  // gpu_idle_union / IL, and its bracket
  double gpu_idle_share_low = 0;
  double gpu_idle_share_high = 0;
  double cpu_idle_share = 0;
  double graph_share = 0;  // of the kernels' summed device time
  // Shares of GPU idle time by cause, from flow/. NaN if the GPU is never idle or causes are
  // unknown.
  double idle_host_share = 0;        // calls, operators, Python, unrecorded host time, latency
  double idle_input_share = 0;       // data loading
  double idle_blocked_share = 0;     // in a call that waits for the device
  double idle_after_sync_share = 0;  // in gaps that began in such a call
  double idle_unseen_share = 0;      // submitted but not started
};
LaunchShares launch_shares(const LaunchMetrics& metrics);

}  // namespace assay
