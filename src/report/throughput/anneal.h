#pragma once

// A section of a Document from annealing runs of ALA.

#include <string>
#include <utility>
#include <vector>

#include "report/document/document.h"
#include "throughput/ala/annealing.h"

namespace assay {

struct AnnealingTarget {
  std::string name;
  ThroughputData rows;
  std::vector<TargetJudgement> by_seed;  // in the order of the runs
};

// A plain regressor, trained on the same subsets.
struct AnnealingBaseline {
  uint64_t seed = 0;
  std::string method;
  std::vector<double> errors;  // by step of the run with this seed; NaN = no prediction
};

struct AnnealingReport {
  std::string source;  // empty: all rows
  size_t source_rows = 0;
  int steps = 0;                                        // requested steps
  std::vector<std::pair<uint64_t, AnnealingRun>> runs;  // by seed
  std::vector<AnnealingTarget> targets;
  std::vector<AnnealingBaseline> baselines = {};  // empty = not requested
};

Section annealing_section(const AnnealingReport& report);
std::vector<std::string> annealing_words(const AnnealingReport& report);

}  // namespace assay
