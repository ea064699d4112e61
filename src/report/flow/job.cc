#include "report/flow/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/numbers.h"
#include "flow/contributor_names.h"
#include "report/breakdown/results.h"
#include "report/flow/rank_labels.h"
#include "report/flow/results.h"
#include "report/flow/section.h"
#include "report/job/story.h"
#include "text/names.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr size_t kSetsListed = 16;

std::vector<RankGraph> graphs_of(std::vector<RankFlow>& flows) {
  std::vector<RankGraph> graphs;
  for (RankFlow& flow : flows) graphs.push_back(std::move(flow.graph));
  return graphs;
}

std::vector<FlowTotals> totals_of(const std::vector<RankFlow>& flows) {
  std::vector<FlowTotals> totals;
  for (const RankFlow& flow : flows) totals.push_back(flow.total);
  return totals;
}

class JobText {
 public:
  explicit JobText(const JobFlow& flow, size_t named = kRanksNamed)
      : flow_(flow), blame_(flow.blame), labels_(flow.job, named) {}

  std::vector<std::string> words() const {
    std::vector<std::string> words;
    for (std::string text : {hosts(), who(), missing(), why(), alone(), where(), network(),
                             cut_short(), no_device_work()}) {
      if (!text.empty()) words.push_back(std::move(text));
    }
    return words;
  }

  // The short version for the first screen.
  std::vector<std::string> briefly() const {
    std::vector<std::string> words;
    for (std::string text : {no_device_work(), cut_short(), hosts(), who(), missing(),
                             why_briefly(), network_briefly()}) {
      if (!text.empty()) words.push_back(std::move(text));
    }
    return words;
  }

  // The rank with the host that the other hosts wait for.
  std::string hosts() const {
    if (!flow_.hosts) return "";
    const HostsWait& hosts = *flow_.hosts;
    const std::string waits = format_ns(hosts.wait_ns) + (hosts.times > 1 ? " in all" : "") +
                              " in " + fitted(hosts.in, 36);
    const std::string held = fitted(hosts.held, 40);
    if (hosts.in_turn) {
      return "The hosts wait for each other, now for this rank, now for that one: each " + waits +
             (held.empty() ? "" : ", while that one's host is in " + held) + ".";
    }
    const bool all = hosts.waiting.size() + 1 == flow_.job.ranks().size();
    const bool many = hosts.waiting.size() > 1;
    std::string ranks = (many ? "ranks " : "rank ") + labels_.list(hosts.waiting);
    if (all) ranks = two() ? "the other rank" : "the others";
    const std::string rank = "ank " + labels_.label(hosts.rank);
    std::string text = "R" + rank + " blocks the hosts of " + ranks +
                       (many ? ": each waits " : ": it waits ") + waits;
    if (hosts.on_device) return text + ", while r" + rank + "'s GPU computes.";
    return held.empty() ? text + "." : text + ", while r" + rank + "'s host is in " + held + ".";
  }

  std::string who() const {
    if (!flow_.job.aligned()) return "";  // the breakdown reports the reason
    if (flow_.hosts && !blame_.late) return "";
    const auto& peers_of = blame_.peers;
    if (std::all_of(peers_of.begin(), peers_of.end(), [](uint32_t n) { return n == 0; })) {
      return "No two of these ranks do the same work: which of them is late is not known.";
    }
    if (!flow_.judged) {
      return "The dependences of these ranks are not known: which of them is late is not, either.";
    }
    if (std::string text = story(); !text.empty()) return text;
    return blame_.network ? "" : nobody();
  }

  // The solver's conclusion on the whole job, if it names a rank or a link.
  std::string story() const {
    if (!flow_.judged) return "";
    std::string text =
        story_sentence(flow_.judged->found.solution, [this](const std::vector<uint32_t>& ranks) {
          const std::vector<uint32_t> at = flow_.places(ranks);
          const std::string device = device_apart(flow_.job, at);
          const bool all = blame_.late && blame_.late->ranks == at && !blame_.late->name.empty();
          return labels_.subject(at) + (all ? " (" + blame_.late->name + ")" : "") +
                 (device.empty() ? "" : " (" + device + ")");
        });
    if (!text.empty() && !here().empty())
      text.front() = static_cast<char>(std::tolower(text.front()));
    return text.empty() ? "" : here() + text;
  }

  // True if the rank took part in every collective of the groups that it shares with others.
  bool took_all_parts(uint32_t r) const {
    std::map<CollectiveGroup, size_t> own;
    const RankParts& parts = flow_.job.ranks()[r].parts;
    for (const CollectivePart& part : parts.parts) ++own[parts.groups[part.group]];
    bool shared = false;
    for (uint32_t other = 0; other < flow_.job.ranks().size(); ++other) {
      if (other == r) continue;
      std::map<CollectiveGroup, size_t> theirs;
      const RankParts& of = flow_.job.ranks()[other].parts;
      for (const CollectivePart& part : of.parts) ++theirs[of.groups[part.group]];
      for (const auto& [group, count] : own) {
        const auto found = theirs.find(group);
        if (found == theirs.end()) continue;
        shared = true;
        if (found->second > count) return false;
      }
    }
    return shared;
  }

  // Ranks that take part in collectives of others but have no GPU events.
  std::string no_device_work() const {
    std::vector<uint32_t> ranks;
    for (uint32_t r = 0; r < flow_.rank_totals.size(); ++r) {
      if (flow_.rank_totals[r].window_ns == 0) ranks.push_back(r);
    }
    if (ranks.empty() || ranks.size() * 2 > flow_.rank_totals.size()) return "";
    return labels_.subject(ranks) + (ranks.size() > 1 ? " have" : " has") +
           " no GPU activity: " + (ranks.size() > 1 ? "their" : "its") + " delay is not known.";
  }

  // Ranks with events over much less time than others.
  std::string cut_short() const {
    constexpr double kShort = 0.9;
    std::vector<int64_t> spans_ns;
    for (const RankGraph& rank : flow_.job.ranks()) {
      const auto last = std::max_element(rank.time_ns.begin(), rank.time_ns.end());
      spans_ns.push_back(last == rank.time_ns.end() ? 0 : *last - rank.start_ns);
    }
    const int64_t last_ns = *std::max_element(spans_ns.begin(), spans_ns.end());
    std::vector<uint32_t> ranks;
    int64_t first_ns = last_ns;
    for (uint32_t r = 0; r < spans_ns.size(); ++r) {
      if (static_cast<double>(spans_ns[r]) >= kShort * static_cast<double>(last_ns)) continue;
      if (flow_.rank_totals[r].window_ns == 0) continue;
      if (took_all_parts(r)) continue;
      ranks.push_back(r);
      first_ns = std::min(first_ns, spans_ns[r]);
    }
    if (ranks.empty() || ranks.size() * 2 > spans_ns.size()) return "";
    return labels_.subject(ranks) + (ranks.size() > 1 ? " have" : " has") + " rows for " +
           format_ns(first_ns) + " of " + format_ns(last_ns) + " only: the rest is not recorded.";
  }

 private:
  bool several() const { return blame_.late && blame_.late->ranks.size() > 1; }
  bool two() const { return flow_.job.ranks().size() == 2; }

  // As recorded; 0 if unknown.
  int64_t world_size() const {
    int64_t size = 0;
    for (const RankGraph& rank : flow_.job.ranks()) {
      size = std::max(size, rank.world_size.value_or(0));
    }
    return size;
  }

  // Prefix that restricts conclusions to the traced ranks of the job.
  std::string here() const {
    const size_t ranks = flow_.job.ranks().size();
    if (!std::cmp_less(ranks, world_size())) return "";
    return "Of the " + std::to_string(ranks) + " ranks here, of " + std::to_string(world_size()) +
           ", ";
  }

  // Used if a large part of the time is in collectives with missing ranks.
  std::string missing() const {
    constexpr int64_t kLeastPart = 10;  // one in so many of the time
    const int64_t missing = world_size() - static_cast<int64_t>(flow_.job.ranks().size());
    if (!flow_.job.aligned() || blame_.late || missing <= 0) return "";
    if (flow_.totals.comm.unsplit_ns * kLeastPart < flow_.totals.sum.window_ns) return "";
    return "It is not known whether these wait for " +
           (missing == 1 ? "the rank that is" : "the " + std::to_string(missing) + " that are") +
           std::string(" not here.");
  }

  // True if no other rank has the same work.
  bool work_alone(const std::vector<uint32_t>& ranks) const {
    return std::all_of(ranks.begin(), ranks.end(),
                       [&](uint32_t r) { return blame_.peers[r] < ranks.size(); });
  }

  // Ranks that arrive last but have no peers to compare them with.
  std::string last_but_not_compared(const LastRanks& last) const {
    const bool many = last.ranks.size() > 1;
    std::string text = here();
    text += (text.empty() ? "R" : "r") + std::string(many ? "anks " : "ank ") +
            labels_.list(last.ranks) + other_work(last.ranks) +
            (many ? " make" : " makes") + " the others wait, last in " +
            std::to_string(last.times) + " of " +
            format_counted(flow_.job.meetings().size(), "collective", "collectives") + ", for " +
            format_ns(last.behind_ns) + " of " + format_ns(blame_.makespan_ns);
    if (pauses_told()) {
      return text + ". But all hosts stall now and then: with all work at the ranks' median " +
             "this run takes " + format_ns(blame_.makespan_ns - blame_.common_gain_ns) + ", not " +
             format_ns(blame_.makespan_ns) + ".";
    }
    return text + ": at most that could be saved.";
  }

  std::string other_work(const std::vector<uint32_t>& ranks) const {
    const std::string device = device_apart(flow_.job, ranks);
    return device.empty() ? ", which run other work," : " (" + device + ")";
  }

  // No rank is the straggler: occasional delays affect each rank and cost all of them time.
  std::string nobody() const {
    const int64_t gain_ns = blame_.common_gain_ns;
    const LastRanks& last = flow_.last;
    if (last.behind_ns * 100 >= blame_.makespan_ns && !last.ranks.empty() && work_alone(last.ranks)) {
      return last_but_not_compared(last);
    }
    std::string text = here() + (here().empty() ? "No" : "no") + " rank is later than the others";
    if (gain_ns * 10 < blame_.makespan_ns) return text + ".";
    text += pauses_told() ? ", but their hosts stall now and then, and all wait"
                          : ", but delays that strike now this one, now that one make all wait";
    if (blame_.uneven) text += ", most in " + fitted(shown_name(blame_.uneven->what), 36);
    text += ": with all work at the ranks' median this run takes " +
            format_ns(blame_.makespan_ns - gain_ns) + ", not " + format_ns(blame_.makespan_ns) +
            ".";
    return text;
  }

  // The largest component of the delay: hosts or devices, and their activity.
  std::string why() const {
    if (!blame_.late) return common_pauses();
    const bool host = blame_.host_gain_ns >= blame_.device_gain_ns;
    const int64_t gain_ns = host ? blame_.host_gain_ns : blame_.device_gain_ns;
    if (little(gain_ns)) {
      return "Neither host nor device work alone explains it: host work at that pace saves " +
             format_ns(blame_.host_gain_ns) + ", device work " + format_ns(blame_.device_gain_ns) +
             ".";
    }
    return host ? late_hosts() : late_devices(gain_ns);
  }

  // True if common work explains little of the set's cost. A rank that shares little work with
  // others shows less of it.
  bool little(int64_t gain_ns) const {
    return gain_ns * 4 < blame_.late->gain_ns;
  }

  // The same in brief, without numbers that the full report has.
  std::string why_briefly() const {
    if (!blame_.late) return "";
    if (const std::string each = each_reason(); !each.empty()) return each;
    const std::string its = several() ? "Their" : "Its";
    const bool host = blame_.host_gain_ns >= blame_.device_gain_ns;
    const int64_t gain_ns = host ? blame_.host_gain_ns : blame_.device_gain_ns;
    if (little(gain_ns)) return "";
    const BlamePart* part = longest_part(host);
    const std::string most =
        part == nullptr ? "" : ", most in " + fitted(shown_name(part->what), 36);
    if (!host && part != nullptr && part->more) {
      return (several() ? "They run more on the GPU than their peers"
                        : "It runs more on the GPU than its peers") +
             when() + most + ".";
    }
    if (!host) return its + " kernels take longer" + when() + (all_alike() ? alike() : most) + ".";
    if (blame_.pauses.sum_ns * 2 < blame_.late->gain_ns) {
      return its + (several() ? " hosts are" : " host is") + " slower" + (all_alike() ? "" : most) +
             ".";
    }
    return its + (several() ? " hosts stall " : " host stalls ") +
           format_counted(blame_.pauses.count, "time", "times") + ", " + pauses_sum() + most + ".";
  }

  // The affected iterations, if not all are.
  std::string when() const {
    if (!blame_.when) return "";
    const BlameSpan& when = *blame_.when;
    const std::string step = "ProfilerStep#" + std::to_string(when.iteration);
    switch (when.kind) {
      case BlameSpan::Kind::kFrom:
        return " from " + step + " on";
      case BlameSpan::Kind::kUntil:
        return " up to " + step;
      case BlameSpan::Kind::kFew:
        break;
    }
    if (when.count == 1) return " in " + step + " alone";
    return " in " + std::to_string(when.count) + " of " + std::to_string(when.of) +
           " iterations, first in " + step;
  }

  // True if all stragglers are slower in everything that they do.
  bool all_alike() const {
    return !blame_.reasons.empty() &&
           std::all_of(blame_.reasons.begin(), blame_.reasons.end(),
                       [](const BlameReason& reason) { return reason.alike(); });
  }

  // The slowdown factor, if it is about the same for all stragglers.
  std::string alike() const {
    std::vector<double> times;
    for (const BlameReason& reason : blame_.reasons) {
      times.push_back(1 + share(reason.side_ns(), reason.side_usual_ns));
    }
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    if (blame_.when || *most - *least > 0.1 * (*most - 1)) return ", all of them alike";
    return fmt::format(", all of them {:.2f} times as long", *least);
  }

  // Stragglers grouped by the largest component of their excess, in rank order.
  struct Reason {
    std::vector<uint32_t> ranks;
    BlameReason of;  // that of the first rank
  };
  std::vector<Reason> reasons() const {
    std::vector<Reason> found;
    for (const BlameReason& reason : blame_.reasons) {
      const auto same = std::find_if(found.begin(), found.end(), [&](const Reason& one) {
        return one.of.on_host() == reason.on_host() && one.of.in_one() == reason.in_one() &&
               (!reason.in_one() || one.of.what == reason.what);
      });
      if (same != found.end()) {
        same->ranks.push_back(reason.rank);
      } else {
        found.push_back({{reason.rank}, reason});
      }
    }
    return found;
  }

  // For stragglers with few distinct reasons.
  std::string each_reason() const {
    constexpr size_t kMostReasons = 3;
    const std::vector<Reason> found = reasons();
    if (found.size() < 2 || found.size() > kMostReasons) return "";
    std::string text;
    for (const Reason& reason : found) {
      const bool many = reason.ranks.size() > 1;
      const bool host = reason.of.on_host();
      const std::string side = !host  ? "kernels take longer"
                               : many ? "hosts are late"
                                      : "host is late";
      text += (text.empty() ? "R" : "; r") + labels_.subject(reason.ranks).substr(1) +
              (many ? ": " : "'s ") + side +
              (reason.of.much_in_one()      ? ", most in " + fitted(shown_name(reason.of.what), 36)
               : !host && reason.of.alike() ? ", all of them alike"
                                            : "");
    }
    return text + ".";
  }

  bool pauses_told() const {
    return flow_.job.aligned() && !blame_.network &&
           blame_.common_gain_ns * 10 >= blame_.makespan_ns && blame_.other_pauses.count > 0;
  }

  // Sentence on delays without a straggler.
  std::string common_pauses() const {
    if (!pauses_told()) return "";
    const HostPauses& pauses = blame_.other_pauses;
    return "Their hosts stall " + format_counted(pauses.count, "time", "times") +
           " for 0.3 ms or more, " + format_ns(pauses.sum_ns) + " summed over the ranks, up to " +
           format_ns(pauses.longest_ns) + " at once.";
  }

  // Stalls of several hosts overlap, so their sum may exceed the run's duration.
  std::string pauses_sum() const {
    return format_ns(blame_.pauses.sum_ns) + (several() ? " summed over them" : " in all");
  }

  std::string late_hosts() const {
    const HostPauses& pauses = blame_.pauses;
    const std::string whose = several() ? "Their hosts" : "Its host";
    if (pauses.sum_ns * 2 >= blame_.late->gain_ns) {
      std::string text = whose + (several() ? " stall " : " stalls ") +
                         format_counted(pauses.count, "time", "times") + " for 0.3 ms or more, " +
                         pauses_sum() + ", up to " + format_ns(pauses.longest_ns) + " at once";
      text += "; the other " + std::string(two() ? "one " : "ranks' ") +
              format_counted(blame_.other_pauses.count, "time", "times") + ", " +
              format_ns(blame_.other_pauses.sum_ns);
      return text + first(true) + ".";
    }
    return whose + (several() ? " are" : " is") + " slower: that alone gives " +
           format_ns(blame_.host_gain_ns) + first(true) + ".";
  }

  std::string late_devices(int64_t gain_ns) const {
    return std::string(several() ? "Their" : "Its") +
           " device work takes longer: that alone gives " + format_ns(gain_ns) + first(false) + ".";
  }

  const BlamePart* longest_part(bool host) const {
    const BlamePart* best = nullptr;
    for (const BlamePart& part : blame_.parts) {
      if (part.what.host != host || part.excess_ns <= 0) continue;
      if (best == nullptr || part.excess_ns > best->excess_ns) best = &part;
    }
    return best;
  }

  // The component with the largest gain on its own, else with the largest excess over its peers'
  // median.
  std::string first(bool host) const {
    const BlamePart* best = longest_part(host);
    if (best == nullptr) return "";
    return ", most in " + shown_name(best->what) + " (" + format_ns(best->excess_ns) +
           " beyond the median)";
  }

  // Stragglers that hide each other have smaller gains individually.
  std::string alone() const {
    if (!several()) return "";
    std::string text;
    size_t named = 0;
    for (const BlameSet& set : blame_.sets) {
      if (set.ranks.size() != 1 || ++named > kRanksNamed) continue;
      const auto& late = blame_.late->ranks;
      if (std::find(late.begin(), late.end(), set.ranks[0]) == late.end()) continue;
      text += (text.empty() ? "rank " : ", rank ") + labels_.label(set.ranks[0]) + " " +
              format_ns(std::max<int64_t>(set.gain_ns, 0));
    }
    return text.empty()
               ? ""
               : "One at a time they would save less, because the others are late, too: " + text +
                     ".";
  }

  std::string where() const {
    const FlowTotals& total = flow_.totals.sum;
    const CommSplit& comm = flow_.totals.comm;
    const auto of = [&](int64_t ns) { return format_share(share(ns, total.window_ns)); };
    std::string text = "Over " + format_counted(flow_.rank_totals.size(), "rank", "ranks") +
                       " the devices compute for " + of(total.compute_ns);
    if (comm.wait_ns + comm.transfer_ns > 0) {
      text += ", wait in collectives for the last rank for " + of(comm.wait_ns) +
              ", transfer with nothing else running for " + of(comm.transfer_ns);
    }
    if (comm.unsplit_ns > 0) {
      text += ", are in communication with unmatched ranks for " + of(comm.unsplit_ns);
    }
    return text + ", and are idle for " + of(total.idle_ns) + ".";
  }

  // story() already reports a slow link.
  std::string network_briefly() const { return blame_.network ? "" : slow_now_and_then(); }

  // Sentence on collectives of equal size of which a few take many times longer.
  std::string slow_now_and_then() const {
    const LinkClass* worst = worst_slow_meetings(blame_);
    if (worst == nullptr) return varying();
    const SlowMeetings& slow = *worst->slow;
    return std::to_string(slow.count) + " of " + std::to_string(worst->meetings) + " " +
           flow_.job.groups()[worst->group].kind + " of one size " +
           (slow.count > 1 ? "take up to " : "takes ") + format_ns(slow.longest_ns) +
           ", the others " + format_ns(worst->transfer_ns) + ", all within " +
           format_ns(slow.span.end_ns - slow.span.start_ns) +
           ": with these like the others the run is " + format_ns(slow.gain_ns) + " shorter.";
  }

  std::string varying() const {
    const LinkClass* worst = worst_varying(blame_);
    if (worst == nullptr) return "";
    const VaryingTransfers& varying = *worst->varying;
    return std::to_string(worst->meetings) + " " + flow_.job.groups()[worst->group].kind +
           " of one size take now " + format_ns(varying.fast_ns) + ", now " +
           format_ns(varying.slow_ns) +
           " once all have come: like the faster quarter of them this run is " +
           format_ns(varying.gain_ns) + " shorter.";
  }

  std::string network() const {
    return worst_link(blame_) == nullptr ? slow_now_and_then() : "";
  }

  const JobFlow& flow_;
  const JobBlame& blame_;
  const RankLabels labels_;
};

std::string cause_of(const WorkName& what) {
  if (what.host) return std::string(flow_cause_name(what.cause));
  return what.kind == WorkKind::kCompute ? "compute" : "copy";
}

// The component with most of a set's gain. Known for the headline's set only.
std::string cause_of_set(const JobBlame& blame, const BlameSet& set) {
  if (!blame.late || set.ranks != blame.late->ranks || blame.parts.empty()) return "";
  const auto most = std::max_element(
      blame.parts.begin(), blame.parts.end(),
      [](const BlamePart& a, const BlamePart& b) { return a.excess_ns < b.excess_ns; });
  return cause_of(most->what);
}

Table sets_table(const JobFlow& flow, const std::vector<BlameSet>& sets) {
  const RankLabels labels(flow.job);
  TableOf table(sets, {.key = "sets",
                       .title = "Time saved if these ranks ran at the pace of their peers",
                       .terminal_limit = kSetsListed});
  table
      .add(
          keys::ranks, [&](const BlameSet& set) { return Value(labels.labels(set.ranks)); },
          elastic())
      .add(keys::name, &BlameSet::name,
           shown_if(std::any_of(sets.begin(), sets.end(),
                                [](const BlameSet& set) { return !set.name.empty(); })))
      .add(keys::gain_ns, &BlameSet::gain_ns)
      .add(keys::run_share,
           [&](const BlameSet& set) {
             const bool saves = set.gain_ns >= 0;
             return saves ? Value(share(set.gain_ns, flow.blame.makespan_ns)) : Value();
           })
      .add(keys::cause, [&](const BlameSet& set) { return cause_of_set(flow.blame, set); });
  return table;
}

Table parts_table(const JobBlame& blame) {
  TableOf table(blame.parts, {.key = "parts", .title = "Excess time on the stragglers"});
  table.add(keys::cause, [](const BlamePart& part) { return cause_of(part.what); })
      .add(
          keys::name, [](const BlamePart& part) { return part.what.name; }, elastic())
      .add(keys::gain_ns, &BlamePart::gain_ns)
      .add(keys::excess_ns, &BlamePart::excess_ns)
      .add(keys::count, &BlamePart::works);
  return table;
}

struct RankRow {
  std::optional<int64_t> rank;
  uint32_t place = 0;
};

// Missing if ranks could not be compared.
template <typename T>
Value at(const std::vector<T>& values, uint32_t place) {
  return place < values.size() ? Value(values[place]) : Value();
}

Table ranks_table(const JobFlow& flow) {
  const RankLabels labels(flow.job);
  std::vector<RankRow> rows;
  for (uint32_t r = 0; r < flow.job.ranks().size(); ++r) rows.push_back({labels.number(r), r});
  std::sort(rows.begin(), rows.end(), [&labels](const RankRow& a, const RankRow& b) {
    return labels.before(a.place, b.place);
  });
  TableOf table(rows, {.key = "ranks", .title = "Rank by rank"});
  table.add(keys::rank, &RankRow::rank)
      .add(keys::excess_ns, [&](const RankRow& row) { return at(flow.blame.excess_ns, row.place); })
      .add(keys::peers, [&](const RankRow& row) { return at(flow.blame.peers, row.place); })
      .add(keys::compute_ns,
           [&](const RankRow& row) { return flow.rank_totals[row.place].compute_ns; })
      .add(keys::comm_wait_ns,
           [&](const RankRow& row) { return flow.rank_comm[row.place].wait_ns; })
      .add(keys::transfer_ns,
           [&](const RankRow& row) { return flow.rank_comm[row.place].transfer_ns; })
      .add(keys::unmatched_comm_ns,
           [&](const RankRow& row) { return flow.rank_comm[row.place].unsplit_ns; })
      .add(keys::idle_ns, [&](const RankRow& row) { return flow.rank_totals[row.place].idle_ns; });
  return table;
}

Table links_table(const JobFlow& flow) {
  const auto& groups = flow.job.groups();
  const std::vector<LinkClass>& links = flow.blame.links;
  TableOf table(links, {.key = "links", .title = "Transfers by process group and size"});
  table.add(keys::process_group, [&](const LinkClass& link) { return groups[link.group].name; })
      .add(keys::collective, [&](const LinkClass& link) { return groups[link.group].kind; })
      .add(keys::members, &LinkClass::members)
      .add(keys::meetings, &LinkClass::meetings)
      .add(keys::bytes,
           [](const LinkClass& link) { return link.bytes >= 0 ? Value(link.bytes) : Value(); })
      .add(keys::transfer_ns, &LinkClass::transfer_ns)
      .add(keys::bus_bytes_per_s,
           [&](const LinkClass& link) { return finite_value(link.bus_bytes_per_s); })
      .add(
          keys::peers_transfer_ns,
          [](const LinkClass& link) { return link.peers_ns >= 0 ? Value(link.peers_ns) : Value(); },
          Show::kDataOnly)
      .add(keys::gain_ns, &LinkClass::gain_ns, Show::kDataOnly);
  return table;
}

Facts blame_facts(const JobBlame& blame, const Job& job) {
  return {.items = {fact(keys::makespan_ns, blame.makespan_ns),
                    fact(keys::jitter_gain_ns, blame.common_gain_ns),
                    data_fact(keys::transfer_gain_ns, blame.transfer_gain_ns),
                    data_fact(keys::host_gain_ns, blame.host_gain_ns),
                    data_fact(keys::device_gain_ns, blame.device_gain_ns),
                    data_fact(keys::pauses, blame.pauses.count),
                    data_fact(keys::stalls_ns, blame.pauses.sum_ns),
                    data_fact(keys::other_stalls, blame.other_pauses.count),
                    data_fact(keys::other_stalls_ns, blame.other_pauses.sum_ns),
                    data_fact(keys::replay_mismatches, blame.identity_errors),
                    data_fact(keys::contradicting, job.cut())}};
}

}  // namespace

RankFlow make_rank_flow(const Trace& trace, FlowReport& report, BoundBy bound) {
  return {report.total, bound, *std::move(report.rank_graph), host_spells(trace, report)};
}

JobFlow::JobFlow(std::vector<RankFlow> flows)
    : job(graphs_of(flows)), rank_totals(totals_of(flows)) {
  rank_comm = split_communication(job);
  totals = job_totals(rank_totals, rank_comm);
  std::vector<BoundBy> own;
  for (const RankFlow& flow : flows) own.push_back(flow.bound);
  bound = bound_of_job(totals, own);
  std::vector<std::vector<HostSpell>> spells;
  for (RankFlow& flow : flows) spells.push_back(std::move(flow.spells));
  hosts = hosts_waiting(job, spells);
  // If the hosts wait for a rank of the job, they do not wait for external work.
  if (hosts && bound == BoundBy::kNotLoaded) bound = BoundBy::kHost;
  if (!job.aligned()) return;
  judge(flows);
  blame = find_blame(job, verdict());
  if (judged) blame.identity_errors += judged->found.solution.identity_errors;
  if (!blame.late) last = usually_last(job);
  if (hosts && blame.late && blame.late->gain_ns >= hosts->wait_ns) hosts.reset();
}

void JobFlow::judge(std::vector<RankFlow>& flows) {
  std::vector<RankRecord> records;
  for (RankFlow& flow : flows) {
    if (!flow.record) return;
    records.push_back(*std::move(flow.record));
  }
  auto made = judge_records(records);
  if (!made || made->found.span_ns() == 0) return;
  for (const FleetRank& rank : made->job.ranks) {
    uint32_t at = 0;
    while (at < job.ranks().size() && job.ranks()[at].file != rank.path) ++at;
    if (at == job.ranks().size()) return;
    place.push_back(at);
  }
  judged = *std::move(made);
}

std::vector<uint32_t> JobFlow::places(const std::vector<uint32_t>& ranks) const {
  std::vector<uint32_t> at;
  for (const uint32_t r : ranks) at.push_back(place[r]);
  std::sort(at.begin(), at.end());
  return at;
}

BlameVerdict JobFlow::verdict() const {
  if (!judged) return {};
  const JobSolution& solution = judged->found.solution;
  BlameVerdict told{.late = {},
                    .gain_ns = solution.saved_ns,
                    .common_gain_ns = solution.span_ns - solution.usual_span_ns};
  for (const StoryFinding& one : solution.findings) {
    if (one.kind == StoryKind::kLink) told.slow_link = std::max(told.slow_link, one.factor);
    if (one.kind == StoryKind::kLink || one.kind == StoryKind::kAll) continue;
    const std::vector<uint32_t> at = places(one.ranks);
    told.late.insert(told.late.end(), at.begin(), at.end());
  }
  std::sort(told.late.begin(), told.late.end());
  told.late.erase(std::unique(told.late.begin(), told.late.end()), told.late.end());
  return told;
}

std::vector<size_t> ranks_among(const std::vector<RankFlow>& flows) {
  std::vector<const RankGraph*> graphs;
  for (const RankFlow& flow : flows) graphs.push_back(&flow.graph);
  return ranks_among(graphs, totals_of(flows));
}

std::string helpers_sentence(const std::vector<std::string>& files) {
  constexpr size_t kMostNamed = 4;
  if (files.empty()) return "";
  std::string names;
  for (size_t i = 0; i < std::min(files.size(), kMostNamed); ++i) {
    names += (i == 0 ? "" : ", ") + clean_text(file_name(files[i]));
  }
  if (files.size() > kMostNamed) {
    names += " and " + std::to_string(files.size() - kMostNamed) + " more";
  }
  return names + (files.size() == 1
                      ? " has no GPU work and states no rank: it does not count as a rank."
                      : " have no GPU work and state no rank: they do not count as ranks.");
}

std::vector<std::string> job_flow_words(const JobFlow& flow) {
  if (flow.bound == BoundBy::kNoGpu) return {};
  return JobText(flow).words();
}

std::vector<std::string> late_rank_words(const JobFlow& flow) {
  if (flow.bound == BoundBy::kNoGpu) return {};
  return JobText(flow, kRanksNamedBriefly).briefly();
}

std::vector<Section> job_flow_sections(const JobFlow& flow) {
  Section where{.key = "",
                .title = "Time of all ranks by cause",
                .blocks = {answer_facts(flow.bound,
                                        share(flow.totals.sum.idle_ns, flow.totals.sum.window_ns)),
                           causes_table(flow.totals.sum, flow.totals.comm)}};
  std::vector<BlameSet> sets;
  if (flow.blame.late) sets.push_back(*flow.blame.late);
  for (const BlameSet& set : flow.blame.sets) {
    if (flow.blame.late && set.ranks == flow.blame.late->ranks) continue;
    sets.push_back(set);
  }
  Section blame{.key = "blame", .title = "Which ranks the others wait for"};
  if (flow.job.aligned()) {
    blame.blocks.push_back(blame_facts(flow.blame, flow.job));
    blame.blocks.push_back(sets_table(flow, sets));
  }
  if (!flow.blame.parts.empty()) blame.blocks.push_back(parts_table(flow.blame));
  blame.blocks.push_back(ranks_table(flow));
  if (!flow.blame.links.empty()) blame.blocks.push_back(links_table(flow));
  return {std::move(where), std::move(blame)};
}

}  // namespace assay
