#pragma once

// A deployment plan (GPUs and their cost) as a section of a Document.

#include <string>
#include <vector>

#include "report/document/document.h"
#include "throughput/serving/plan.h"
#include "trace/trust.h"

namespace assay {

struct PlanReport {
  const PlanQuestion& question;
  const Plan& plan;
  const LatencyModel& latencies;
};

// "plan": the question, "plans", "pareto", "refused".
Section plan_section(const PlanReport& report);
std::vector<std::string> plan_words(const PlanReport& report);
// Caveats of the plans: wide or assumed intervals, closed-loop measurements.
TrustNotes plan_trust(const PlanReport& report);

}  // namespace assay
