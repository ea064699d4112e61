#pragma once

// The short answer of one trace, and of the ranks of a job. Rules of the sentences: docs/answer.md.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "flow/job_verdict.h"
#include "report/document/short_answer.h"
#include "report/flow/section.h"
#include "report/flow/spoken.h"

namespace assay {

// What of a trace's reading an answer must know.
struct AnswerEvidence {
  bool data_lost = false;
  uint64_t iterations = 1;  // whole ones
};

// levers: flow_levers() of the answer.
ShortAnswer short_answer(const FlowAnswer& answer, const std::vector<Lever>& levers,
                         const AnswerEvidence& evidence);

// The verdict in one sentence, and what the launches show beside; empty where they show nothing.
std::string verdict_sentence(const FlowAnswer& answer);
std::string blocking_sentence(const FlowAnswer& answer);

// What takes the host off the path.
enum class HostAdvice {
  kGraphs,         // fewer, larger launches: graphs
  kFewerLaunches,  // the same where graphs cannot be: iterations run different kernels
  kLessHost,       // graphs would leave most of what the host does
  kBetweenGraphs,  // most work is in graphs already
  kShortenOne,     // one thing holds the host up (FlowVerdict::pauses)
  kRecordHost,     // nothing tells what holds it up
  kSteadyHost,     // pauses in one thing or another
};
HostAdvice host_advice(const FlowAnswer& answer);

// The first lever of one of these kinds that was tried and not refused; null = none.
const TriedLever* find_tried(const FlowAnswer& answer, std::initializer_list<EditKind> kinds);
// What a lever gives lies in few of many iterations: nothing in the usual one.
bool in_few_iterations(const TriedLever& tried);
// The row in which most of the host's own part lies, where Python leads it; empty where none does.
std::string most_of_host(const FlowAnswer& answer);

// Names of what stands behind a cause, as a sentence says them; empty where nothing names it.
std::string contributor_name(const Trace& trace, const Contributor& contributor);
// ", first NAME TIME" of the longest one-off cost, `room` columns at most for the name; empty where
// nothing names it.
std::string first_cold_words(const FlowAnswer& answer, size_t room);
// The data loader around a stretch of time, as an operator, label or frame names it; empty where
// there is none.
std::string loader_around(const Trace& trace, Interval span);

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
  std::vector<RankBin> bins;  // of the window, in equal parts
};
RankOfAnswer rank_of_answer(const FlowAnswer& answer);

}  // namespace assay
