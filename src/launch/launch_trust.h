#pragma once

// Caveats of the launch metrics of a trace.

#include "launch/metrics.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

// Caveats of a finished report (all fields but `trust` filled), each only if it applies. Keys in
// order:
// - unlinked_kernels, carried_over_kernels, clamped_launches, dropped_launches
// - whole_microseconds, clock_offset, graph_kernels, shared_correlations
// - launches_without_kernel, overlapping_kernels, kernels_before_origin, inverted_window
// - kernels_outside_iterations, neighbour_kernels, other_thread_launches
// - several_devices, duplicate_calls
TrustNotes launch_trust(const Trace& trace, const Links& links, const Windows& windows,
                        const LaunchReport& report);

}  // namespace assay
