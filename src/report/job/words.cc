#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "findings/causes.h"
#include "report/flow/answer.h"
#include "report/job/job.h"
#include "report/job/rows.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "report/job/job.h"
#include "report/job/rows.h"
#include "report/job/story.h"
#include "report/flow/answer.h"

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

// In some iterations behind each other, and not in the others.
bool slow_for_a_while(const FleetFinding& one) {
  return one.kind == FindingKind::kPauses && one.every == 1;
}

std::string while_text(const FleetFinding& one) {
  return fmt::format("in iterations {} to {}", one.first_hit, one.last_hit);
}

// longest: in iterations.
std::string pauses_text(const FleetFinding& one, double longest_share) {
  if (one.hits == 0)
    return fmt::format("held up now and then, own work {} longer by it", format_share(one.score));
  const std::string longest = format_share(longest_share);
  if (one.every == 1) return fmt::format("slower {}, by up to {} of one", while_text(one), longest);
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
  if (one.kind == FindingKind::kPauses) return pauses_text(one, one.score);
  if (one.kind == FindingKind::kLinks) {
    const std::string longer = format_share(one.score);
    return one.long_only ? fmt::format("long transfers take {} longer, short ones do not", longer)
                         : fmt::format("transfers take {} longer", longer);
  }
  std::string text = fmt::format("own work {} above usual", format_share(one.score));
  if (one.pause > 0) text += ", " + pauses_text(one, one.pause);
  return text;
}

// "2.0 %", or "2.0 to 4.2 %" where the most that it may be is told apart from the least.
template <typename Format>
std::string range_text(double least, double most, const Format& format) {
  std::string low = format(least);
  const std::string high = format(most);
  if (low == high) return low;
  const size_t unit = high.rfind(' ');
  if (unit != std::string::npos && low.ends_with(high.substr(unit))) {
    low.resize(low.size() - (high.size() - unit));
  }
  return fmt::format("{} to {}", low, high);
}

std::string cause_text(const FleetFinding& one) {
  if (one.kind == FindingKind::kLinks) return "";
  std::string text = where_text(one.excess);
  if (one.excess.kernel_ns * 2 <= one.excess.total_ns() && one.cause) {
    text += fmt::format(" ({})", findings::cause_legend(*one.cause));
  }
  return text;
}

class FleetWords {
 public:
  explicit FleetWords(const FleetView& view) : view_(view), job_(view.job), found_(view.found) {}

  std::vector<std::string> all() const {
    std::vector<std::string> words = {first()};
    for (std::string text : {missing(), shorter(), hidden(), few()}) {
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
    if (found_.solution) {
      const std::string told = story_sentence(*found_.solution, [this](const auto& places) {
        return ranks_subject(places);
      });
      if (!told.empty()) return told;
    }
    if (found_.worst.empty()) {
      const std::string none =
          fmt::format("Of {} none is slower than its like, and no link {}is", ranks,
                      job_.counts.not_waiting > 0 ? "of a collective " : "");
      if (rest_share() < kWorthTelling) return none + ": nothing stands out.";
      return none + fmt::format(
                        ". But own work varies on all: with nobody's above usual the job would "
                        "take {} less.",
                        format_share(rest_share()));
    }
    if (found_.saved_by_worst_ns == 0 && hidden_by_absent_ns() == 0) {
      return fmt::format("Of {} none costs the job time: what stands out ({}) nobody waits for.",
                         ranks, names());
    }
    const auto least = static_cast<double>(found_.saved_by_worst_ns);
    const auto most = least + static_cast<double>(hidden_by_absent_ns());
    const auto of_span = [this](double ns) { return ns / static_cast<double>(found_.span_ns); };
    return fmt::format(
        "Without {} the job would take {}{} less: {} an iteration, {} GPU hours an hour.", names(),
        is_least() ? "at least " : "",
        range_text(least, most, [&](double ns) { return format_share(of_span(ns)); }),
        range_text(least, most,
                   [&](double ns) { return format_ns(per_iteration(std::llround(ns))); }),
        range_text(least, most, [&](double ns) {
          return number_text(of_span(ns) * static_cast<double>(job_.world_size));
        }));
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

  // Whether the replay keeps waiting that would go as well: in sends, receives and whatever else a
  // rank may leave early, which are not matched; or because usual is in part what is slow.
  bool is_least() const {
    return job_.counts.not_waiting > 0 ||
           std::any_of(found_.worst.begin(), found_.worst.end(),
                       [](const FleetFinding& one) { return one.at_least; });
  }

  // Parts that waited for ranks that are not seen keep their length in the replay: what these rows
  // cost is at least what it gives, and at most this much more.
  int64_t hidden_by_absent_ns() const {
    constexpr double kCounts = 0.02;  // of what the rows save
    const auto hidden = static_cast<double>(found_.saved_by_absent_ns);
    return hidden >= kCounts * static_cast<double>(found_.saved_by_worst_ns)
               ? found_.saved_by_absent_ns
               : 0;
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
      if (slow_for_a_while(one)) {
        text += " " + while_text(one);
      } else if (one.kind == FindingKind::kPauses) {
        text += "'s pauses";
      }
    }
    if (shown < count) text += fmt::format(" and {} others", count - shown);
    return text;
  }

  std::string missing() const {
    std::string text;
    if (job_.beyond_world > 0) {
      text = fmt::format(
          "Traces tell of {}, and numbers of ranks go up to {}: which are missing is not known.",
          format_counted(static_cast<uint64_t>(job_.told_world_size), "rank", "ranks"),
          format_count(job_.ranks.back().number));
    }
    if (job_.absent_count > 0) {
      text = fmt::format("{} of {} ranks {} no record: {}{}.",
                         format_count(static_cast<int64_t>(job_.absent_count)),
                         format_count(job_.world_size), job_.absent_count == 1 ? "has" : "have",
                         ranks_text(job_.absent, job_.absent_count),
                         hidden_by_absent_ns() > 0 && !found_.worst.empty()
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

  // Ranks whose records lack iterations that the others have: killed, or profiled for less.
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
    const bool least = hidden_by_absent_ns() > 0 || job_.counts.not_waiting > 0 || one.at_least;
    text += fmt::format("; {}{} an iteration ({})", least ? "at least " : "",
                        format_ns(per_iteration(one.saved_ns)),
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
    answer.confidence = findings::Confidence::kLow;
    answer.reason =
        job.counts.matched == 0
            ? "no sequence numbers, and no iteration in which the ranks' collectives agree"
            : "the recorded times contradict the replay";
    return;
  }
  answer.confidence = findings::Confidence::kMedium;
  answer.reason =
      fmt::format("{} of {} collectives matched, the replay misses {}",
                  format_count(static_cast<int64_t>(job.counts.matched)),
                  format_count(static_cast<int64_t>(parts)), format_share(view.found.residual));
  if (job.counts.not_waiting > 0) {
    answer.reason += fmt::format(", {} that ranks may leave early are not",
                                 format_counted(job.counts.not_waiting, "transfer", "transfers"));
  }
  if (!view.found.clocks.fast.empty()) {
    answer.reason += fmt::format(
        ", {}", format_counted(view.found.clocks.fast.size(), "clock runs off (not blamed)",
                               "clocks run off (not blamed)"));
  }
  if (view.sets.odd_hosts == OddHosts::kOneForAll) answer.reason += ", all ranks tell one host";
  if (view.sets.odd_hosts == OddHosts::kOneEach) answer.reason += ", each rank tells another host";
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
  for (std::string text : {words.missing(), words.shorter(), words.hidden()}) {
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
