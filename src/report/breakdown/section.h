#pragma once

// From results of the breakdown module to sections of a Document.

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
  bool brief = false;                 // readers see the words and the tree only
  size_t most_steps = kMostStepRows;  // rows of iterations; 0 = all
  const LevelQuery* query = nullptr;  // absent: no "groups"
  const TelemetryReport* telemetry = nullptr;  // absent: no "cpu", no "telemetry"
};
// "breakdown": rows, unattributed activities, alignment, and the tables for the sentences.
Section breakdown_section(const JobLevels& job, const BreakdownView& view);
// At which level the time goes, which overhead eats it, which rank is last.
std::vector<std::string> breakdown_words(const JobLevels& job);

}  // namespace assay
