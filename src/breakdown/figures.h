#pragma once

// The figures of Chopper's evaluation (arXiv 2512.08242, Figures 4 to 9 and 11) for any set of
// configurations. Each configuration is reduced to its figures before the next one is read.
//
// Unless noted, a sample is one GPU in one iteration, and an execution is one operation of one
// layer in a sample. Only compute kernels inside iterations count.

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
FigureBox figure_box(std::vector<double> samples);  // ignores values that are not finite

// Pearson correlation; NaN if either is constant or there are fewer than two pairs.
double correlation(const std::vector<double>& x, const std::vector<double>& y);

// One value per iteration of ConfigFigures::iterations, the mean over GPUs. Comparisons and their
// intervals use these, because GPUs of one iteration wait for each other.
using FigureSeries = std::vector<double>;

// Figure 4 except its top: a phase, or the operations of one type in it. Medians over samples.
struct FigurePart {
  LevelPhase phase = LevelPhase::kNone;
  std::optional<OpType> op_type;  // nullopt: the whole phase
  uint64_t samples = 0;
  double dur_ns = 0;
  double launch_ns = 0;
  double comm_wait_ns = 0;
  FigureSeries dur_each = {};  // in ns; 0 if the iteration has none
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
  double overlap_ratio = 0;  // over all their kernels
  double dur_ns = 0;         // mean over executions, including the bubbles inside
};

// Figures 5, 7 (the correlation) and 11.
struct FigureOp {
  FigureOpName name;
  FigureBox dur_ns;  // per sample: summed over layers, including the bubbles inside
  uint64_t executions = 0;
  double overlap_ratio = 0;  // over all its kernels: time overlapped with a collective / duration
  double correlation = 0;    // between overlap ratio and duration, over executions
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

// Time between compute kernels in one iteration, mean over GPUs.
struct FigureGaps {
  double all_ns = 0;
  double edges_ns = 0;       // the part before the first compute kernel and in the optimizer
  double edges_comm_ns = 0;  // the part of edges_ns spent waiting for a collective
};

// One operation in one layer of one iteration (Figures 7 and 9). Boxes are over GPUs.
struct FigureLayer {
  FigureOpName name;
  int32_t iter = kNoIteration;
  int32_t layer = kNoLayer;
  FigureBox overlap_ratio;
  FigureBox dur_ns;  // including the bubbles inside
};

// Figure 8: one execution.
struct FigureExecution {
  FigureOpName name;
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  int32_t layer = kNoLayer;
  double overlap_ratio = 0;
  double dur_ns = 0;
  double relative = 0;    // duration / shortest duration of the same GPU and operation
  double cumulative = 0;  // share of the summed overlap ratios of its GPU and operation that is in
                          // executions up to this duration; NaN if all are 0
};

// Figure 15: all executions of one operation with matrix products or attention.
struct FigureWaterfall {
  FigureOpName name;
  uint64_t executions = 0;
  std::vector<std::pair<std::string, int64_t>> bars_ns;  // theoretical, instruction, ...
};

// Figure 14: one signal at one time, over the GPUs that have a sample.
struct FigureMoment {
  std::string signal;  // "sm_clock_mhz", "memory_clock_mhz", "power_w"
  int64_t t_ns = 0;    // since the first GPU activity of the first rank with a log
  uint64_t gpus = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
};

// Figure 13: CPU cores at one time.
struct FigureCores {
  int64_t t_ns = 0;     // as for FigureMoment
  int active = 0;       // C_active, Eq. 4
  double least = 0;     // C_min, Eq. 5
  int one_sibling = 0;  // physical cores with one active logical processor
  int siblings = 0;     // physical cores with two or more
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
  FigureBox span_ns;  // samples: span of a GPU's compute kernels in an iteration
  FigureSeries span_each = {};
  FigureSeries overlap_each = {};     // overlapped share of the compute kernels' time
  std::vector<FigureGaps> gaps = {};  // per iteration
  std::vector<FigurePart> parts;
  std::vector<FigureOp> ops;
  std::vector<FigureComm> comms;
  std::vector<FigureLayer> layers;          // of the first kFigureIterations iterations
  std::vector<FigureExecution> executions;  // forward matrix products in layers
  std::vector<FigureWaterfall> waterfalls;  // longest first
  std::string no_waterfalls;                // reason if there are none
  std::vector<FigureCores> cores;
  std::vector<FigureMoment> moments;
  double cores_used_share = std::numeric_limits<double>::quiet_NaN();  // physical cores ever used,
                                                                       // as a share
};
inline constexpr size_t kFigureIterations = 3;

struct FigureOptions {
  std::vector<LevelCondition> where;            // filter for the cells
  std::optional<int64_t> tokens_per_iteration;  // of the whole job; nullopt = from the traces
};
ConfigFigures config_figures(std::string name, const JobLevels& job, const FigureOptions& options);

// Operations of a type and phase, by total time over all configurations, longest first; at most
// `most`.
std::vector<FigureOpName> dominant_ops(const std::vector<ConfigFigures>& configs, LevelPhase phase,
                                       OpType type, size_t most);
// The operation of Figure 8: the attention's output projection if a configuration has it (as in the
// paper), otherwise the forward matrix product with the most variable overlap with collectives.
std::optional<FigureOpName> curve_op(const std::vector<ConfigFigures>& configs);

}  // namespace assay
