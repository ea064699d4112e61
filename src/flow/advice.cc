#include "flow/advice.h"

#include <algorithm>
#include <map>

#include "base/intervals.h"
#include "base/numbers.h"
#include "flow/contributor_names.h"
#include "flow/host_stalls.h"
#include "flow/names.h"

namespace assay {
namespace {

// Graphs would save less than a quarter of what removing the host's own work would.
bool graph_gives_little(const FlowAnswer& answer) {
  const TriedLever* graph = find_tried(answer, {EditKind::kGraph});
  const TriedLever* host = find_tried(answer, {EditKind::kHost});
  return graph != nullptr && host != nullptr && graph->alone.run_ns * 4 < host->alone.run_ns;
}

// Intervals in which any device waits for the host's own work.
std::vector<Interval> host_idle(const FlowReport& report) {
  std::vector<Interval> idle;
  for (const DeviceFlow& device : report.devices) {
    for (const FlowSlice& slice : device.idle) {
      if (is_host_work(slice.cause)) idle.push_back(slice.span);
    }
  }
  return clip(merge_intervals(std::move(idle)), report.window);
}

}  // namespace

const TriedLever* find_tried(const FlowAnswer& answer, std::initializer_list<EditKind> kinds) {
  if (answer.tried == nullptr) return nullptr;
  for (const TriedLever& tried : answer.tried->levers) {
    if (tried.edit.refusal != EditRefusal::kNone) continue;
    if (std::find(kinds.begin(), kinds.end(), tried.edit.request.kind) != kinds.end()) {
      return &tried;
    }
  }
  return nullptr;
}

bool in_few_iterations(const TriedLever& tried) {
  constexpr uint64_t kLeastIterations = 5;
  const Gain& gain = tried.alone;
  if (gain.before.n < kLeastIterations || gain.run_ns <= 0) return false;
  return std::max<int64_t>(gain.step_ns, 0) * static_cast<int64_t>(gain.before.n) * 5 < gain.run_ns;
}

const Contributor* most_of_host(const FlowAnswer& answer) {
  if (answer.verdict.pauses.ns > 0) return nullptr;  // pause_name() names them
  const int64_t host_ns = host_work_ns(answer.report.total.cause_ns);
  for (const Contributor& contributor : answer.report.contributors) {
    if (contributor.cause != FlowCause::kPython || contributor.ns * 2 < host_ns) continue;
    return &contributor;
  }
  return nullptr;
}

std::string label_of_host(const FlowAnswer& answer) {
  constexpr size_t kMostLabels = 100'000;
  const auto& labels = answer.trace.annotations;
  if (labels.size() > kMostLabels || answer.verdict.pauses.ns > 0) return "";
  const std::vector<Interval> idle = host_idle(answer.report);
  const int64_t idle_ns = length_ns(idle);
  if (idle_ns == 0) return "";
  std::map<StringId, std::vector<Interval>> spans;
  for (size_t i = 0; i < labels.size(); ++i) {
    spans[labels.name[i]].push_back({labels.start_ns[i], labels.start_ns[i] + labels.dur_ns[i]});
  }
  StringId name;
  const int64_t window_ns = answer.report.window_ns();
  int64_t least_ns = window_ns;
  for (auto& [label, of] : spans) {
    if (length_ns(of) * 10 < idle_ns * 8) continue;  // their union is at most their sum
    const std::vector<Interval> around = clip(merge_intervals(std::move(of)), answer.report.window);
    const int64_t ns = length_ns(around);
    // Cheap test first: few labels pass it, so few need the intersection below.
    if (ns >= least_ns || ns * 10 < idle_ns * 8) continue;
    const int64_t inside_ns = length_ns(intersect(around, idle));
    // The time outside holds less than half of the idle time that it would by chance.
    const bool dense = share(idle_ns - inside_ns, idle_ns) * 2 <= share(window_ns - ns, window_ns);
    if (!dense || inside_ns * 10 < idle_ns * 8 || classify_host_name(answer.trace.text(label)).step) continue;
    least_ns = ns;
    name = label;
  }
  return name ? std::string(answer.trace.text(name)) : "";
}

bool waits_for_pageable(const FlowAnswer& answer) {
  const FlowEvidence& evidence = answer.report.evidence;
  return !evidence.blocking_launches &&
         evidence.pageable_to_host_ns * 2 > answer.report.total[FlowCause::kSync];
}

HostAdvice host_advice(const FlowAnswer& answer) {
  const LeadingPauses& pauses = answer.verdict.pauses;
  if (pauses.stalls) return HostAdvice::kSteadyHost;
  if (pauses.ns > 0) {
    return pause_name(answer).empty() ? HostAdvice::kRecordHost : HostAdvice::kShortenOne;
  }
  if (!answer.verdict.computed.names.empty()) return HostAdvice::kMoveToDevice;
  const auto refused = [&answer](EditRefusal why) {
    if (answer.tried == nullptr) return false;
    return std::any_of(
        answer.tried->levers.begin(), answer.tried->levers.end(), [why](const TriedLever& tried) {
          return tried.edit.request.kind == EditKind::kGraph && tried.edit.refusal == why;
        });
  };
  const FlowEvidence& evidence = answer.report.evidence;
  const bool in_graphs = evidence.graph_work_ns * 2 >= evidence.work_ns;
  if (in_graphs || refused(EditRefusal::kInGraphs)) return HostAdvice::kBetweenGraphs;
  const Program& program = answer.verdict.program;
  const bool has_graphs = program.hip || program.cuda || program.kind == ProgramKind::kJax;
  const bool never = refused(EditRefusal::kVaries) || refused(EditRefusal::kNotCapturable);
  if (never || !has_graphs) return HostAdvice::kFewerLaunches;
  return graph_gives_little(answer) ? HostAdvice::kLessHost : HostAdvice::kGraphs;
}

}  // namespace assay
