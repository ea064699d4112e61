#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "report/flow/answer.h"
#include "report/job/job.h"
#include "report/job/rows.h"
#include "report/job/story.h"
#include "text/message.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {

std::string fleet_finding_name(const FleetJob& job, const FleetFinding& one) {
  std::string set =
      fmt::format("{} {}", one.set_kind, shorten_middle(clean_text(one.set_name), 40));
  switch (one.kind) {
    case FindingKind::kRank:
    case FindingKind::kPauses:
      if (!one.set_kind.empty()) return set;
      return fmt::format("rank {}", job.ranks[one.ranks.front()].number);
    case FindingKind::kSet:
      return set;
    case FindingKind::kLinks:
      return fmt::format("{}'s links", set);
    case FindingKind::kAll:
      return fmt::format("the stop of all ranks in iteration {}", one.first_hit);
  }
  return "";
}

namespace {

using findings::Code;
using findings::Finding;

constexpr double kWorthTelling = 0.05;  // share of the span that is worth reporting

// "ranks 3, 17 and 5 more"
std::string ranks_text(const std::vector<int64_t>& ranks, uint64_t all) {
  std::string text;
  const size_t shown = std::min<size_t>(ranks.size(), 6);
  for (size_t k = 0; k < shown; ++k) {
    text += fmt::format("{}{}", k == 0 ? "" : ", ", ranks[k]);
  }
  if (all > shown)
    text += fmt::format(" and {} more", format_count(static_cast<int64_t>(all - shown)));
  return text;
}

std::string how_slow(const FleetFinding& one) {
  const std::string how_much = format_share(one.score);
  if (one.kind == FindingKind::kLinks) return fmt::format("transfers take {} longer", how_much);
  if (one.kind != FindingKind::kPauses)
    return fmt::format("local compute {} above typical", how_much);
  return fmt::format("stalls in {}, up to {} of one",
                     one.hits == 0 ? std::string("all iterations")
                                   : format_counted(one.hits, "iteration", "iterations"),
                     how_much);
}

// The larger component of the excess, in words.
std::string where_text(const FleetFinding& one) {
  if (one.kernel_excess_ns > one.other_excess_ns) return ", its kernels take longer";
  return one.other_excess_ns > 0 ? ", idle between kernels" : "";
}

// The diagnosis of the job and its limits, in the order of the screen.
class RecordFindings {
 public:
  explicit RecordFindings(const FleetView& view)
      : view_(view), job_(view.job), found_(view.found) {}

  std::vector<Finding> all() {
    if (job_.counts.matched == 0) {
      add(Code::kJobUnmatched).count("ranks", job_.ranks.size());
    } else {
      all_ = findings::job_findings(facts());
    }
    if (job_.beyond_world > 0) {
      add(Code::kJobRanksAboveWorld)
          .count("stated", static_cast<uint64_t>(job_.told_world_size))
          .count("highest", static_cast<uint64_t>(job_.ranks.back().number));
    }
    if (job_.absent_count > 0) add_absent();
    add_unused();
    add_short();
    if (found_.iterations < job_.columns.size()) {
      add(Code::kJobComparedIterations)
          .count("compared", found_.iterations)
          .count("iterations", job_.columns.size());
    }
    add_rest();
    const uint64_t alone = found_.solution.uncompared;
    if (alone > 0 && alone < job_.ranks.size()) {
      add(Code::kJobWithoutPeers).count("ranks", alone);
    }
    return std::move(all_);
  }

 private:
  Finding& add(Code code) {
    all_.push_back({.code = code, .window = window()});
    return all_.back();
  }

  findings::FindingWindow window() const {
    const auto ranks = static_cast<int64_t>(job_.ranks.size());
    return {.span = {}, .window_ns = found_.span_ns(), .total_ns = ranks * found_.span_ns(), .devices = ranks};
  }

  findings::JobFacts facts() const {
    findings::JobFacts facts;
    facts.window = window();
    facts.ranks = job_.ranks.size();
    facts.aligned = facts.judged = true;
    facts.comparable = found_.solution.uncompared < job_.ranks.size();
    add_solution(
        found_.solution, [this](const auto& ranks) { return named(ranks); }, facts);
    return facts;
  }

  findings::JobRanks named(const std::vector<uint32_t>& ranks) const {
    findings::JobRanks named;
    for (const uint32_t rank : ranks) {
      named.labels.push_back(std::to_string(job_.ranks[rank].number));
    }
    for (const FleetFinding& one : found_.worst) {
      if (one.kind != FindingKind::kSet || one.ranks != ranks) continue;
      named.set = fmt::format("{} {}", one.set_kind, shorten_middle(clean_text(one.set_name), 40));
    }
    return named;
  }

  void add_absent() {
    Finding& finding = add(Code::kJobNoRecord);
    finding.count("absent", job_.absent_count)
        .count("world", static_cast<uint64_t>(job_.world_size))
        .text("which", ranks_text(job_.absent, job_.absent_count));
    if (found_.solution.saves_a_range()) finding.count("range", 1);
  }

  void add_unused() {
    const size_t unused = job_.unused.size() + view_.unread.size();
    if (unused == 0) return;
    const FleetUnused& one = view_.unread.empty() ? job_.unused.front() : view_.unread.front();
    add(Code::kJobUnusedInputs)
        .count("inputs", unused)
        .text("file", shorten_middle(clean_text(one.what), 40))
        .text("why", shorten_middle(clean_text(one.why), 60));
  }

  // Ranks without some of the others' iterations: killed, or profiled for a shorter time.
  void add_short() {
    if (found_.short_ranks.empty()) return;
    const FleetShortRank& first = found_.short_ranks.front();
    const bool many = found_.short_ranks.size() > 1;
    Finding& finding = add(many ? Code::kJobManyFewerIterations : Code::kJobFewerIterations);
    if (many) finding.count("count", found_.short_ranks.size());
    finding.ranks("ranks", {std::to_string(job_.ranks[first.rank].number)})
        .count("own", first.iterations)
        .count("usual", found_.usual_iterations);
  }

  // Time above typical on no rank in particular.
  void add_rest() {
    const int64_t rest_ns = found_.solution.absent_ns + found_.saved_by_rest_ns;
    const double rest = share(rest_ns, found_.span_ns());
    if (found_.worst.empty() || rest < kWorthTelling) return;
    Finding& finding = add(Code::kJobRestGain);
    finding.fraction("rest", rest);
    if (found_.solution.absent_ns > 0) finding.count("absent", 1);
  }

  const FleetView& view_;
  const FleetJob& job_;
  const FleetFindings& found_;
  std::vector<Finding> all_;
};

std::string row_text(const FleetView& view, const FleetFinding& one) {
  const FleetFindings& found = view.found;
  const int64_t each_ns =
      found.iterations == 0 ? one.saved_ns : one.saved_ns / static_cast<int64_t>(found.iterations);
  return fmt::format("{}: {}{}; {}{} an iteration ({})", fleet_finding_name(view.job, one),
                     how_slow(one), where_text(one), found.solution.saves_a_range() ? "up to " : "",
                     format_ns(each_ns), format_share(share(one.saved_ns, found.span_ns())));
}

FlowTotals totals_of(const FleetJob& job) {
  FlowTotals total;
  for (const FleetRank& rank : job.ranks) {
    const RecordCauses& own = rank.causes;
    total.window_ns += own.window_ns;
    total.compute_ns += own.compute_ns;
    total.collective_ns += own.collective_ns;
    total.copy_ns += own.copy_ns;
    for (size_t c = 0; c < kFlowCauses; ++c) {
      total.cause_ns[c] += own.idle_ns[c];
      total.idle_ns += own.idle_ns[c];
    }
  }
  return total;
}

void add_trust(const FleetView& view, ShortAnswer& answer) {
  const FleetJob& job = view.job;
  const uint64_t parts = job.counts.matched + job.counts.unmatched;
  if (job.counts.matched == 0) {
    answer.confidence = findings::Confidence::kLow;
    answer.reason =
        "no sequence numbers, and no iteration in which the ranks' collectives agree";
    return;
  }
  // The ranks without a record may be the ones that the others wait for.
  const bool few = std::cmp_less(2 * job.ranks.size(), job.world_size);
  answer.confidence = few ? findings::Confidence::kLow : findings::Confidence::kMedium;
  if (few) answer.reason = fmt::format("{} of {} ranks are here, ",
                                        format_count(static_cast<int64_t>(job.ranks.size())),
                                        format_count(job.world_size));
  answer.reason += fmt::format("{} of {} collectives matched",
                               format_count(static_cast<int64_t>(job.counts.matched)),
                               format_count(static_cast<int64_t>(parts)));
  if (!view.found.clocks.fast.empty()) {
    answer.reason += fmt::format(
        ", {}", format_counted(view.found.clocks.fast.size(), "clock runs off (not blamed)",
                               "clocks run off (not blamed)"));
  }
  if (view.sets.odd_hosts == OddHosts::kOneForAll) answer.reason += ", all ranks state one host";
  if (view.sets.odd_hosts == OddHosts::kOneEach) answer.reason += ", each rank states another host";
  if (view.sets.source == SetSource::kGuess) {
    answer.reason += ", nodes are guessed: --hosts FILE";
  } else if (view.sets.odd_hosts != OddHosts::kNone) {
    answer.reason += ": nodes are not known without --hosts FILE";
  }
}

}  // namespace

std::vector<AnswerCause> fleet_parts(const FleetJob& job) {
  const FlowTotals total = totals_of(job);
  return answer_causes(total, {.unsplit_ns = total.collective_ns});
}

std::vector<std::string> fleet_words(const FleetView& view) {
  std::vector<std::string> all = text::texts_of(RecordFindings(view).all());
  for (const FleetFinding& one : view.found.worst) {
    if (all.size() >= 12) break;
    all.push_back(row_text(view, one) + ".");
  }
  return all;
}

ShortAnswer fleet_answer(const FleetView& view) {
  constexpr size_t kRows = 5;
  ShortAnswer answer;
  answer.kind = "job";
  answer.findings = RecordFindings(view).all();
  for (const Finding& finding : answer.findings) {
    if (finding.code == Code::kJobWithoutPeers) continue;  // with --full
    answer.verdict.push_back(text::message(finding, std::string::npos));
  }
  const FlowTotals total = totals_of(view.job);
  answer.window_ns = total.window_ns / static_cast<int64_t>(view.job.ranks.size());
  answer.total_ns = total.window_ns;
  if (total.window_ns > 0) answer.causes = fleet_parts(view.job);
  AnswerNote worst{.head = "worst", .lines = {}};
  for (const FleetFinding& one : view.found.worst) {
    if (worst.lines.size() < kRows) worst.lines.push_back(row_text(view, one));
  }
  if (!worst.lines.empty()) answer.notes.push_back(std::move(worst));
  add_trust(view, answer);
  answer.next = {"assay job DIR -o report.html", "assay job DIR --full"};
  return answer;
}

}  // namespace assay
