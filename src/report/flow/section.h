#pragma once

// The opening sentences of a report and the tables of causes, from the dependency graph.

#include <string>
#include <string_view>
#include <vector>

#include "findings/diagnosis.h"
#include "flow/answer.h"
#include "flow/job_verdict.h"
#include "flow/verdict.h"
#include "flow/whatif.h"
#include "report/document/document.h"
#include "report/run/section.h"
#include "trace/trace.h"

namespace assay {

// The headline and every detail, one sentence each.
std::vector<std::string> flow_words(const findings::Diagnosis& diagnosis);
// The actions of a diagnosis, largest gain first.
std::vector<Lever> flow_levers(const findings::Diagnosis& diagnosis);

// Top level "cause", "device_idle_share", "flow", "causes" and "contributors".
Section causes_section(const FlowAnswer& answer);
// causes_section() with "actions".
Section flow_section(const FlowAnswer& answer, const std::vector<Lever>& levers);

// "rules": every rule of the first screen, its condition, and whether it holds.
Section rules_section(const std::vector<findings::RuleState>& rules);

// Top level "diagnosis": the bottleneck according to the table of gains. Only in the data.
Section decision_section(const Decision& decision);

// Parts of such a section: "causes", and "cause" with "device_idle_share". `comm` is the
// composition of the communication in `total`.
Table causes_table(const FlowTotals& total, const CommSplit& comm);
Facts answer_facts(BoundBy bound, double device_idle_share);

}  // namespace assay
