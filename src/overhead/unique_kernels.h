#pragma once

// The rows of a trace that TaxBreak's equations use, grouped into unique kernels. The trace-only
// analysis and the kernel database share them, so both have the same ones.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "overhead/overhead.h"

namespace assay {

// Every kernel of the trace as a row, in order of (window, launch, device start); with
// options.count_copies also copies and fills. Only the options mode, count_copies and kernels are
// read.
//
// Dispatch entry (spec/overhead 3.2): among the operators around the launch call on its thread, the
// innermost aten:: one; if there is none, the innermost operator. In a trace without operators,
// labelled ranges replace them. ProfilerStep#n only encloses operations and is never an entry. T_Py
// runs to the entry's start. It begins at the latest-starting Python frame that is open when the
// entry starts, else at the innermost non-aten operator around the entry. T_dispatch runs from the
// entry's start to the call (Eq. 5), T_launch from the call to the start of its first kernel (Eq.
// 6). Further kernels of a call have no host cost.
struct HostOverheadRows {
  std::vector<HostOverheadRow> rows;
  bool ranges_as_ops = false;    // labelled ranges stood in for operators
  uint64_t copies_left_out = 0;  // copies and fills left out of the rows
};
HostOverheadRows extract_overhead_rows(const Trace& trace, const Links& links,
                                       const Windows& windows, const HostOverheadOptions& options);

// Launch shape; zeros if not in the file.
struct LaunchShape {
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  uint32_t shared_memory_bytes = 0;
  uint32_t registers = 0;  // recorded, but not part of the key
};

// A unique kernel has one cleaned name, launch shape, shared memory and input dims, the key of
// spec/overhead 3 item 5. Input dims count if the trace has them.
struct UniqueKernel {
  std::string name;     // cleaned
  StringId raw_name;    // of its first row
  LaunchShape shape;    // of its first row
  StringId input_dims;  // of the dispatch entry, as written; kNone = unknown
  uint16_t family = 0;  // of its first row, like library
  bool library = false;
  std::vector<uint32_t> rows;  // indices into HostOverheadRows::rows, ascending
};

// In order of their first rows.
std::vector<UniqueKernel> group_unique_kernels(const Trace& trace,
                                               const std::vector<HostOverheadRow>& rows);

// Population of the median of Eq. 7 (spec/overhead 4.5): the native kernels with a dispatch entry,
// as mean dispatch per unique kernel or as one row per invocation. single_launch: only kernels with
// an entry that launches nothing else, because other entries' dispatch contains other launches.
std::vector<KernelCost> base_population(const std::vector<HostOverheadRow>& rows,
                                        const std::vector<UniqueKernel>& kernels,
                                        BaseWeighting weighting, bool single_launch);

}  // namespace assay
