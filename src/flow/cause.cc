#include "flow/cause.h"

#include <algorithm>

namespace assay {

std::string_view flow_cause_name(FlowCause cause) {
  constexpr std::array<std::string_view, kFlowCauses> kNames = {
      "no_evidence", "unseen", "wait_other", "latency", "sync",     "cold",         "alloc",
      "input",       "call",   "dispatch",   "python",  "host_gap", "nothing_asked"};
  return kNames[static_cast<size_t>(cause)];
}

bool is_host_work(FlowCause cause) {
  return std::find(kHostWork.begin(), kHostWork.end(), cause) != kHostWork.end();
}

int64_t host_work_ns(const CauseTimes& times) {
  int64_t sum_ns = 0;
  for (const FlowCause cause : kHostWork) sum_ns += times[static_cast<size_t>(cause)];
  return sum_ns;
}

std::string_view evidence_name(CauseEvidence evidence) {
  constexpr std::array<std::string_view, kEvidences> kNames = {"recorded", "inferred", "absent"};
  return kNames[static_cast<size_t>(evidence)];
}

std::string_view opened_by_name(OpenedBy opened_by) {
  constexpr std::array<std::string_view, kOpenings> kNames = {"first", "sync", "host", "queued",
                                                              "unknown"};
  return kNames[static_cast<size_t>(opened_by)];
}

int64_t take_unrecorded(int64_t unrecorded_ns, CauseTimes& times) {
  int64_t& nothing_ns = times[static_cast<size_t>(FlowCause::kNothingAsked)];
  const int64_t ns = std::min(unrecorded_ns, nothing_ns);
  nothing_ns -= ns;
  return ns;
}

}  // namespace assay
