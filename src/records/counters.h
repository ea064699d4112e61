#pragma once

// Hardware counters per dispatched kernel from a profiler that serializes kernels (rocprofv3,
// rocpd, Nsight Compute). The counters are valid; times and overlap of such a run are not those of
// the analyzed run (breakdown/counters.h joins the two).

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay {

constexpr int64_t kNoCounterTime = std::numeric_limits<int64_t>::min();

// One kernel of a counter run.
struct CounterDispatch {
  int64_t order = 0;                  // position in dispatch order: Dispatch_Id, ID of Nsight
                                      // Compute
  int64_t device = 0;                 // agent or device as recorded
  int64_t process = 0;                // 0 = unknown
  int64_t thread = -1;                // host thread that dispatched it; -1 = unknown
  uint32_t kernel = 0;                // index into CounterPass::kernels
  uint64_t blocks = 0;                // in the grid; 0 = unknown
  uint64_t threads_per_block = 0;     // 0 = unknown
  int64_t start_ns = kNoCounterTime;  // on the profiler's own clock
  int64_t end_ns = kNoCounterTime;
};

// A host range in a counter run (roctx), on the clock of the dispatches.
struct CounterRange {
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Properties of a device in a counter file.
struct CounterDevice {
  int64_t device = 0;    // as in CounterDispatch
  int64_t ordinal = -1;  // among the GPUs of the machine, from 0; -1 = unknown
  std::string name;      // product or architecture; may be empty
  std::string architecture;
  double compute_units = 0;  // 0 = unknown, here and below
  double simd_per_cu = 0;
  double xcds = 0;
  double max_clock_mhz = 0;
};

// One run of the program with one set of counters.
struct CounterPass {
  std::string source;  // file or folder, as given
  std::string format;  // "rocprofv3 counter_collection.csv", "ncu --csv --page raw", ...
  std::vector<std::string> kernels;         // names as recorded
  std::vector<std::string> counters;        // names; values are in base units
  std::vector<CounterDispatch> dispatches;  // in dispatch order per device
  std::vector<double> values;               // dispatches x counters, row-major; NaN = not measured
  std::vector<CounterDevice> devices;
  std::vector<CounterRange> ranges;
  uint64_t rows_skipped = 0;       // rows without a usable id, name or number
  bool truncated = false;          // the file ends in the middle of a row

  double value(size_t dispatch, size_t counter) const {
    return values[dispatch * counters.size() + counter];
  }
};

}  // namespace assay
