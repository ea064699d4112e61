#pragma once

// The short answer of one trace, and of the ranks of a job. Rules of the sentences: docs/answer.md.

#include <cstdint>
#include <string>
#include <vector>

#include "findings/diagnosis.h"
#include "flow/job_verdict.h"
#include "report/document/short_answer.h"
#include "report/flow/section.h"
#include "trace/trust.h"

namespace assay {

// Caveats of the diagnosis: the first is the reason of its confidence.
TrustNotes caveat_notes(const findings::Diagnosis& diagnosis);

ShortAnswer short_answer(const FlowAnswer& answer, const findings::Diagnosis& diagnosis);

// Compute, then communication, copies and what idle time came from, largest first, without zeros.
std::vector<AnswerCause> answer_causes(const FlowTotals& total, const CommSplit& comm,
                                       int64_t page_moves_ns = 0);

// Idle time with one cause and one name.
struct NamedIdle {
  FlowCause cause = FlowCause::kHostGap;
  std::string name;  // empty where no row names it
  int64_t ns = 0;
};

// Data of one trace in the answer of several: sums, and the states of its devices over the window.
struct RankOfAnswer {
  std::string file;
  FlowTotals total;
  BoundBy bound = BoundBy::kNoGpu;
  Interval window;  // of its devices
  std::vector<NamedIdle> idle;
  std::vector<AnswerLever> levers;  // all of the rank's own, best first
  std::vector<RankBin> bins;        // of the window, in equal parts
  std::vector<std::string> serving;  // sentences on the steps and requests of an engine
};
RankOfAnswer rank_of_answer(const FlowAnswer& answer, const findings::Diagnosis& diagnosis);

}  // namespace assay
