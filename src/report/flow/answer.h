#pragma once

// The short answer for one trace. Rules for the sentences: docs/answer.md.

#include <cstdint>
#include <string>
#include <vector>

#include "findings/diagnosis.h"
#include "flow/job_verdict.h"
#include "report/document/short_answer.h"
#include "report/flow/section.h"
#include "trace/trust.h"

namespace assay {

// Caveats of the diagnosis; the first is the reason for its confidence.
TrustNotes caveat_notes(const findings::Diagnosis& diagnosis);

ShortAnswer short_answer(const FlowAnswer& answer, const findings::Diagnosis& diagnosis);

// Compute, then communication, copies and the causes of idle time, largest first; zeros are
// omitted.
std::vector<AnswerCause> answer_causes(const FlowTotals& total, const CommSplit& comm,
                                       int64_t page_moves_ns = 0);

// Idle time with one cause and one name.
struct NamedIdle {
  FlowCause cause = FlowCause::kHostGap;
  std::string name;  // empty if no event names it
  int64_t ns = 0;
};

// Data of one trace for the joint answer of several: totals, and the device states over the window.
struct RankOfAnswer {
  std::string file;
  FlowTotals total;
  BoundBy bound = BoundBy::kNoGpu;
  Interval window;  // of its devices
  std::vector<NamedIdle> idle;
  std::vector<AnswerLever> levers;  // all actions of this rank, best first
  std::vector<RankBin> bins;        // equal time bins of the window
  std::vector<std::string> serving;  // sentences on the steps and requests of an engine
};
RankOfAnswer rank_of_answer(const FlowAnswer& answer, const findings::Diagnosis& diagnosis);

}  // namespace assay
