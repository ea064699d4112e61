#pragma once

// Shares of one window that a reader judges by. What bounds the run is told by flow/ alone.

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
  // Of GPU idle time, by causes of flow/; NaN when the GPU is never idle or causes are not told.
  double idle_host_share = 0;        // calls, operators, Python, unrecorded host time, latency
  double idle_input_share = 0;       // data loading
  double idle_blocked_share = 0;     // in a call that waits for the device
  double idle_after_sync_share = 0;  // in gaps that began in such a call
  double idle_unseen_share = 0;      // work was handed over and did not begin
};
LaunchShares launch_shares(const LaunchMetrics& metrics);

}  // namespace assay
