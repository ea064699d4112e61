#pragma once

// From annealing runs of ALA to a section of a Document.

#include <string>
#include <utility>
#include <vector>

#include "report/document.h"
#include "throughput/annealing.h"

namespace assay {

struct AnnealingTarget {
  std::string name;
  ThroughputData rows;
  std::vector<TargetJudgement> by_seed;  // in the order of the runs
};

struct AnnealingReport {
  std::string source;  // empty: all rows
  size_t source_rows = 0;
  int steps = 0;                                        // asked for
  std::vector<std::pair<uint64_t, AnnealingRun>> runs;  // by seed
  std::vector<AnnealingTarget> targets;
};

Section annealing_section(const AnnealingReport& report);
std::vector<std::string> annealing_words(const AnnealingReport& report);

}  // namespace assay
