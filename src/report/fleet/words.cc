#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "report/document/text.h"
#include "report/document/units.h"
#include "report/fleet/fleet.h"
#include "report/fleet/rows.h"
#include "report/flow/answer.h"

namespace assay {

std::string fleet_finding_name(const FleetJob& job, const FleetFinding& one) {
  const std::string set =
      fmt::format("{} {}", one.set_kind, shorten_middle(clean_text(one.set_name), 40));
  switch (one.kind) {
    case FindingKind::kRank:
    case FindingKind::kPauses:
      return fmt::format("rank {}", job.ranks[one.ranks.front()].number);
    case FindingKind::kSet:
      return set;
    case FindingKind::kLinks:
      return fmt::format("{}'s links", set);
  }
  return "";
}

namespace {

constexpr size_t kNamed = 4;
constexpr double kWorthTelling = 0.05;  // of the span

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

std::string pauses_text(const FleetFinding& one) {
  if (one.hits == 0)
    return fmt::format("held up now and then, own work {} longer by it", format_share(one.score));
  const std::string longest = format_share(one.score);
  if (one.every == 1) return fmt::format("pauses, up to {} of an iteration", longest);
  if (one.every > 1) {
    return fmt::format("pauses every {} iterations, up to {} of one", one.every, longest);
  }
  return fmt::format("pauses in {}, up to {} of one",
                     format_counted(one.hits, "iteration", "iterations"), longest);
}

// The largest part of its excess, in words.
std::string where_text(const ExcessSplit& excess) {
  const int64_t half_ns = excess.total_ns() / 2;
  if (excess.total_ns() == 0) return "";
  if (excess.kernel_ns > half_ns) return "its kernels take longer";
  if (excess.launch_ns > half_ns) return "in launch overhead";
  if (excess.copy_ns > half_ns) return "in copies";
  return "idle between kernels";
}

std::string how_slow(const FleetFinding& one) {
  if (one.kind == FindingKind::kPauses) return pauses_text(one);
  if (one.kind == FindingKind::kLinks) {
    return fmt::format("transfers take {} longer", format_share(one.score));
  }
  return fmt::format("own work {} above usual", format_share(one.score));
}

std::string cause_text(const FleetFinding& one) {
  if (one.kind == FindingKind::kLinks) return "";
  std::string text = where_text(one.excess);
  if (one.excess.kernel_ns * 2 <= one.excess.total_ns() && one.cause) {
    text += fmt::format(" ({})", answer_word(std::string(flow_cause_name(*one.cause))));
  }
  return text;
}

class Words {
 public:
  explicit Words(const FleetView& view) : view_(view), job_(view.job), found_(view.found) {}

  std::vector<std::string> all() const {
    std::vector<std::string> words = {first()};
    for (std::string text : {missing(), hidden(), few()}) {
      if (!text.empty()) words.push_back(std::move(text));
    }
    return words;
  }

  std::string first() const {
    const std::string ranks = format_counted(job_.ranks.size(), "rank", "ranks");
    if (job_.counts.matched == 0) {
      return fmt::format("No collective of {} is matched: who waits for whom is not known.", ranks);
    }
    if (!found_.replayed) {
      return fmt::format(
          "The replay of {} misses {} of the span: what a slow rank costs is not told.", ranks,
          format_share(found_.residual));
    }
    if (found_.few_peers == job_.ranks.size()) {
      return fmt::format(
          "{}: fewer than eight do the same work, too few to tell a slow one by comparison. assay "
          "DIR "
          "replays the whole graph of so few.",
          ranks);
    }
    if (found_.worst.empty()) {
      const std::string none =
          fmt::format("Of {} none is slower than its like, and no link is", ranks);
      if (rest_share() < kWorthTelling) return none + ": nothing stands out.";
      return none + fmt::format(
                        ". But own work varies on all: with nobody's above usual the job would "
                        "take {} less.",
                        format_share(rest_share()));
    }
    const double saved = share(found_.saved_by_worst_ns, found_.span_ns);
    return fmt::format(
        "Without {} the job would take {} less: {} an iteration, {} GPU hours an hour.", names(),
        format_share(saved), format_ns(per_iteration(found_.saved_by_worst_ns)),
        number_text(saved * static_cast<double>(job_.world_size)));
  }

  // "rank 77, node n20 and 2 others"
  std::string names() const {
    std::string text;
    const size_t count = found_.worst.size() + found_.more;
    const size_t shown = count <= kNamed ? count : kNamed - 1;
    for (size_t k = 0; k < shown && k < found_.worst.size(); ++k) {
      const bool last = k + 1 == count;
      const FleetFinding& one = found_.worst[k];
      text += k == 0 ? "" : last ? " and " : ", ";
      text += fleet_finding_name(job_, one);
      if (one.kind == FindingKind::kPauses) text += "'s pauses";
    }
    if (shown < count) text += fmt::format(" and {} others", count - shown);
    return text;
  }

  std::string missing() const {
    std::string text;
    if (job_.absent_count > 0) {
      text = fmt::format("{} of {} ranks have no record: {}.",
                         format_count(static_cast<int64_t>(job_.absent_count)),
                         format_count(job_.world_size), ranks_text(job_.absent, job_.absent_count));
    }
    const size_t unused = job_.unused.size() + view_.unread.size();
    if (unused == 0) return text;
    const FleetUnused& one = view_.unread.empty() ? job_.unused.front() : view_.unread.front();
    return text +
           fmt::format(
               "{}{}: {}: {}.", text.empty() ? "" : " ",
               format_counted(unused, "input was not used", "inputs were not used, the first"),
               shorten_middle(clean_text(one.what), 40), shorten_middle(clean_text(one.why), 60));
  }

  double rest_share() const {
    return share(found_.saved_by_absent_ns + found_.saved_by_rest_ns, found_.span_ns);
  }

  std::string hidden() const {
    if (!found_.replayed || found_.worst.empty() || rest_share() < kWorthTelling) return "";
    return fmt::format(
        "With nobody's own work or transfer above usual the job would take another {} less{}.",
        format_share(rest_share()),
        found_.saved_by_absent_ns > 0 ? ", some of it for meetings with ranks that have no record"
                                      : "");
  }

  std::string few() const {
    if (found_.few_peers == 0 || found_.few_peers == job_.ranks.size()) return "";
    return fmt::format("{} are compared with nobody: fewer than eight ranks do what they do.",
                       format_counted(found_.few_peers, "rank", "ranks"));
  }

  std::string row(const FleetFinding& one) const {
    std::string text = fmt::format("{}: {}", fleet_finding_name(job_, one), how_slow(one));
    const std::string cause = cause_text(one);
    if (!cause.empty()) text += ", " + cause;
    if (!found_.replayed) return text;
    text += fmt::format("; {} an iteration ({})", format_ns(per_iteration(one.saved_ns)),
                        format_share(share(one.saved_ns, found_.span_ns)));
    return text;
  }

  int64_t per_iteration(int64_t ns) const {
    return job_.columns.empty() ? ns : ns / static_cast<int64_t>(job_.columns.size());
  }

 private:
  const FleetView& view_;
  const FleetJob& job_;
  const FleetFindings& found_;
};

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
  if (!view.found.replayed) {
    answer.trust = TrustGrade::kLow;
    answer.reason =
        job.counts.matched == 0
            ? "no sequence numbers, and no iteration in which the ranks' collectives agree"
            : "the recorded times contradict the replay";
    return;
  }
  answer.trust = TrustGrade::kFair;
  answer.reason =
      fmt::format("{} of {} collectives matched, the replay misses {}",
                  format_count(static_cast<int64_t>(job.counts.matched)),
                  format_count(static_cast<int64_t>(parts)), format_share(view.found.residual));
  if (!view.found.clocks.fast.empty()) {
    answer.reason += fmt::format(
        ", {}", format_counted(view.found.clocks.fast.size(), "clock runs off (not blamed)",
                               "clocks run off (not blamed)"));
  }
  if (view.sets.source == SetSource::kGuess) answer.reason += ", nodes are guessed: --hosts FILE";
}

}  // namespace

std::vector<AnswerCause> fleet_parts(const FleetJob& job) {
  const FlowTotals total = totals_of(job);
  return answer_causes(total, {.unsplit_ns = total.collective_ns});
}

std::vector<std::string> fleet_words(const FleetView& view) {
  const Words words(view);
  std::vector<std::string> all = words.all();
  for (const FleetFinding& one : view.found.worst) {
    if (all.size() >= 12) break;
    all.push_back(words.row(one) + ".");
  }
  return all;
}

ShortAnswer fleet_answer(const FleetView& view) {
  constexpr size_t kRows = 5;
  const Words words(view);
  ShortAnswer answer;
  answer.kind = "fleet";
  answer.verdict = {words.first()};
  for (std::string text : {words.missing(), words.hidden()}) {
    if (!text.empty()) answer.verdict.push_back(std::move(text));
  }
  const FlowTotals total = totals_of(view.job);
  answer.window_ns = total.window_ns / static_cast<int64_t>(view.job.ranks.size());
  answer.total_ns = total.window_ns;
  if (total.window_ns > 0) answer.causes = fleet_parts(view.job);
  AnswerNote worst{.head = "worst", .lines = {}};
  for (const FleetFinding& one : view.found.worst) {
    if (worst.lines.size() < kRows) worst.lines.push_back(words.row(one));
  }
  if (!worst.lines.empty()) answer.notes.push_back(std::move(worst));
  add_trust(view, answer);
  answer.next = {"assay fleet DIR -o report.html", "assay fleet DIR --full"};
  return answer;
}

}  // namespace assay
