#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "report/flow/answer.h"
#include "report/job/job.h"
#include "report/job/rows.h"
#include "report/job/story.h"
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

class FleetWords {
 public:
  explicit FleetWords(const FleetView& view) : view_(view), job_(view.job), found_(view.found) {}

  std::vector<std::string> all() const {
    std::vector<std::string> words = {first()};
    for (std::string text : {missing(), shorter(), left_out(), hidden(), few()}) {
      if (!text.empty()) words.push_back(std::move(text));
    }
    return words;
  }

  std::string first() const {
    const std::string ranks = format_counted(job_.ranks.size(), "rank", "ranks");
    if (job_.counts.matched == 0) {
      return fmt::format("No collective of {} is matched: who waits for whom is not known.", ranks);
    }
    if (found_.solution.uncompared == job_.ranks.size()) {
      return fmt::format("{}: no two do the same work, so that none is compared.", ranks);
    }
    const std::string told = story_sentence(
        found_.solution, [this](const auto& places) { return ranks_subject(places); });
    if (!told.empty()) return told;
    const std::string none = fmt::format("Of {} none is slower than its like, and no link is", ranks);
    if (rest_share() < kWorthTelling) return none + ": nothing stands out.";
    return none + fmt::format(
                      ". But local compute varies on all: with no rank above typical, the job "
                      "would take {} less.",
                      format_share(rest_share()));
  }

  // "Rank 3", "Ranks 0, 1 and 2 more (node n1)"
  std::string ranks_subject(const std::vector<uint32_t>& ranks) const {
    constexpr size_t kMost = 4;
    std::string text = ranks.size() > 1 ? "Ranks " : "Rank ";
    for (size_t k = 0; k < std::min(ranks.size(), kMost); ++k) {
      const bool last = k + 1 == ranks.size();
      text += (k == 0 ? "" : last ? " and " : ", ") + std::to_string(job_.ranks[ranks[k]].number);
    }
    if (ranks.size() > kMost) text += fmt::format(" and {} more", ranks.size() - kMost);
    for (const FleetFinding& one : found_.worst) {
      if (one.kind == FindingKind::kSet && one.ranks == ranks) {
        text += fmt::format(" ({} {})", one.set_kind, shorten_middle(clean_text(one.set_name), 40));
      }
    }
    return text;
  }

  std::string missing() const {
    std::string text;
    if (job_.beyond_world > 0) {
      text = fmt::format(
          "The traces state {}, but rank numbers go up to {}: which are missing is not known.",
          format_counted(static_cast<uint64_t>(job_.told_world_size), "rank", "ranks"),
          format_count(job_.ranks.back().number));
    }
    if (job_.absent_count > 0) {
      text = fmt::format("{} of {} ranks {} no record: {}{}.",
                         format_count(static_cast<int64_t>(job_.absent_count)),
                         format_count(job_.world_size), job_.absent_count == 1 ? "has" : "have",
                         ranks_text(job_.absent, job_.absent_count),
                         found_.solution.saves_a_range()
                             ? "; what waited for them is not known, so that savings are a range"
                             : "");
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

  // Ranks without some of the others' iterations: killed, or profiled for a shorter time.
  std::string shorter() const {
    if (found_.short_ranks.empty()) return "";
    const FleetShortRank& first = found_.short_ranks.front();
    const std::string one =
        fmt::format("rank {} has {} of the others' {} iterations", job_.ranks[first.rank].number,
                    first.iterations, found_.usual_iterations);
    if (found_.short_ranks.size() == 1) return "R" + one.substr(1) + ".";
    return fmt::format("{} ranks recorded fewer iterations than the others: {}, ...",
                       format_count(static_cast<int64_t>(found_.short_ranks.size())), one);
  }

  // Iterations that are excluded from the comparison.
  std::string left_out() const {
    const size_t all = job_.columns.size();
    if (found_.iterations >= all) return "";
    return fmt::format("Compared are the first {} of {}: the others did not fit.",
                       format_count(static_cast<int64_t>(found_.iterations)),
                       format_counted(all, "iteration", "iterations"));
  }

  double rest_share() const {
    return share(found_.solution.absent_ns + found_.saved_by_rest_ns, found_.span_ns());
  }

  std::string hidden() const {
    if (found_.worst.empty() || rest_share() < kWorthTelling) return "";
    return fmt::format(
        "With no local compute or transfer above typical, the job would take another {} less{}.",
        format_share(rest_share()),
        found_.solution.absent_ns > 0
            ? ", some of it for collectives with ranks that have no record"
            : "");
  }

  std::string few() const {
    const uint64_t few = found_.solution.uncompared;
    if (few == 0 || few == job_.ranks.size()) return "";
    return fmt::format("{} without peers: no other rank does the same work.",
                       format_counted(few, "rank", "ranks"));
  }

  std::string row(const FleetFinding& one) const {
    return fmt::format("{}: {}{}; {}{} an iteration ({})", fleet_finding_name(job_, one),
                       how_slow(one), where_text(one),
                       found_.solution.saves_a_range() ? "up to " : "",
                       format_ns(per_iteration(one.saved_ns)),
                       format_share(share(one.saved_ns, found_.span_ns())));
  }

  int64_t per_iteration(int64_t ns) const {
    return found_.iterations == 0 ? ns : ns / static_cast<int64_t>(found_.iterations);
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
  if (job.counts.matched == 0) {
    answer.confidence = findings::Confidence::kLow;
    answer.reason =
        "no sequence numbers, and no iteration in which the ranks' collectives agree";
    return;
  }
  answer.confidence = findings::Confidence::kMedium;
  answer.reason = fmt::format("{} of {} collectives matched",
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
  const FleetWords words(view);
  std::vector<std::string> all = words.all();
  for (const FleetFinding& one : view.found.worst) {
    if (all.size() >= 12) break;
    all.push_back(words.row(one) + ".");
  }
  return all;
}

ShortAnswer fleet_answer(const FleetView& view) {
  constexpr size_t kRows = 5;
  const FleetWords words(view);
  ShortAnswer answer;
  answer.kind = "job";
  answer.verdict = {words.first()};
  for (std::string text : {words.missing(), words.shorter(), words.left_out(), words.hidden()}) {
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
  answer.next = {"assay job DIR -o report.html", "assay job DIR --full"};
  return answer;
}

}  // namespace assay
