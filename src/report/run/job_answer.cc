#include "findings/causes.h"
#include "report/run/job_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/files.h"
#include "base/numbers.h"
#include "base/stats.h"
#include "kernels/book.h"
#include "text/message.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "flow/contributor_names.h"
#include "text/names.h"
#include "report/flow/rank_labels.h"
#include "report/run/job_levers.h"

namespace assay {
namespace {

constexpr size_t kShownRanks = 8;
constexpr size_t kShownBesideLevers = 4;
constexpr size_t kMostRanks = 64;
constexpr size_t kStripBins = 512;

int64_t mean_window_ns(const std::vector<RankOfAnswer>& ranks) {
  int64_t sum_ns = 0;
  int64_t windows = 0;
  for (const RankOfAnswer& rank : ranks) {
    if (rank.window.end_ns <= rank.window.start_ns) continue;
    sum_ns += rank.window.end_ns - rank.window.start_ns;
    ++windows;
  }
  return windows == 0 ? 0 : sum_ns / windows;
}

FlowTotals sum_of(const std::vector<RankOfAnswer>& ranks) {
  FlowTotals sum;
  for (const RankOfAnswer& rank : ranks) sum += rank.total;
  return sum;
}

// Resamples a rank's bins to the common time range.
std::vector<RankBin> on_common_time(const RankOfAnswer& rank, Interval all) {
  std::vector<RankBin> bins(kStripBins);
  const double of_all = static_cast<double>(all.end_ns - all.start_ns) / kStripBins;
  const double own = static_cast<double>(rank.window.end_ns - rank.window.start_ns) /
                     static_cast<double>(std::max<size_t>(rank.bins.size(), 1));
  if (of_all <= 0 || own <= 0) return bins;
  for (size_t bin = 0; bin < kStripBins; ++bin) {
    const double middle = static_cast<double>(all.start_ns - rank.window.start_ns) +
                          (static_cast<double>(bin) + 0.5) * of_all;
    const double place = std::floor(middle / own);
    if (place < 0 || place >= static_cast<double>(rank.bins.size())) continue;
    bins[bin] = rank.bins[static_cast<size_t>(place)];
  }
  return bins;
}

// The common time range of all ranks if their clocks are aligned; empty if ranks are far apart.
Interval common_window(const std::vector<RankOfAnswer>& ranks) {
  Interval all{INT64_MAX, INT64_MIN};
  int64_t longest_ns = 0;
  for (const RankOfAnswer& rank : ranks) {
    const Interval own = rank.window;
    if (own.end_ns <= own.start_ns) continue;
    all.start_ns = std::min(all.start_ns, own.start_ns);
    all.end_ns = std::max(all.end_ns, own.end_ns);
    longest_ns = std::max(longest_ns, own.end_ns - own.start_ns);
  }
  const bool one_clock = all.end_ns > all.start_ns && all.end_ns - all.start_ns <= 2 * longest_ns;
  return one_clock ? all : Interval{};
}

std::string kind_words(BoundBy bound) {
  return std::string(findings::find_bottleneck(bound_by_word(bound))->name);
}

// Host activity during this cause; empty if the cause is not on the host.
std::string_view host_activity(FlowCause cause) {
  switch (cause) {
    case FlowCause::kSync:
      return "wait for it in ";
    case FlowCause::kCold:
      return "do what is done once: ";
    case FlowCause::kAlloc:
      return "allocate or free memory in ";
    case FlowCause::kInput:
      return "load data in ";
    case FlowCause::kNothingAsked:
      return "wait for something outside in ";
    case FlowCause::kCall:
    case FlowCause::kDispatch:
    case FlowCause::kPython:
    case FlowCause::kHostGap:
      return "are in ";
    default:
      return "";
  }
}

// Sum of the distances of each rank's time shares from the medians.
std::vector<double> unusualness(const std::vector<RankOfAnswer>& ranks) {
  const auto part_of = [](const FlowTotals& total, size_t part) {
    const int64_t parts[] = {total.compute_ns, total.collective_ns, total.copy_ns, total.idle_ns};
    return total.window_ns > 0 ? share(parts[part], total.window_ns) : 0.0;
  };
  std::vector<double> sums(ranks.size(), 0.0);
  for (size_t part = 0; part < 4; ++part) {
    std::vector<double> shares;
    for (const RankOfAnswer& rank : ranks) shares.push_back(part_of(rank.total, part));
    const double middle = median(shares);
    for (size_t r = 0; r < ranks.size(); ++r) sums[r] += std::abs(shares[r] - middle);
  }
  return sums;
}

class JobAnswer {
 public:
  JobAnswer(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks)
      : flow_(flow), labels_(flow.job), ranks_(ranks), total_(sum_of(ranks)) {
    if (flow.job.aligned()) move_clocks();
    stages_ = mostly_between_two();
  }

  ShortAnswer make() {
    ShortAnswer answer;
    answer.kind = std::string(bound_by_word(flow_.bound));
    answer.findings = findings_of(flow_);
    std::vector<std::string> sentences = text::texts_of(answer.findings);
    const bool blamed = flow_.blame.late || (!sentences.empty() && !flow_.last.ranks.empty());
    sentences.push_back(where_it_went(blamed));
    set_verdict(answer, sentences);
    add_serving(answer);
    answer.window_ns = mean_window_ns(ranks_);
    answer.total_ns = total_.window_ns;
    answer.causes = answer_causes(total_, flow_.totals.comm);
    if (stages_ && flow_.bound == BoundBy::kCollectiveWait && !flow_.blame.late) {
      answer.notes = {{"likely", {who_hands_on()}}};
    } else {
      answer.levers = job_levers(flow_, ranks_);
    }
    if (flow_.bound == BoundBy::kColdStart && answer.levers.empty()) {
      answer.notes = {
          {"record",
           {"Later: one-time initialization is over then, and the rest can be analyzed."}}};
    }
    add_ranks(answer);
    add_trust(answer);
    answer.next = {"assay DIR -o report.html", "assay explain late", "assay DIR --full"};
    return answer;
  }

 private:
  // The first screen shows the serving steps of a single rank; the others have their own.
  void add_serving(ShortAnswer& answer) const {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].serving.empty()) continue;
      std::vector<std::string> sentences = ranks_[r].serving;
      sentences.front() = fmt::format("Rank {}: {}", labels_.label(r), sentences.front());
      answer.more.insert(answer.more.end(), sentences.begin(), sentences.end());
      return;
    }
  }
  // Converts all times to the clock aligned on collectives.
  void move_clocks() {
    const std::vector<int64_t>& offsets = flow_.job.offsets_ns();
    for (size_t r = 0; r < ranks_.size() && r < offsets.size(); ++r) {
      ranks_[r].window.start_ns -= offsets[r];
      ranks_[r].window.end_ns -= offsets[r];
      moved_ns_ = std::max(moved_ns_, std::abs(offsets[r] - offsets[0]));
    }
  }

  // True if most of the exposed communication is sends and receives.
  bool mostly_between_two() const {
    int64_t all_ns = 0;
    int64_t between_ns = 0;
    for (const RankGraph& rank : flow_.job.ranks()) {
      std::vector<std::vector<Interval>> transfers(rank.exposed.size());
      for (size_t p = 0; p < rank.parts.parts.size(); ++p) {
        const CollectivePart& part = rank.parts.parts[p];
        const std::string& kind = rank.parts.groups[part.group].kind;
        if (kind != kSendRecv) continue;
        transfers[rank.part_points[p].device].push_back({part.start_ns, part.end_ns});
      }
      for (size_t d = 0; d < rank.exposed.size(); ++d) {
        all_ns += length_ns(rank.exposed[d]);
        between_ns += length_ns(intersect(rank.exposed[d], merge_intervals(transfers[d])));
      }
    }
    return between_ns * 2 > all_ns;
  }

  bool is_late(size_t place) const {
    const auto& late = flow_.blame.late;
    return late && std::find(late->ranks.begin(), late->ranks.end(), place) != late->ranks.end();
  }

  std::string bound_words() const {
    return stages_ && flow_.bound == BoundBy::kCollectiveWait ? "Bound by sends and receives"
                                                              : kind_words(flow_.bound);
  }

  // blamed: a previous sentence names the stragglers.
  std::string where_it_went(bool blamed) const {
    const CommSplit& comm = flow_.totals.comm;
    const auto part = [this](int64_t ns) { return part_text(ns); };
    const bool told = blamed && flow_.bound == BoundBy::kCollectiveWait;
    const std::string lead = told || flow_.blame.late ? "The " : fmt::format("{}: ", bound_words());
    const std::string communication =
        comm.wait_ns + comm.transfer_ns == 0
            ? fmt::format("are in {} {}", stages_ ? "sends and receives" : "communication",
                          part(comm.unsplit_ns))
            : fmt::format("wait for {} rank {}, transfer {}", stages_ ? "another" : "a late",
                          part(comm.wait_ns), part(comm.transfer_ns));
    const bool unsplit =
        comm.wait_ns + comm.transfer_ns > 0 && comm.unsplit_ns * 100 >= total_.window_ns;
    const std::string rest =
        unsplit ? fmt::format("are in other collectives {}, ", part(comm.unsplit_ns)) : "";
    const std::string copies = total_.copy_ns * 100 >= total_.window_ns
                                   ? fmt::format("only copy {}, ", part(total_.copy_ns))
                                   : "";
    return fmt::format("{}{} ranks compute {}, {}{}, {}idle {} of {} each{}.", lead, ranks_.size(),
                       part(total_.compute_ns), copies, communication, rest, part(total_.idle_ns),
                       format_ns(mean_window_ns(ranks_)), most_of_idle());
  }

  // For ranks that pass data on, in a pipeline or a ring.
  std::string who_hands_on() const {
    constexpr double kFarMore = 1.1;
    const auto order = in_order();
    const auto compute_ns = [this](uint32_t rank) { return ranks_[rank].total.compute_ns; };
    const auto longest = std::max_element(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return compute_ns(a) < compute_ns(b);
    });
    const double mean = static_cast<double>(total_.compute_ns) / static_cast<double>(ranks_.size());
    const double times = static_cast<double>(compute_ns(*longest)) / mean;
    if (mean > 0 && times >= kFarMore) {
      return fmt::format(
          "Rank {} computes {:.2f} times the mean, and the others wait for what it hands on: give "
          "it less, or equal parts to all.",
          labels_.label(*longest), times);
    }
    return "Stages of a pipeline wait for each other: more micro-batches, interleaved or equal "
           "stages.";
  }

  // Idle time by cause and name, summed over all ranks, largest first.
  std::vector<NamedIdle> idle_by_name() const {
    std::map<std::pair<FlowCause, std::string>, int64_t> sums;
    for (const RankOfAnswer& rank : ranks_) {
      for (const NamedIdle& idle : rank.idle) sums[{idle.cause, idle.name}] += idle.ns;
    }
    std::vector<NamedIdle> parts;
    for (const auto& [what, ns] : sums) parts.push_back({what.first, what.second, ns});
    std::stable_sort(parts.begin(), parts.end(),
                     [](const NamedIdle& a, const NamedIdle& b) { return a.ns > b.ns; });
    return parts;
  }

  std::string part_text(int64_t ns) const { return format_share(share(ns, total_.window_ns)); }

  // Causes of the ranks' idle time, as the end of a sentence or as a separate one.
  std::string most_of_idle() const {
    constexpr int64_t kLeastPart = 10;  // at least 1/kLeastPart of the time
    if (total_.idle_ns * kLeastPart < total_.window_ns) return "";
    const std::vector<NamedIdle> parts = idle_by_name();
    if (parts.empty() || parts.front().ns * 2 < total_.idle_ns) return idle_by_cause();
    const NamedIdle& most = parts.front();
    const std::string share_of = " (" + part_text(most.ns) + ")";
    if (most.cause == FlowCause::kHostGap && most.name.empty()) {
      return ". Most of the idle time" + share_of +
             " has no recorded host activity (Python stacks or CPU samples record it)";
    }
    const std::string_view activity = host_activity(most.cause);
    if (activity.empty() || most.name.empty()) return idle_by_cause();
    return fmt::format(". Most of the idle time the hosts {}{}{}{}", activity,
                       fitted(most.name, 48), share_of, next_of_idle(parts));
  }

  // The next largest components, if they are a large part of the rest.
  std::string next_of_idle(const std::vector<NamedIdle>& parts) const {
    constexpr size_t kMostNext = 2;
    constexpr int64_t kLeastPart = 10;  // at least 1/kLeastPart of the idle time
    std::vector<std::string> next;
    for (size_t i = 1; i < parts.size() && next.size() < kMostNext; ++i) {
      if (parts[i].ns * kLeastPart < total_.idle_ns) break;
      const std::string name =
          parts[i].name.empty()
              ? std::string(findings::cause_legend(parts[i].cause))
              : fitted(parts[i].name, 30);
      next.push_back(name + " (" + part_text(parts[i].ns) + ")");
    }
    if (next.empty()) return "";
    return ", then " + next.front() + (next.size() > 1 ? " and " + next.back() : "");
  }

  // By cause, if no name accounts for half of the idle time.
  std::string idle_by_cause() const {
    constexpr size_t kMostCauses = 3;
    constexpr int64_t kLeastPart = 10;  // at least 1/kLeastPart of the idle time
    std::vector<AnswerCause> causes;
    for (size_t c = 0; c < kFlowCauses; ++c) {
      causes.push_back(
          {std::string(flow_cause_name(static_cast<FlowCause>(c))), total_.cause_ns[c]});
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const AnswerCause& a, const AnswerCause& b) { return a.ns > b.ns; });
    std::string text;
    for (size_t i = 0; i < kMostCauses && causes[i].ns * kLeastPart >= total_.idle_ns; ++i) {
      text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", findings::cause_legend(causes[i].key),
                          part_text(causes[i].ns));
    }
    return text;
  }

  // The remark on a rank: its delay, or its time in collectives.
  std::string remark(size_t place) const {
    if (is_late(place)) return "late by " + format_ns(flow_.blame.excess_ns[place]);
    if (flow_.hosts && !flow_.hosts->in_turn && flow_.hosts->rank == place)
      return "holds others up";
    const FlowTotals& total = ranks_[place].total;
    if (total.window_ns == 0) return "no GPU work";
    const CommSplit& comm = flow_.rank_comm[place];
    const bool split = comm.wait_ns + comm.transfer_ns > 0;
    return (split     ? "waits "
            : stages_ ? "sends, receives "
                      : "collectives ") +
           format_share(share(split ? comm.wait_ns : comm.unsplit_ns, total.window_ns));
  }

  // Indices of the ranks in list order.
  std::vector<uint32_t> in_order() const {
    std::vector<uint32_t> order(ranks_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [this](uint32_t a, uint32_t b) { return labels_.before(a, b); });
    return order;
  }

  // If there are many ranks: the four latest, then those with the longest time in collectives.
  std::vector<uint32_t> shown(size_t most) const {
    std::vector<uint32_t> order = in_order();
    if (order.size() <= most) return order;
    const auto lateness = [this](size_t place) -> int64_t {
      if (is_late(place)) return std::max<int64_t>(flow_.blame.excess_ns[place], 1);
      const auto& last = flow_.last.ranks;
      return std::find(last.begin(), last.end(), place) != last.end() ? 1 : 0;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return lateness(a) > lateness(b); });
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(most / 2), order.end(),
                     [&](uint32_t a, uint32_t b) {
                       return ranks_[a].total.collective_ns > ranks_[b].total.collective_ns;
                     });
    order.resize(most);
    std::sort(order.begin(), order.end(),
              [this](uint32_t a, uint32_t b) { return labels_.before(a, b); });
    return order;
  }

  void add_ranks(ShortAnswer& answer) const {
    const Interval all = common_window(ranks_);
    const auto on_screen = shown(answer.levers.empty() ? kShownRanks : kShownBesideLevers);
    answer.strip_ns = all.end_ns - all.start_ns;
    for (const uint32_t place : in_order()) {
      const bool is_shown = std::find(on_screen.begin(), on_screen.end(), place) != on_screen.end();
      if (!is_shown && answer.ranks.size() >= kMostRanks) continue;
      const RankOfAnswer& rank = ranks_[place];
      answer.ranks.push_back({"rank " + labels_.label(place),
                              all.end_ns > all.start_ns ? on_common_time(rank, all) : rank.bins,
                              remark(place), is_shown});
    }
    answer.more_ranks = ranks_.size() - on_screen.size();
  }

  // Adds a note on the collectives that the straggler analysis uses.
  void add_trust(ShortAnswer& answer) const {
    const Job& job = flow_.job;
    const uint64_t matched = job.meetings().size();
    if (!job.aligned() && flow_.hosts) {
      answer.confidence = findings::Confidence::kMedium;
      answer.reason =
          "no collective on the GPUs is matched; clocks by what all hosts leave together";
      return;
    }
    if (!job.aligned()) {
      answer.confidence = findings::Confidence::kLow;
      answer.reason =
          matched == 0
              ? fmt::format("no {} is matched over the ranks: who waits for whom is not known",
                            stages_ ? "send or receive" : "collective")
              : "the ranks' clocks could not be brought together: who waits for whom is not known";
      return;
    }
    // The ranks without a file may be the ones that the others wait for.
    const int64_t world = world_size(job);
    const bool few = std::cmp_less(2 * ranks_.size(), world);
    answer.confidence = few ? findings::Confidence::kLow : findings::Confidence::kMedium;
    if (few) answer.reason = fmt::format("{} of {} ranks are here, ", ranks_.size(), world);
    answer.reason += fmt::format("{} of {} collectives matched", matched, matched + job.unmatched());
    if (moved_ns_ > job.clock_residual_ns()) {
      answer.reason += ", clocks moved by up to " + format_ns(moved_ns_);
    }
    if (job.clock_residual_ns() > 0) {
      answer.reason += ", clocks agree to " + format_ns(job.clock_residual_ns());
    } else if (moved_ns_ == 0) {
      answer.reason += ", clocks as recorded";
    }
  }

  const JobFlow& flow_;
  const RankLabels labels_;
  std::vector<RankOfAnswer> ranks_;
  FlowTotals total_;
  int64_t moved_ns_ = 0;
  bool stages_ = false;
};

}  // namespace

std::vector<size_t> telling_order(const std::vector<RankOfAnswer>& ranks,
                                  const std::vector<size_t>& late) {
  const std::vector<double> unusual = unusualness(ranks);
  std::vector<size_t> order = late;
  std::vector<size_t> rest;
  for (size_t r = 0; r < ranks.size(); ++r) {
    if (std::find(late.begin(), late.end(), r) == late.end()) rest.push_back(r);
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [&](size_t a, size_t b) { return unusual[a] > unusual[b]; });
  if (!rest.empty()) {
    order.push_back(rest.back());
    rest.pop_back();
  }
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

ShortAnswer job_answer(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks) {
  return JobAnswer(flow, ranks).make();
}

ShortAnswer side_by_side_answer(const std::vector<RankOfAnswer>& traces) {
  ShortAnswer answer;
  const FlowTotals total = sum_of(traces);
  answer.kind = "several";
  answer.verdict = {
      fmt::format("{} traces that are not one job: each is analyzed separately.", traces.size())};
  answer.window_ns = mean_window_ns(traces);
  answer.total_ns = total.window_ns;
  if (total.window_ns > 0)
    answer.causes = answer_causes(total, {.unsplit_ns = total.collective_ns});
  for (const RankOfAnswer& trace : traces) {
    if (answer.ranks.size() == kShownRanks) break;
    const FlowTotals& own = trace.total;
    const std::string idle =
        own.window_ns == 0
            ? ""
            : fmt::format(", idle {}", format_share(share(own.idle_ns, own.window_ns)));
    answer.ranks.push_back({shorten_middle(clean_text(file_name(trace.file)), 24), trace.bins,
                            kind_words(trace.bound) + idle});
  }
  answer.more_ranks = traces.size() - answer.ranks.size();
  answer.confidence = findings::Confidence::kMedium;
  answer.reason = "each file has its own: assay FILE";
  answer.next = {"assay FILE", "assay diff FILE FILE", "assay FILES --full"};
  return answer;
}

}  // namespace assay
