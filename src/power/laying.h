#pragma once

// Aligns a power log with a trace: selects the usable samples and the kernels with a power of their
// own, finds the clock offset, and runs the joint fit.

#include <cstdint>
#include <string>
#include <vector>

#include "power/attribute.h"
#include "power/energy_parts.h"
#include "power/joint/update_grid.h"
#include "power/log_idle.h"

namespace assay {

// A GPU activity.
struct Work {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StringId name;
  StringId op;  // of the operator that caused it; 0 = none
  ActivityId activity;
};

std::vector<Work> work_of(const Trace& trace, const Links& links, int64_t device);

// Time range of the trace: from its first host call or GPU activity to its last.
struct CoveredSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

CoveredSpan span_of(const std::vector<Work>& work, const Trace& trace);

// Time-zone shift (ns, whole quarter hours) that makes log and trace overlap in addition to the
// given offset: 0 if they already do. Fails if no zone or several do; with several, only a fit can
// choose.
Result<int64_t> zone_of_log(CoveredSpan log, CoveredSpan trace, const AttributeOptions& options);

// The log's energy counter between two of its changes inside the trace, compared with the powers
// fitted without it.
struct CounterCheck {
  bool known = false;
  double joules = 0;
  double sigma_j = 0;
  double modelled_j = 0;
  bool used = false;  // they agree, and the fit includes the counter
};

// Busy intervals of at most `most` classes, in seconds since begin_ns: one per name with the most
// time, the last for all other names.
std::vector<std::vector<BusySpan>> busy_by_name(const std::vector<Work>& work, size_t most,
                                                int64_t begin_ns);

// Inputs and result of the fit for one alignment of the log.
struct Laid {
  int64_t zone_ns = 0;
  int64_t moved_ns = 0;  // added to the log's times before the fit
  UpdateGrid grid;
  LogIdle idle;                    // idle in the log around the work
  bool lag_searched = false;       // found beyond the typical range
  JointProblem problem;            // the problem of the final fit
  std::vector<double> shares;      // mean activity of each class over the samples
  size_t pooled = 0;               // number of names that share the last column
  size_t pooled_group = SIZE_MAX;  // the group with that column
  EnergyModel model;
  CounterCheck counter;
};

// Aligns with the given offset. If log and trace overlap only under a time zone, tries each quarter
// hour that makes them overlap and takes the best fit. Fails if they do not overlap, or overlap in
// fewer than 20 samples.
Result<Laid> lay_log(const PowerSeries& series, const AttributeOptions& options,
                     const std::vector<Work>& work, CoveredSpan span);

}  // namespace assay
