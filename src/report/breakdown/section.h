#pragma once

// Sections of a Document from results of the breakdown module.

#include <string>
#include <vector>

#include "breakdown/query.h"
#include "breakdown/ranks.h"
#include "breakdown/telemetry.h"
#include "report/document/document.h"
#include "report/document/step_rows.h"

namespace assay {

struct BreakdownView {
  double min_share = 0.01;            // nodes of the tree below this share of the total are merged
  bool rows = true;                   // "rows" in JSON and CSV
  bool brief = false;                 // readers see only the sentences and the tree
  size_t most_steps = kMostStepRows;  // rows of iterations; 0 = all
  const LevelQuery* query = nullptr;  // null: no "groups"
  const TelemetryReport* telemetry = nullptr;  // null: no "cpu" and "telemetry"
};
// "breakdown": rows, unattributed activities, clock alignment, and the tables that the sentences
// refer to.
Section breakdown_section(const JobLevels& job, const BreakdownView& view);
// Sentences on the time breakdown, the largest overhead, and the last rank.
std::vector<std::string> breakdown_words(const JobLevels& job);

}  // namespace assay
