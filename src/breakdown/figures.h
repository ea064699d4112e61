#pragma once

// The figures of Chopper's evaluation (arXiv 2512.08242, Figures 4 to 9 and 11) for any set of
// configurations. Each configuration is reduced to the content of its figures before the next is
// read.
//
// A sample is one GPU in one iteration, and an execution is one operation of one layer in such a
// sample, unless noted. Only compute kernels inside iterations count.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "breakdown/query.h"
#include "breakdown/ranks.h"

namespace assay {

// Quartiles of a set of samples; NaN if empty.
struct FigureBox {
  uint64_t samples = 0;
  double min = std::numeric_limits<double>::quiet_NaN();
  double p25 = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();
  double p75 = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
};
FigureBox figure_box(std::vector<double> samples);  // those that are not finite are left out

// Pearson's correlation; NaN when either is constant or there are fewer than two pairs.
double correlation(const std::vector<double>& x, const std::vector<double>& y);

// One value per iteration of ConfigFigures::iterations, the mean over its GPUs: what comparisons
// and their intervals are made of, since GPUs of one iteration wait for each other.
using FigureSeries = std::vector<double>;

// Figure 4, all but the top: a phase, or the operations of one type in it. Medians over samples.
struct FigurePart {
  LevelPhase phase = LevelPhase::kNone;
  std::optional<OpType> op_type;  // nothing: the whole phase
  uint64_t samples = 0;
  double dur_ns = 0;
  double launch_ns = 0;
  double comm_wait_ns = 0;
  FigureSeries dur_each = {};  // in ns; 0 where an iteration has none of it
  FigureSeries launch_each = {};
  FigureSeries comm_wait_each = {};
};

// Name of an operation in a figure.
struct FigureOpName {
  LevelPhase phase = LevelPhase::kNone;
  OpType type = OpType::kOther;
  std::string op;
  friend std::strong_ordering operator<=>(const FigureOpName&, const FigureOpName&) = default;
};

// All executions of an operation on one GPU.
struct FigureOpGpu {
  int64_t gpu = 0;
  uint64_t executions = 0;
  double overlap_ratio = 0;  // of their kernels together
  double dur_ns = 0;         // mean over executions, bubbles inside included
};

// Figures 5, 7 (the correlation) and 11.
struct FigureOp {
  FigureOpName name;
  FigureBox dur_ns;  // bubbles inside it included, summed over layers
  uint64_t executions = 0;
  double overlap_ratio = 0;  // of all its kernels: time overlapped with a collective / duration
  double correlation = 0;    // of overlap ratio and duration, over executions
  double prep_ns = 0;        // mean over executions
  double call_ns = 0;
  FigureSeries dur_each = {};
  std::vector<FigureOpGpu> gpus = {};
};

// Figure 6: kernels of one kind of collective per sample.
struct FigureComm {
  std::string kind;
  uint64_t kernels = 0;
  FigureBox dur_ns;
  FigureSeries dur_each = {};
};

// An iteration's time between compute kernels, mean over GPUs.
struct FigureGaps {
  double all_ns = 0;
  double edges_ns = 0;       // of that, before the first compute kernel and in the optimizer
  double edges_comm_ns = 0;  // of that, spent in waiting for a collective
};

// One operation in one layer of one iteration (Figures 7 and 9). Boxes are over GPUs.
struct FigureLayer {
  FigureOpName name;
  int32_t iter = kNoIteration;
  int32_t layer = kNoLayer;
  FigureBox overlap_ratio;
  FigureBox dur_ns;  // bubbles inside it included
};

// Figure 8: one execution.
struct FigureExecution {
  FigureOpName name;
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  int32_t layer = kNoLayer;
  double overlap_ratio = 0;
  double dur_ns = 0;
  double relative = 0;    // duration over the least of its GPU and operation
  double cumulative = 0;  // share of the overlap ratios of its GPU and operation that have at most
                          // its duration; NaN if all are 0
};

// Figure 15: one operation with matrix products or attention, all its executions together.
struct FigureWaterfall {
  FigureOpName name;
  uint64_t executions = 0;
  std::vector<std::pair<std::string, int64_t>> bars_ns;  // theoretical, instruction, ...
};

// Figure 14: one signal at one moment, over the GPUs that it was read of.
struct FigureMoment {
  std::string signal;  // "sm_clock_mhz", "memory_clock_mhz", "power_w"
  int64_t t_ns = 0;    // since the first device work of the first rank with a log
  uint64_t gpus = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
};

// Figure 13: the cores at one moment.
struct FigureCores {
  int64_t t_ns = 0;     // as above
  int active = 0;       // C_active, Eq. 4
  double least = 0;     // C_min, Eq. 5
  int one_sibling = 0;  // physical cores with one active logical processor
  int siblings = 0;     // with two or more
};

struct ConfigFigures {
  std::string name;
  uint64_t ranks = 0;
  uint64_t gpus = 0;
  std::vector<int32_t> iterations;
  PlacementStats placement;
  // Medians over iterations.
  std::optional<double> tokens;
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();
  FigureBox span_ns;  // samples: what the compute kernels of a GPU span
  FigureSeries span_each = {};
  FigureSeries overlap_each = {};     // share of the compute kernels' time that overlaps
                                      // collectives
  std::vector<FigureGaps> gaps = {};  // per iteration
  std::vector<FigurePart> parts;
  std::vector<FigureOp> ops;
  std::vector<FigureComm> comms;
  std::vector<FigureLayer> layers;          // of the first kFigureIterations iterations
  std::vector<FigureExecution> executions;  // of forward matrix products in layers
  std::vector<FigureWaterfall> waterfalls;  // the longest first
  std::string no_waterfalls;                // why there are none
  std::vector<FigureCores> cores;
  std::vector<FigureMoment> moments;
  double cores_used_share = std::numeric_limits<double>::quiet_NaN();  // of physical cores, ever
};
inline constexpr size_t kFigureIterations = 3;

struct FigureOptions {
  std::vector<LevelCondition> where;            // cells that count
  std::optional<int64_t> tokens_per_iteration;  // of the whole job; if absent, taken from the
                                                // traces
};
ConfigFigures config_figures(std::string name, const JobLevels& job, const FigureOptions& options);

// Operations of a type and phase by the time that all configurations spend in them, the longest
// first; at most `most`.
std::vector<FigureOpName> dominant_ops(const std::vector<ConfigFigures>& configs, LevelPhase phase,
                                       OpType type, size_t most);
// The operation of Figure 8: the attention's output projection if a configuration has it (the
// paper's), else the forward matrix product with the largest variation of its overlap with
// collectives.
std::optional<FigureOpName> curve_op(const std::vector<ConfigFigures>& configs);

}  // namespace assay
