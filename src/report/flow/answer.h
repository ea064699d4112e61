#pragma once

// The short answer of one trace, and of the ranks of a job. Rules of the sentences: docs/answer.md.

#include <cstdint>
#include <string>
#include <vector>

#include "flow/job_verdict.h"
#include "report/document/short_answer.h"
#include "report/flow/section.h"
#include "trace/trust.h"

namespace assay {

// What of a trace's reading an answer must know.
struct AnswerEvidence {
  bool data_lost = false;
  uint64_t iterations = 1;       // whole ones
  bool by_kernel_names = false;  // that is all that tells them
};

// levers: flow_levers() of the answer.
ShortAnswer short_answer(const FlowAnswer& answer, const std::vector<Lever>& levers,
                         const AnswerEvidence& evidence);

// What the trust of the answer rests on, as notes: the first is its reason.
TrustNotes caveat_notes(const FlowAnswer& answer, const AnswerEvidence& evidence);

// The verdict in one sentence.
std::string verdict_sentence(const FlowAnswer& answer);

// Compute, then communication, copies and what idle time came from, largest first, without zeros.
std::vector<AnswerCause> answer_causes(const FlowTotals& total, const CommSplit& comm);

// Idle time with one cause and one name.
struct NamedIdle {
  FlowCause cause = FlowCause::kHostGap;
  std::string name;  // empty where no row names it
  int64_t ns = 0;
};

// What the answer of several traces keeps of one: sums, and what its devices did over the window.
struct RankOfAnswer {
  std::string file;
  FlowTotals total;
  BoundBy bound = BoundBy::kNoGpu;
  Interval window;  // of its devices
  std::vector<NamedIdle> idle;
  std::vector<AnswerLever> levers;  // all of the rank's own, best first
  std::vector<RankBin> bins;        // of the window, in equal parts
};
RankOfAnswer rank_of_answer(const FlowAnswer& answer, const std::vector<Lever>& levers);

}  // namespace assay
