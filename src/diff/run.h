#pragma once

// Data of one traced run for a comparison, as plain numbers: the cost of every kernel, operation
// and chain, per iteration and GPU. Callers fill it from the analyses; this module does not depend
// on them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Levels of a comparison. At every level, the costs of the items sum to the iteration's time.
enum class DiffLevelKind : uint8_t { kPart, kOperation, kKernel, kChain };
constexpr size_t kDiffLevels = 4;
std::string_view diff_level_name(DiffLevelKind kind);  // "parts", "operations", "kernels", "chains"

// Cost of an item in one sample, over all its calls.
struct DiffCost {
  uint64_t calls = 0;
  int64_t busy_ns = 0;  // device time attributed to it (diff/partition.h)
  int64_t idle_ns = 0;  // idle device time that it ended
  int64_t dur_ns = 0;   // summed durations, overlap included

  int64_t time_ns() const { return busy_ns + idle_ns; }
  void add(const DiffCost& other) {
    calls += other.calls;
    busy_ns += other.busy_ns;
    idle_ns += other.idle_ns;
    dur_ns += other.dur_ns;
  }
};

// A kernel, operation, part or chain, which is matched with an item of the other side.
struct DiffItem {
  std::string name = {};    // identity: the signature in full
  std::string shown = {};   // displayed name
  std::string family = {};  // the name without the parts that a rename changes; empty = none
  std::string path = {};    // the operators around it, outermost first; empty = unknown
  bool rest = false;        // a remainder, matched only with the remainder of the same name
  bool host = false;        // of parts: idle time in which the host prepared the next launch
};

// Operators or launch calls of one name, in all iterations.
struct DiffHostCalls {
  std::string name;
  uint64_t calls = 0;
  double typical_ns = 0;  // median time of a single call
};

struct DiffEntry {
  uint32_t item = 0;
  DiffCost cost;
};

struct DiffLevelRun {
  std::vector<DiffItem> items;                  // items of equal name are one item
  std::vector<std::vector<DiffEntry>> samples;  // parallel to DiffRun::samples
  std::vector<uint32_t> sequence;               // items in launch order, of one typical iteration
};

// One GPU in one iteration.
struct DiffSample {
  int32_t iteration = 0;
  int64_t gpu = 0;
  int64_t time_ns = 0;  // sum of the entries of any level
};

// A collective or transfer in a sample. busy_ns: its time not attributed to another activity.
struct DiffCollective {
  uint32_t sample = 0;
  int64_t gpu = 0;
  int64_t start_ns = 0;  // by the clock of the run
  int64_t end_ns = 0;
  int64_t busy_ns = 0;
  std::array<uint32_t, kDiffLevels> item{};  // item that its time belongs to, per level
};

enum class DiffUnit : uint8_t { kNanoseconds, kCount, kShare, kRatio };

// One metric of docs/metrics.md, once per iteration; NaN where it is not defined.
struct DiffMetricSeries {
  std::string key;  // "tklqt_ns"
  std::string label = {};
  DiffUnit unit = DiffUnit::kNanoseconds;
  std::vector<int32_t> iterations = {};
  std::vector<double> values = {};
  // Every value depends on one estimate for the whole run (the dispatch base). Iterations cannot
  // show its error; only repeated runs can.
  bool per_run = false;
};

struct DiffRun {
  std::string file;
  std::optional<int64_t> rank;
  std::string gpu;            // product name; empty = unknown
  std::string tracer;         // "pytorch_profiler", ...
  std::string window_source;  // as printed
  std::string window_name;    // name of the iterations, without their number
  bool iterations = false;    // true: the samples are iterations; false: the whole trace is one
                              // sample
  uint64_t iterations_without_kernels = 0;
  bool shapes = false;  // operator inputs were recorded
  bool stacks = false;  // Python frames were recorded
  bool whole_microseconds = false;
  uint64_t rows_lost = 0;  // on import
  uint64_t kernels = 0;
  uint64_t kernels_unlinked = 0;
  uint64_t kernels_carried_over = 0;  // of those, queued before the trace began
  uint64_t works_outside = 0;         // GPU activities launched outside every iteration
  int64_t works_outside_ns = 0;
  std::vector<DiffSample> samples;
  std::array<DiffLevelRun, kDiffLevels> levels;
  std::vector<DiffMetricSeries> metrics;  // one per metric that the run has
  std::vector<DiffHostCalls> host_calls;
  uint64_t host_iterations = 0;  // iterations in which host_calls were counted
  std::vector<DiffCollective> collectives;
  int64_t waiting_ns = -1;  // for other ranks, over all samples; -1 = unknown (diff/waiting.h)
};

}  // namespace assay
