#pragma once

// The rows of a trace that TaxBreak's equations run over, and the unique kernels they fall into:
// shared by the trace-only analysis and the kernel database, so that both speak of the same ones.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "overhead/overhead.h"

namespace assay {

// Every kernel of the trace as a row, in order of (window, launch, device start); with
// options.count_copies also copies and fills. Of the options only mode, count_copies and kernels
// are read.
//
// Dispatch entry (spec/overhead 3.2): of the operators around the launch call on its thread, the
// innermost aten:: one; without any, the innermost operator. In a trace without operators the
// labelled ranges stand in for them. ProfilerStep#n encloses work and is no entry.
// T_Py runs from the latest-starting Python frame that is open when the entry starts, else from the
// innermost non-aten operator around the entry, to the entry's start.
// T_dispatch runs from the entry's start to the call (Eq. 5), T_launch from the call to the start
// of the first kernel it launched (Eq. 6). Further kernels of a call cost the host nothing.
struct HostOverheadRows {
  std::vector<HostOverheadRow> rows;
  bool ranges_as_ops = false;    // labelled ranges stood in for operators
  uint64_t copies_left_out = 0;  // copies and fills that are no rows
};
HostOverheadRows extract_overhead_rows(const Trace& trace, const Links& links,
                                       const Windows& windows, const HostOverheadOptions& options);

// Launch shape; zeros where the file does not tell.
struct LaunchShape {
  std::array<uint32_t, 3> grid{};
  std::array<uint32_t, 3> block{};
  uint32_t shared_memory_bytes = 0;
  uint32_t registers = 0;  // told, but no part of the key
};

// One (cleaned name, grid, block, shared memory, input dims), the key of spec/overhead 3 item 5.
// Input dims take part where the trace tells them.
struct UniqueKernel {
  std::string name;     // cleaned
  StringId raw_name;    // of its first row
  LaunchShape shape;    // of its first row
  StringId input_dims;  // of the dispatch entry, as written; kNone = not told
  uint16_t family = 0;  // of its first row, like library
  bool library = false;
  std::vector<uint32_t> rows;  // indices into HostOverheadRows::rows, ascending
};

// In order of their first rows.
std::vector<UniqueKernel> group_unique_kernels(const Trace& trace,
                                               const std::vector<HostOverheadRow>& rows);

// What Eq. 7 is a median over (spec/overhead 4.5): the native kernels that have a dispatch entry,
// as mean dispatch per unique kernel or as one row per invocation. single_launch: only those whose
// entry launches nothing else, the others' dispatch contains other launches.
std::vector<KernelCost> base_population(const std::vector<HostOverheadRow>& rows,
                                        const std::vector<UniqueKernel>& kernels,
                                        BaseWeighting weighting, bool single_launch);

}  // namespace assay
