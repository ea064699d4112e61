#include "report/flow/job_facts.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "report/flow/rank_labels.h"
#include "report/job/story.h"

namespace assay {
namespace {

using findings::JobHosts;
using findings::JobLast;
using findings::JobRanks;
using findings::JobReason;
using findings::JobTransfers;
using findings::JobWhen;
using findings::JobWhy;

class FactsOfJob {
 public:
  explicit FactsOfJob(const JobFlow& flow)
      : flow_(flow), blame_(flow.blame), ranks_(flow.job.ranks()), labels_(flow.job) {}

  findings::JobFacts make() const {
    findings::JobFacts facts;
    const auto ranks = static_cast<int64_t>(ranks_.size());
    const int64_t total_ns = flow_.totals.sum.window_ns;
    facts.window = {.span = {}, .window_ns = total_ns / std::max<int64_t>(ranks, 1),
                    .total_ns = total_ns,
                    .devices = ranks};
    facts.ranks = ranks_.size();
    facts.world_size = world_size(flow_.job);
    facts.no_gpu = few(without_gpu());
    add_cut_short(facts);
    if (flow_.hosts) facts.hosts = hosts();
    facts.aligned = flow_.job.aligned();
    if (!facts.aligned) return facts;
    facts.comparable = std::any_of(blame_.peers.begin(), blame_.peers.end(),
                                   [](uint32_t peers) { return peers > 0; });
    facts.judged = flow_.judged.has_value();
    if (flow_.judged) {
      add_solution(
          flow_.judged->found.solution,
          [this](const std::vector<uint32_t>& of) { return named(flow_.places(of)); }, facts);
    }
    facts.span_ns = blame_.makespan_ns;
    facts.common_gain_ns = blame_.common_gain_ns;
    facts.slow_network = blame_.network;
    if (blame_.late) add_why(facts);
    add_nobody(facts);
    add_transfers(facts);
    return facts;
  }

 private:
  JobRanks named(const std::vector<uint32_t>& places) const {
    const bool set = blame_.late && blame_.late->ranks == places;
    return {.labels = labels_.labels(places),
            .set = set ? blame_.late->name : std::string(),
            .device = device_apart(flow_.job, places)};
  }

  // The labels, if these are at most half of the ranks: an exception worth a sentence.
  std::vector<std::string> few(const std::vector<uint32_t>& ranks) const {
    return ranks.size() * 2 > ranks_.size() ? std::vector<std::string>() : labels_.labels(ranks);
  }

  std::vector<uint32_t> without_gpu() const {
    std::vector<uint32_t> ranks;
    for (uint32_t r = 0; r < flow_.rank_totals.size(); ++r) {
      if (flow_.rank_totals[r].window_ns == 0) ranks.push_back(r);
    }
    return ranks;
  }

  static std::map<CollectiveGroup, size_t> parts_by_group(const RankParts& parts) {
    std::map<CollectiveGroup, size_t> counts;
    for (const CollectivePart& part : parts.parts) ++counts[parts.groups[part.group]];
    return counts;
  }

  // True if the rank took part in every collective of the groups that it shares with others.
  bool took_all_parts(uint32_t r) const {
    const std::map<CollectiveGroup, size_t> own = parts_by_group(ranks_[r].parts);
    bool shared = false;
    for (uint32_t other = 0; other < ranks_.size(); ++other) {
      if (other == r) continue;
      const std::map<CollectiveGroup, size_t> theirs = parts_by_group(ranks_[other].parts);
      for (const auto& [group, count] : own) {
        const auto found = theirs.find(group);
        if (found == theirs.end()) continue;
        shared = true;
        if (found->second > count) return false;
      }
    }
    return shared;
  }

  // Ranks with events over much less time than others.
  void add_cut_short(findings::JobFacts& facts) const {
    constexpr double kShort = 0.9;
    std::vector<int64_t> spans_ns;
    for (const RankGraph& rank : ranks_) {
      const auto last = std::max_element(rank.time_ns.begin(), rank.time_ns.end());
      spans_ns.push_back(last == rank.time_ns.end() ? 0 : *last - rank.start_ns);
    }
    if (spans_ns.empty()) return;
    facts.longest_ns = *std::max_element(spans_ns.begin(), spans_ns.end());
    facts.cut_ns = facts.longest_ns;
    const double least_ns = kShort * static_cast<double>(facts.longest_ns);
    std::vector<uint32_t> ranks;
    for (uint32_t r = 0; r < spans_ns.size(); ++r) {
      const bool is_short = static_cast<double>(spans_ns[r]) < least_ns;
      if (!is_short || flow_.rank_totals[r].window_ns == 0 || took_all_parts(r)) continue;
      ranks.push_back(r);
      facts.cut_ns = std::min(facts.cut_ns, spans_ns[r]);
    }
    facts.cut_short = few(ranks);
  }

  JobHosts hosts() const {
    const HostsWait& hosts = *flow_.hosts;
    return {.rank = labels_.label(hosts.rank),
            .in_turn = hosts.in_turn,
            .waiting = labels_.labels(hosts.waiting),
            .all = hosts.waiting.size() + 1 == ranks_.size(),
            .times = hosts.times,
            .wait_ns = hosts.wait_ns,
            .call = hosts.in,
            .held = hosts.held,
            .on_device = hosts.on_device};
  }

  void add_nobody(findings::JobFacts& facts) const {
    facts.hosts_stall = !blame_.network && blame_.other_pauses.count > 0 &&
                        blame_.common_gain_ns * 10 >= blame_.makespan_ns;
    if (blame_.uneven) facts.uneven = shown_name(blame_.uneven->what);
    const LastRanks& last = flow_.last;
    const bool alone = std::all_of(last.ranks.begin(), last.ranks.end(),
                                   [&](uint32_t r) { return blame_.peers[r] < last.ranks.size(); });
    if (!last.ranks.empty() && alone && last.behind_ns * 100 >= blame_.makespan_ns) {
      facts.last = {.ranks = named(last.ranks),
                    .times = last.times,
                    .collectives = flow_.job.meetings().size(),
                    .behind_ns = last.behind_ns};
    }
    constexpr int64_t kLeastPart = 10;  // one in so many of the time
    facts.unmatched_lead = facts.world_size > static_cast<int64_t>(ranks_.size()) &&
                           flow_.totals.comm.unsplit_ns * kLeastPart >= flow_.totals.sum.window_ns;
  }

  void add_why(findings::JobFacts& facts) const {
    constexpr size_t kMostReasons = 3;
    std::vector<JobReason> reasons = this->reasons();
    if (reasons.size() > 1 && reasons.size() <= kMostReasons) {
      facts.reasons = std::move(reasons);
      return;
    }
    const bool host = blame_.host_gain_ns >= blame_.device_gain_ns;
    const int64_t gain_ns = host ? blame_.host_gain_ns : blame_.device_gain_ns;
    // Common work explains little: the ranks share little of it, or lose time on both sides.
    if (gain_ns * 4 < blame_.late->gain_ns) return;
    const BlamePart* part = longest_part(host);
    JobWhy why{.ranks = labels_.labels(blame_.late->ranks), .alike = all_alike()};
    if (part != nullptr) why.name = shown_name(part->what);
    const bool stalls = host && blame_.pauses.sum_ns * 2 >= blame_.late->gain_ns;
    why.kind = !host && part != nullptr && part->more ? JobWhy::Kind::kMoreWork
               : !host                                ? JobWhy::Kind::kKernels
               : stalls                               ? JobWhy::Kind::kHostStalls
                                                      : JobWhy::Kind::kHostSlower;
    if (!host) why.when = when();
    if (why.alike && !host && !blame_.when) why.factor = common_factor();
    why.stalls = blame_.pauses.count;
    why.stalls_ns = blame_.pauses.sum_ns;
    facts.why = std::move(why);
  }

  JobWhen when() const {
    if (!blame_.when) return {};
    const BlameSpan& span = *blame_.when;
    const std::string step = "ProfilerStep#" + std::to_string(span.iteration);
    switch (span.kind) {
      case BlameSpan::Kind::kFrom:
        return {.from = step};
      case BlameSpan::Kind::kUntil:
        return {.until = step};
      case BlameSpan::Kind::kFew:
        break;
    }
    if (span.count == 1) return {.only = step};
    return {.first = step, .some = span.count, .iterations = span.of};
  }

  // True if all stragglers are slower in everything that they do.
  bool all_alike() const {
    return !blame_.reasons.empty() &&
           std::all_of(blame_.reasons.begin(), blame_.reasons.end(),
                       [](const BlameReason& reason) { return reason.alike(); });
  }

  // The slowdown factor if it is about the same for all stragglers, else 0.
  double common_factor() const {
    std::vector<double> times;
    for (const BlameReason& reason : blame_.reasons) {
      times.push_back(1 + share(reason.side_ns(), reason.side_usual_ns));
    }
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    return *most - *least > 0.1 * (*most - 1) ? 0 : *least;
  }

  // Stragglers grouped by the largest component of their excess, in rank order.
  std::vector<JobReason> reasons() const {
    struct Group {
      std::vector<uint32_t> ranks;
      BlameReason of;  // that of the first rank
    };
    std::vector<Group> groups;
    for (const BlameReason& reason : blame_.reasons) {
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& one) {
        return one.of.on_host() == reason.on_host() && one.of.in_one() == reason.in_one() &&
               (!reason.in_one() || one.of.what == reason.what);
      });
      if (same != groups.end()) {
        same->ranks.push_back(reason.rank);
      } else {
        groups.push_back({{reason.rank}, reason});
      }
    }
    std::vector<JobReason> found;
    for (const Group& group : groups) {
      found.push_back({.ranks = labels_.labels(group.ranks),
                       .host = group.of.on_host(),
                       .alike = group.of.alike(),
                       .name = group.of.much_in_one() ? shown_name(group.of.what) : ""});
    }
    return found;
  }

  const BlamePart* longest_part(bool host) const {
    const BlamePart* best = nullptr;
    for (const BlamePart& part : blame_.parts) {
      if (part.what.host != host || part.excess_ns <= 0) continue;
      if (best == nullptr || part.excess_ns > best->excess_ns) best = &part;
    }
    return best;
  }

  void add_transfers(findings::JobFacts& facts) const {
    if (const LinkClass* few = worst_slow_meetings(blame_)) {
      const SlowMeetings& slow = *few->slow;
      facts.few_slow = {.collective = flow_.job.groups()[few->group].kind,
                        .count = few->meetings,
                        .slow = slow.count,
                        .fast_ns = few->transfer_ns,
                        .slow_ns = slow.longest_ns,
                        .within_ns = slow.span.end_ns - slow.span.start_ns,
                        .gain_ns = slow.gain_ns};
    }
    if (const LinkClass* uneven = worst_varying(blame_)) {
      const VaryingTransfers& varying = *uneven->varying;
      facts.varying = {.collective = flow_.job.groups()[uneven->group].kind,
                       .count = uneven->meetings,
                       .fast_ns = varying.fast_ns,
                       .slow_ns = varying.slow_ns,
                       .gain_ns = varying.gain_ns};
    }
  }

  const JobFlow& flow_;
  const JobBlame& blame_;
  const std::vector<RankGraph>& ranks_;
  const RankLabels labels_;
};

}  // namespace

findings::JobFacts job_facts(const JobFlow& flow) { return FactsOfJob(flow).make(); }

}  // namespace assay
