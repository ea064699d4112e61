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

// Shift of the log's times, apart from its offset, with which it overlaps the trace: 0, or the only
// time zone that makes them overlap. Fails if there is none, or several; then only a fit can
// choose.
Result<int64_t> zone_of_log(CoveredSpan log, CoveredSpan trace, const AttributeOptions& options);

// The log's own counter of energy between two of its values inside of the trace, against the powers
// that were fitted without it.
struct CounterCheck {
  bool known = false;
  double joules = 0;
  double sigma_j = 0;
  double modelled_j = 0;
  bool used = false;  // they agree: the fit is of both
};

// When each of `most` classes ran, in seconds since begin_ns: the names with most time one each,
// the rest together.
std::vector<std::vector<BusySpan>> busy_by_name(const std::vector<Work>& work, size_t most,
                                                int64_t begin_ns);

// Everything the fit was made of and what came out, for one place of the log on the trace's clock.
struct Laid {
  int64_t zone_ns = 0;
  int64_t moved_ns = 0;  // added to the log's times before the fit
  UpdateGrid grid;
  LogIdle idle;                    // around the work
  bool lag_searched = false;       // found beyond the typical range
  JointProblem problem;            // that the fit solves
  std::vector<double> shares;      // mean of each power's activity
  size_t pooled = 0;               // names in the column of the rest
  size_t pooled_group = SIZE_MAX;  // where that is
  EnergyModel model;
  CounterCheck counter;
};

// Uses the given offset. If log and trace overlap only under a time zone, tries the quarter hours
// that make them overlap, and selects the one with the best fit. Fails if they do not overlap, or
// overlap in fewer than 20 samples.
Result<Laid> lay_log(const PowerSeries& series, const AttributeOptions& options,
                     const std::vector<Work>& work, CoveredSpan span);

}  // namespace assay
