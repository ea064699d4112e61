// The first screen of one run, made from its diagnosis.

#include "report/flow/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/diagnosis.h"
#include "flow/contributor_names.h"
#include "flow/host_stalls.h"
#include "kernels/name.h"
#include "report/flow/whatif.h"
#include "report/run/section.h"
#include "text/message.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {
namespace {

using findings::Action;
using findings::Code;
using findings::Diagnosis;
using findings::Finding;

constexpr size_t kTitleColumns = 46;
constexpr size_t kHowColumns = 97;

AnswerLever card_of(const Action& action) {
  return {.key = std::string(action.key),
          .title = text::message(action.title, kTitleColumns),
          .code = action.how ? text::message(*action.how, kHowColumns) : "",
          .gain_ns = action.gain_ns,
          .share = action.share,
          .grade = std::string(findings::gain_grade(action.predicted)),
          .edit = action.edit,
          .states = action.causes,
          .kernel_kind = action.kernel_kind,
          .kernel_name = lane_text(action.kernel_name)};
}

// The note's heading: "record" for note.record.launches.
std::string head_of(Code code) {
  const std::string_view name = findings::name(code);
  const size_t begin = name.find('.') + 1;
  return std::string(name.substr(begin, name.find('.', begin) - begin));
}

bool is_code(Code code) {
  return code == Code::kNoteRecordAdvised || code == Code::kNoteRecordDeviceTorch;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

AnswerNote note_of(const Finding& finding) {
  return {head_of(finding.code), lines_of(text::message(finding, SIZE_MAX)), is_code(finding.code)};
}

// True for sentences on time before or after the window in which only the host is active.
bool is_outside(Code code) {
  return code == Code::kOutsideUnrecordedBefore || code == Code::kOutsideCallBefore ||
         code == Code::kOutsideCpuOnlyBefore || code == Code::kOutsideUnrecordedAfter ||
         code == Code::kOutsideCallAfter || code == Code::kOutsideCpuOnlyAfter;
}

bool is_serving(Code code) {
  return code == Code::kServing || code == Code::kServingSlowToken || code == Code::kRequests ||
         code == Code::kRequestsTtft || code == Code::kRequestsE2e || code == Code::kRequestsApart ||
         code == Code::kRequestsIncomplete;
}

bool has_own_line(Code code) {
  return code == Code::kGainsOne || code == Code::kGainsAlternate || code == Code::kGainsBalanced ||
         code == Code::kSeveralRanks || code == Code::kJudgedPart || is_serving(code) ||
         code == Code::kUseMfu || code == Code::kUseMfuRange || is_outside(code);
}

// The headline, and the first detail that fits after it.
std::vector<std::string> opening(const Diagnosis& diagnosis) {
  std::vector<std::string> sentences = {text::message(diagnosis.headline)};
  const size_t used = display_width(sentences.front()) + 1;
  for (const Finding& detail : diagnosis.details) {
    if (used >= text::kLongestHeadline) break;
    if (has_own_line(detail.code)) continue;
    std::string sentence = text::message(detail, text::kLongestHeadline - used);
    if (used + display_width(sentence) > text::kLongestHeadline) continue;
    sentences.push_back(std::move(sentence));
    break;
  }
  return sentences;
}

// The reason for the confidence, followed by remarks.
std::string reason_of(const Diagnosis& diagnosis) {
  std::string text = text::message(diagnosis.reason);
  for (const Finding& remark : diagnosis.remarks) text += "; " + text::message(remark);
  return text;
}

void add_findings(const Diagnosis& diagnosis, ShortAnswer& card) {
  card.findings.push_back(diagnosis.headline);
  const auto add = [&card](const std::vector<Finding>& findings) {
    card.findings.insert(card.findings.end(), findings.begin(), findings.end());
  };
  add(diagnosis.details);
  for (const Action& action : diagnosis.actions) {
    card.findings.push_back(action.title);
    card.findings.back().ns("gain", action.gain_ns);
    if (action.how) card.findings.push_back(*action.how);
  }
  add(diagnosis.notes);
  card.findings.push_back(diagnosis.reason);
  add(diagnosis.remarks);
}

// The term for `assay explain` that matches the bottleneck.
std::string explain_word(const FlowVerdict& verdict) {
  if (verdict.bound == BoundBy::kTooLittle || verdict.bound == BoundBy::kNoGpu) return "evidence";
  if (verdict.bound == BoundBy::kCollectiveWait || verdict.bound == BoundBy::kCommunication) {
    return "collective";
  }
  if (verdict.bound == BoundBy::kCopy) return "copy";
  if ((verdict.bound == BoundBy::kGpu && verdict.device_bound) || !verdict.detail) return "compute";
  return std::string(flow_cause_name(*verdict.detail));
}

// Sets of the shown actions with a simulated joint gain.
std::vector<AnswerTogether> sets_of(const WhatIf* tried, const std::vector<AnswerLever>& shown) {
  if (tried == nullptr) return {};
  const auto place_of = [&](size_t lever) {
    const std::string edit = edit_text(tried->levers[lever].edit.request);
    const auto at = std::find_if(shown.begin(), shown.end(),
                                 [&](const AnswerLever& card) { return card.edit == edit; });
    return static_cast<size_t>(at - shown.begin());
  };
  std::vector<AnswerTogether> sets;
  for (const TogetherGain& together : tried->together) {
    AnswerTogether set{.levers = {},
                       .gain_ns = together.gain.run_ns,
                       .between = between_words(together.gain, *tried)};
    for (const size_t lever : together.levers) set.levers.push_back(place_of(lever));
    std::sort(set.levers.begin(), set.levers.end());
    if (set.levers.back() < shown.size()) sets.push_back(std::move(set));
  }
  return sets;
}

std::string factor_words(const EditRequest& request) {
  if (request.kind == EditKind::kFasterCpu)
    return fmt::format("{:.3g} times as fast", request.factor);
  return request.factor == 0 ? "no time at all" : format_share(request.factor) + " of the time";
}

// Gains of an action at other scale factors.
std::vector<AnswerPoint> points_of(const WhatIf* tried, const AnswerLever& card) {
  std::vector<AnswerPoint> points;
  if (tried == nullptr) return points;
  for (const TriedLever& lever : tried->levers) {
    if (edit_text(lever.edit.request) != card.edit) continue;
    for (const GainAt& point : lever.points) {
      points.push_back({.edit = edit_text(point.request),
                        .words = factor_words(point.request),
                        .gain_ns = point.gain.run_ns,
                        .grade = std::string(findings::gain_grade(point.predicted)),
                        .between = between_words(point.gain, *tried)});
    }
  }
  return points;
}

// Adds the interval of the gain; not every action was simulated.
void add_between(const WhatIf* tried, AnswerLever& card) {
  if (tried == nullptr || !tried->reach) return;
  card.between = "no interval is known";
  for (const TriedLever& lever : tried->levers) {
    if (edit_text(lever.edit.request) != card.edit) continue;
    card.between = between_words(lever.alone, *tried);
    card.gain_reach = {lever.alone.run_low_ns, lever.alone.run_high_ns};
    return;
  }
}

// Caveat keys of docs/metrics.md; data losses are in the import log instead.
const char* caveat_key(Code code) {
  switch (code) {
    case Code::kConfidenceClockSkew:
    case Code::kConfidenceClockSkewLate:
      return "clocks_apart";
    case Code::kConfidenceNone:
    case Code::kConfidenceNoHostEvents:
    case Code::kConfidenceNoHostRows:
    case Code::kConfidenceUnexplained:
      return "undecided";
    case Code::kConfidenceReplayError:
    case Code::kConfidenceUnexplainedPath:
      return "replay_refused";
    case Code::kConfidenceUnattributedHost:
      return "host_unnamed";
    case Code::kConfidenceUnlinked:
      return "launches_missing";
    case Code::kConfidenceProfilerOverhead:
      return "recording_cost";
    case Code::kConfidenceBorderline:
      return "borderline";
    case Code::kConfidenceInferred:
      return "inferred";
    case Code::kConfidenceReplayOff:
      return "replay_off";
    case Code::kConfidenceOneIteration:
    case Code::kConfidenceTwoIterations:
      return "few_iterations";
    default:
      return nullptr;
  }
}

}  // namespace

TrustNotes caveat_notes(const Diagnosis& diagnosis) {
  NoteList notes;
  for (const Finding& caveat : diagnosis.caveats) {
    const char* key = caveat_key(caveat.code);
    if (key == nullptr) continue;
    notes.add(key, 1, findings::stake_ns(caveat), "verdict,gain_ns", text::message(caveat));
  }
  return notes.take();
}

std::vector<std::string> flow_words(const Diagnosis& diagnosis) {
  std::vector<std::string> sentences = {text::message(diagnosis.headline)};
  for (const Finding& detail : diagnosis.details) sentences.push_back(text::message(detail));
  return sentences;
}

std::vector<Lever> flow_levers(const Diagnosis& diagnosis) {
  std::vector<Lever> levers;
  for (const Action& action : diagnosis.actions) {
    levers.push_back({.key = std::string(action.key),
                      .what = text::message(action.title, kTitleColumns),
                      .edit = action.edit,
                      .gain_ns = action.gain_ns,
                      .share_of_window = action.share,
                      .predicted = action.predicted,
                      .basis = std::string(action.basis),
                      .at_most_ns = action.gain_ns});
  }
  return levers;
}

std::vector<AnswerCause> answer_causes(const FlowTotals& total, const CommSplit& comm,
                                       int64_t page_moves_ns) {
  std::vector<AnswerCause> causes = {{"comm_wait", comm.wait_ns},
                                     {"transfer", comm.transfer_ns},
                                     {"collective", comm.unsplit_ns},
                                     {"copy", total.copy_ns},
                                     {"migration", page_moves_ns}};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    const auto cause = static_cast<FlowCause>(c);
    const int64_t named_ns = cause == FlowCause::kHostGap ? page_moves_ns : 0;
    causes.push_back({std::string(flow_cause_name(cause)), total.cause_ns[c] - named_ns});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const AnswerCause& a, const AnswerCause& b) { return a.ns > b.ns; });
  std::erase_if(causes, [](const AnswerCause& cause) { return cause.ns == 0; });
  causes.insert(causes.begin(), {"compute", total.compute_ns});
  return causes;
}

// Sums GPU activities with equal short names, such as instances of a template.
std::vector<AnswerKernel> longest_kernels(const FlowAnswer& answer) {
  constexpr size_t kMost = 10;
  std::vector<AnswerKernel> kernels;
  std::map<std::string, size_t> places;
  for (const NamedWork& work : answer.verdict.work) {
    std::string name = describe_kernel(answer.trace.text(work.name));
    const auto [place, is_new] = places.try_emplace(name, kernels.size());
    if (is_new) {
      const bool kernel = work.kind == WorkKind::kCompute || work.kind == WorkKind::kCollective;
      kernels.push_back({std::move(name),
                         std::string(kernel ? kernel_kind_name(answer.report.kernels->of(work.name).kind)
                                            : work.kind == WorkKind::kFill ? "fill" : "copy"),
                         0, 0});
    }
    kernels[place->second].ns += work.ns;
    kernels[place->second].count += work.count;
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const AnswerKernel& a, const AnswerKernel& b) { return a.ns > b.ns; });
  if (kernels.size() > kMost) kernels.resize(kMost);
  return kernels;
}

ShortAnswer short_answer(const FlowAnswer& answer, const Diagnosis& diagnosis) {
  constexpr size_t kShown = 3;
  const FlowVerdict& verdict = answer.verdict;
  ShortAnswer card;
  card.kind = std::string(bound_by_word(verdict.bound));
  add_findings(diagnosis, card);
  card.verdict = opening(diagnosis);
  for (const Finding& detail : diagnosis.details) {
    if (has_own_line(detail.code)) card.more.push_back(text::message(detail));
  }
  card.window_ns = answer.report.window_ns();
  card.total_ns = answer.report.total.window_ns;
  const bool little = verdict.bound == BoundBy::kTooLittle || verdict.bound == BoundBy::kNoGpu;
  if (!little) {
    const FlowTotals& total = answer.report.total;
    card.causes = answer_causes(total, {.unsplit_ns = total.collective_ns},
                                idle_in_page_moves_ns(answer.report));
  }
  for (const Action& action : diagnosis.actions) {
    // Faster kernels help if the GPU is the bottleneck; else they follow the action on the
    // bottleneck.
    const bool beside = action.key == "device_work" && verdict.bound != BoundBy::kGpu;
    if (card.levers.size() == kShown || (beside && card.levers.empty())) continue;
    card.levers.push_back(card_of(action));
  }
  for (AnswerLever& lever : card.levers) {
    lever.points = points_of(answer.tried, lever);
    add_between(answer.tried, lever);
  }
  card.together = sets_of(answer.tried, card.levers);
  for (const Finding& note : diagnosis.notes) card.notes.push_back(note_of(note));
  card.kernels = longest_kernels(answer);
  card.confidence = diagnosis.confidence;
  card.reason = reason_of(diagnosis);
  // The reason for a rank's waits in collectives is visible only in the other ranks.
  const bool job = !little && answer.report.total.exposes_collectives();
  if (job) card.next.push_back("assay DIR (all ranks)");
  if (!little) card.next.push_back("assay FILE -o report.html");
  if (!job) card.next.push_back("assay explain " + explain_word(verdict));
  card.next.push_back("assay FILE --full");
  card.spans = diagnosis.headline.spans;
  return card;
}

RankOfAnswer rank_of_answer(const FlowAnswer& answer, const findings::Diagnosis& diagnosis) {
  constexpr size_t kBins = 512;
  const FlowReport& report = answer.report;
  RankOfAnswer rank;
  rank.file = answer.trace.source;
  rank.total = report.total;
  rank.bound = answer.verdict.bound;
  rank.window = report.window;
  for (const findings::Action& action : diagnosis.actions) rank.levers.push_back(card_of(action));
  for (const Finding& detail : diagnosis.details) {
    if (is_serving(detail.code)) rank.serving.push_back(text::message(detail));
  }
  for (const Contributor& contributor : report.contributors) {
    const auto& pauses_in = answer.verdict.pauses.who;
    const bool paused =
        pauses_in && !contributor.name && !pauses_in->name && contributor.cause == pauses_in->cause;
    rank.idle.push_back({contributor.cause,
                         paused ? pause_name(answer) : contributor_name(answer.trace, contributor),
                         contributor.ns});
  }
  const Interval window = report.window;
  const double bin_ns = static_cast<double>(window.end_ns - window.start_ns) / kBins;
  if (bin_ns <= 0) return rank;
  std::vector<std::array<double, 3>> sums(kBins);
  const auto add = [&](Interval span, size_t state) {
    const double from =
        static_cast<double>(std::max(span.start_ns, window.start_ns) - window.start_ns);
    const double to = static_cast<double>(std::min(span.end_ns, window.end_ns) - window.start_ns);
    for (auto bin = static_cast<size_t>(std::max(from, 0.0) / bin_ns); bin < kBins; ++bin) {
      const double begin = static_cast<double>(bin) * bin_ns;
      if (begin >= to) break;
      sums[bin][state] += std::min(to, begin + bin_ns) - std::max(from, begin);
    }
  };
  for (const DeviceFlow& device : report.devices) {
    for (const Interval& span : device.compute) add(span, 0);
    for (const Interval& span : device.copy) add(span, 0);
    for (const FlowSlice& slice : device.idle) add(slice.span, 1);
    for (const Interval& span : device.collective) add(span, 2);
  }
  const double whole_ns = bin_ns * static_cast<double>(report.devices.size());
  rank.bins.resize(kBins);
  for (size_t bin = 0; bin < kBins; ++bin) {
    for (size_t state = 0; state < 3; ++state) {
      const double share_of = std::clamp(sums[bin][state] / whole_ns, 0.0, 1.0);
      rank.bins[bin][state] = static_cast<uint8_t>(std::lround(share_of * 255));
    }
  }
  return rank;
}

}  // namespace assay
