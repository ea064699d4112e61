#include "report/run/job_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <utility>

#include "base/numbers.h"
#include "report/document/text.h"
#include "report/document/units.h"

namespace assay {
namespace {

constexpr size_t kShownRanks = 8;
constexpr size_t kMostRanks = 64;
// Beside the latest rank those are named that cost at least this share of what it costs.
constexpr double kLateToo = 0.25;
constexpr size_t kLateNamed = 3;
constexpr size_t kStripBins = 512;

std::string short_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

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

// The bins of a rank on the time of all.
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

// The time of all ranks, where their clocks are one; ranks that lie apart have one each.
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

std::vector<AnswerCause> causes_of_all(const FlowTotals& total) {
  std::vector<AnswerCause> causes = {{"collective", total.collective_ns}, {"copy", total.copy_ns}};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    causes.push_back({std::string(flow_cause_name(static_cast<FlowCause>(c))), total.cause_ns[c]});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const AnswerCause& a, const AnswerCause& b) { return a.ns > b.ns; });
  std::erase_if(causes, [](const AnswerCause& cause) { return cause.ns == 0; });
  causes.insert(causes.begin(), {"compute", total.compute_ns});
  return causes;
}

const char* kind_words(BoundBy bound) {
  switch (bound) {
    case BoundBy::kGpu:
      return "GPU-bound";
    case BoundBy::kHost:
      return "Host-bound";
    case BoundBy::kInput:
      return "Starved for input";
    case BoundBy::kSync:
      return "Sync-bound";
    case BoundBy::kAlloc:
      return "Allocation-bound";
    case BoundBy::kColdStart:
      return "Cold start";
    case BoundBy::kCollectiveWait:
    case BoundBy::kCommunication:
      return "Bound by communication";
    case BoundBy::kCopy:
      return "Copy-bound";
    case BoundBy::kNotLoaded:
      return "Not loaded";
    case BoundBy::kTooLittle:
      return "Too little to judge";
    case BoundBy::kNoGpu:
      return "No GPU work";
    case BoundBy::kUnseenWork:
    case BoundBy::kNoHost:
      break;
  }
  return "Undecided";
}

class JobAnswer {
 public:
  JobAnswer(const JobLevels& job, BoundBy bound, const std::vector<RankOfAnswer>& ranks)
      : job_(job), ranks_(ranks), total_(sum_of(ranks)), bound_(bound) {
    for (const Arrivals& one : job.arrivals) {
      if (one.kind.empty() && one.caused_ns > 0 && !clocks_explain(one)) late_.push_back(&one);
    }
    std::stable_sort(late_.begin(), late_.end(), [](const Arrivals* a, const Arrivals* b) {
      return a->caused_ns > b->caused_ns;
    });
  }

  ShortAnswer make() {
    ShortAnswer answer;
    answer.kind = std::string(bound_by_word(bound_));
    answer.verdict = {where_it_went()};
    const std::string who = who_is_late();
    if (!who.empty()) answer.verdict.insert(answer.verdict.begin(), who);
    answer.window_ns = mean_window_ns(ranks_);
    answer.total_ns = total_.window_ns;
    answer.causes = causes_of_all(total_);
    add_ranks(answer);
    add_trust(answer);
    answer.next = {"assay DIR -o report.html", "assay explain late", "assay DIR --full"};
    return answer;
  }

 private:
  // Whether what a GPU is blamed for may be an error of the alignment.
  bool clocks_explain(const Arrivals& one) const {
    const auto times = static_cast<double>(std::max<uint64_t>(one.last, 1));
    return static_cast<double>(one.caused_ns) < job_.alignment.residual_p95_ns * times;
  }

  // Those that cost the others most, the latest first.
  std::vector<const Arrivals*> named_late() const {
    std::vector<const Arrivals*> named;
    for (const Arrivals* one : late_) {
      const bool too = static_cast<double>(one->caused_ns) >=
                       kLateToo * static_cast<double>(late_.front()->caused_ns);
      if (named.size() < kLateNamed && too) named.push_back(one);
    }
    return named;
  }

  std::string place_word(int64_t gpu) const {
    for (const JobGpu& one : job_.gpus) {
      if (one.gpu == gpu && one.rank && *one.rank == gpu) return "rank";
    }
    return "GPU";
  }

  std::string who_is_late() const {
    if (bound_ != BoundBy::kCollectiveWait || late_.empty()) return "";
    const std::vector<const Arrivals*> named = named_late();
    const Arrivals& first = *named.front();
    std::string place = place_word(first.gpu);
    std::string text = fmt::format(
        "{}{} {} makes the others wait most, last at {} of {} collectives",
        place == "rank" ? "R" : "G", place.substr(1), first.gpu, first.last, first.collectives);
    for (size_t i = 1; i < named.size(); ++i) {
      text += fmt::format("{} {} {}", i == 1 ? "; then" : " and", place_word(named[i]->gpu),
                          named[i]->gpu);
    }
    return text + ".";
  }

  std::string where_it_went() const {
    const auto part = [this](int64_t ns) { return format_share(share(ns, total_.window_ns)); };
    if (bound_ == BoundBy::kCollectiveWait && !late_.empty()) {
      return fmt::format("The {} ranks stand in collectives for {} of {}.", ranks_.size(),
                         part(total_.collective_ns), format_ns(mean_window_ns(ranks_)));
    }
    return fmt::format(
        "{}: over {} ranks the GPUs compute for {}, stand in collectives for {} and are idle for "
        "{} of {}.",
        kind_words(bound_), ranks_.size(), part(total_.compute_ns), part(total_.collective_ns),
        part(total_.idle_ns), format_ns(mean_window_ns(ranks_)));
  }

  // The remark of a rank: what its coming late costs, or how long it stands in collectives.
  std::string remark(const RankOfAnswer& rank, int64_t gpu) const {
    const auto named = named_late();
    for (const Arrivals* one : named) {
      if (one->gpu == gpu) return "last by " + format_ns(one->caused_ns);
    }
    const FlowTotals& total = rank.total;
    if (total.window_ns == 0) return "no GPU work";
    return "waits " + format_share(share(total.collective_ns, total.window_ns));
  }

  // Ranks by number where all told one, else as read.
  std::vector<std::pair<int64_t, size_t>> in_order() const {
    std::map<std::string, int64_t> of_file;
    for (const JobGpu& gpu : job_.gpus) of_file.try_emplace(gpu.file, gpu.rank.value_or(gpu.gpu));
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      const auto found = of_file.find(ranks_[i].file);
      order.emplace_back(found == of_file.end() ? static_cast<int64_t>(i) : found->second, i);
    }
    std::stable_sort(order.begin(), order.end());
    return order;
  }

  // Of many ranks the four latest, then those that stand in collectives longest.
  std::vector<std::pair<int64_t, size_t>> shown() const {
    std::vector<std::pair<int64_t, size_t>> order = in_order();
    if (order.size() <= kShownRanks) return order;
    const auto lateness = [this](int64_t gpu) -> int64_t {
      for (size_t i = 0; i < late_.size() && i < kShownRanks / 2; ++i) {
        if (late_[i]->gpu == gpu) return late_[i]->caused_ns;
      }
      return 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      const int64_t late_a = lateness(a.first);
      const int64_t late_b = lateness(b.first);
      if (late_a != late_b) return late_a > late_b;
      return ranks_[a.second].total.collective_ns > ranks_[b.second].total.collective_ns;
    });
    order.resize(kShownRanks);
    std::sort(order.begin(), order.end());
    return order;
  }

  void add_ranks(ShortAnswer& answer) const {
    const Interval all = common_window(ranks_);
    const auto on_screen = shown();
    for (const auto& [number, place] : in_order()) {
      const bool is_shown = std::find(on_screen.begin(), on_screen.end(),
                                      std::pair(number, place)) != on_screen.end();
      if (!is_shown && answer.ranks.size() >= kMostRanks) continue;
      const RankOfAnswer& rank = ranks_[place];
      answer.ranks.push_back({fmt::format("rank {}", number),
                              all.end_ns > all.start_ns ? on_common_time(rank, all) : rank.bins,
                              remark(rank, number), is_shown});
    }
    answer.more_ranks = ranks_.size() - on_screen.size();
  }

  void add_trust(ShortAnswer& answer) const {
    const Alignment& clocks = job_.alignment;
    if (clocks.matched == 0) {
      answer.trust = TrustGrade::kLow;
      answer.reason = "no collective is matched over the ranks: who waits for whom is not known";
      return;
    }
    const uint64_t all = clocks.matched + clocks.unmatched;
    answer.trust = TrustGrade::kFair;
    answer.reason = fmt::format("{} of {} collectives matched", clocks.matched, all);
    if (clocks.used > 0 && std::isfinite(clocks.residual_p95_ns)) {
      answer.reason +=
          ", clocks agree to " + format_ns(std::llround(std::max(1.0, clocks.residual_p95_ns)));
    } else {
      answer.reason += ", clocks as recorded";
    }
  }

  const JobLevels& job_;
  const std::vector<RankOfAnswer>& ranks_;
  FlowTotals total_;
  BoundBy bound_;
  std::vector<const Arrivals*> late_;
};

}  // namespace

ShortAnswer job_answer(const JobLevels& job, BoundBy bound,
                       const std::vector<RankOfAnswer>& ranks) {
  return JobAnswer(job, bound, ranks).make();
}

ShortAnswer side_by_side_answer(const std::vector<RankOfAnswer>& traces) {
  ShortAnswer answer;
  const FlowTotals total = sum_of(traces);
  answer.kind = "several";
  answer.verdict = {
      fmt::format("{} traces that are no one job: each is judged by itself.", traces.size())};
  answer.window_ns = mean_window_ns(traces);
  answer.total_ns = total.window_ns;
  if (total.window_ns > 0) answer.causes = causes_of_all(total);
  for (const RankOfAnswer& trace : traces) {
    if (answer.ranks.size() == kShownRanks) break;
    const FlowTotals& own = trace.total;
    const std::string idle =
        own.window_ns == 0
            ? ""
            : fmt::format(", idle {}", format_share(share(own.idle_ns, own.window_ns)));
    answer.ranks.push_back({shorten_middle(clean_text(short_name(trace.file)), 24), trace.bins,
                            kind_words(trace.bound) + idle});
  }
  answer.more_ranks = traces.size() - answer.ranks.size();
  answer.trust = TrustGrade::kFair;
  answer.reason = "each file has its own: assay FILE";
  answer.next = {"assay FILE", "assay diff FILE FILE", "assay FILES --full"};
  return answer;
}

}  // namespace assay
