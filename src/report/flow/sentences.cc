#include "report/flow/sentences.h"

#include "flow/contributor_names.h"
#include "text/names.h"
#include "text/units.h"

namespace assay {

std::string first_cold_words(const FlowAnswer& answer, size_t room) {
  for (const Contributor& contributor : answer.report.contributors) {
    if (contributor.cause != FlowCause::kCold) continue;
    const std::string name = fitted(contributor_name(answer.trace, contributor), room);
    return name.empty() ? "" : ", first " + name + " " + format_ns(contributor.ns);
  }
  return "";
}

std::string blocking_sentence(const FlowAnswer& answer) {
  const BoundBy bound = answer.verdict.bound;
  const bool told = bound == BoundBy::kHost || bound == BoundBy::kSync;
  return told && answer.report.evidence.blocking_launches
             ? "Launches block until their kernels end."
             : "";
}

std::string_view cause_words(FlowCause cause) {
  switch (cause) {
    case FlowCause::kNoEvidence:
      return "no evidence";
    case FlowCause::kUnseen:
      return "unseen device work";
    case FlowCause::kWaitOther:
      return "waits for other work";
    case FlowCause::kLatency:
      return "launch latency";
    case FlowCause::kSync:
      return "synchronisation";
    case FlowCause::kCold:
      return "one-off costs";
    case FlowCause::kAlloc:
      return "allocation";
    case FlowCause::kInput:
      return "input";
    case FlowCause::kCall:
      return "runtime calls";
    case FlowCause::kDispatch:
      return "operators";
    case FlowCause::kPython:
      return "Python";
    case FlowCause::kHostGap:
      return "host code not recorded";
    case FlowCause::kNothingAsked:
      return "nothing asked for";
  }
  return "";
}

}  // namespace assay
