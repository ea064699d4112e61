// Actions on a job from the straggler analysis: ranks at the pace of others, links, transfers.
// Every number comes from a replay of all ranks.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "report/flow/job.h"
#include "report/flow/rank_labels.h"
#include "flow/contributor_names.h"
#include "text/names.h"

namespace assay {
namespace {

constexpr int64_t kLeastPart = 100;  // an action saves at least 1/kLeastPart of the run
constexpr int64_t kCommonPart = 10;  // for delays without a straggler, 1/kCommonPart
constexpr const char* kBetween = "one run of all ranks, no repeats";
constexpr size_t kNameRoom = 36;
constexpr size_t kWhoRoom = 24;

class BlameLevers {
 public:
  explicit BlameLevers(const JobFlow& flow) : flow_(flow), blame_(flow.blame), labels_(flow.job) {}

  std::vector<AnswerLever> find() {
    add_hosts();
    if (!flow_.job.aligned()) return std::move(levers_);
    add_late();
    add_last();
    add_common();
    add_link();
    add_transfers();
    return std::move(levers_);
  }

 private:
  void add(std::string key, int64_t gain_ns, std::string title, std::string code) {
    if (gain_ns <= 0 || gain_ns * kLeastPart < blame_.makespan_ns) return;
    levers_.push_back({.key = std::move(key),
                       .title = std::move(title),
                       .code = std::move(code),
                       .gain_ns = gain_ns,
                       .share = share(gain_ns, blame_.makespan_ns),
                       .grade = "up to",
                       .between = kBetween});
  }

  void add_hosts() {
    if (!flow_.hosts) return;
    const HostsWait& hosts = *flow_.hosts;
    const std::string what = hosts.on_device      ? "what its GPU does then"
                             : hosts.held.empty() ? "what its host does then"
                                                  : fitted(hosts.held, kNameRoom);
    levers_.push_back(
        {.key = "late_ranks",
         .title = hosts.in_turn ? "No host longer than the others, each time"
                                : labels_.subject({hosts.rank}) +
                                      (hosts.on_device ? " no longer than the others"
                                                       : "'s host no longer than the others'"),
         .code = "shorten " + what +
                 (hosts.on_device ? ", or share it" : ", share it, or do it while the GPUs work"),
         .gain_ns = hosts.wait_ns,
         .share = share(hosts.wait_ns, flow_.job.makespan_ns({})),
         .grade = "up to",
         .between = kBetween});
  }

  // Ranks on another device model than all others.
  void add_last() {
    const LastRanks& last = flow_.last;
    if (blame_.late || last.ranks.empty() || device_apart(flow_.job, last.ranks).empty()) return;
    if (last.behind_ns >= blame_.makespan_ns) return;
    add("late_ranks", last.behind_ns, labels_.subject(last.ranks) + " as fast as the others",
        "another device than the others': less of the work for it");
  }

  void add_late() {
    if (!blame_.late) return;
    const BlameSet& late = *blame_.late;
    const bool many = late.ranks.size() > 1;
    std::string who = late.name.empty() ? labels_.subject(late.ranks) : late.name;
    who.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(who.front())));
    if (who.size() > kWhoRoom) who = std::to_string(late.ranks.size()) + " ranks";
    add("late_ranks", late.gain_ns,
        who + (many && late.name.empty() ? " at their peers' pace" : " at its peers' pace"),
        late_code());
  }

  // The main component of the excess if all stragglers share it; else a code without a component.
  std::string late_code() const {
    if (blame_.parts.empty() || blame_.reasons.empty()) {
      return device_apart(flow_.job, blame_.late->ranks).empty()
                 ? ""
                 : "another device than the others': less of the work for it";
    }
    const BlameReason& reason = blame_.reasons.front();
    const bool alike =
        std::all_of(blame_.reasons.begin(), blame_.reasons.end(), [&](const BlameReason& other) {
          return other.on_host() == reason.on_host() && other.in_one() == reason.in_one() &&
                 (!reason.in_one() || other.what == reason.what);
        });
    if (!alike) return "each has a reason of its own";
    return reason.on_host() ? host_code(reason) : device_code(reason);
  }

  std::string host_code(const BlameReason& reason) const {
    const std::string& name = reason.what.name;
    if (reason.in_one() && reason.what.cause == FlowCause::kInput) {
      return "its loader: more workers, smaller or equal batches, a faster disk";
    }
    if (reason.in_one() && !name.empty()) {
      return "shorten " + fitted(name, kNameRoom) + ", or overlap it with GPU work";
    }
    if (reason.in_one()) return "profile(..., with_stack=True) there names what the host does";
    return "a slower host: its cores, clocks, and what else runs there";
  }

  std::string device_code(const BlameReason& reason) const {
    const auto part = std::find_if(blame_.parts.begin(), blame_.parts.end(),
                                   [&](const BlamePart& one) { return one.what == reason.what; });
    if (part != blame_.parts.end() && part->more) {
      return "more work than its peers have: equal parts to all";
    }
    if (!device_apart(flow_.job, blame_.late->ranks).empty()) {
      return "another device than the others': less of the work for it";
    }
    if (blame_.when && blame_.when->kind == BlameSpan::Kind::kFew) {
      return "a larger batch there, or clocks that fell for a while";
    }
    if (reason.in_one()) {
      return fitted(shown_name(reason.what), kNameRoom) + ": its shapes, how it was built, clocks";
    }
    return "a slower GPU: its clocks, power and temperature";
  }

  // Delays that affect every rank occasionally.
  void add_common() {
    if (blame_.late || blame_.network) return;
    if (blame_.common_gain_ns * kCommonPart < blame_.makespan_ns) return;
    const bool host = blame_.uneven ? blame_.uneven->what.host : blame_.other_pauses.count > 0;
    add("common_pace", blame_.common_gain_ns, "All ranks at the median pace, each time",
        !host ? "equal work for each, each time"
              : "other processes on its cores, locks, page faults, garbage collection");
  }

  void add_link() {
    const LinkClass* worst = worst_link(blame_);
    if (worst != nullptr) {
      add("link", worst->gain_ns, "A link as fast as the others'",
          "of ranks " + labels_.list(worst->ranks) + ": its cable, card and route");
      return;
    }
    const LinkClass* slow = worst_slow_meetings(blame_);
    if (slow == nullptr) return add_varying();
    add("link", slow->slow->gain_ns, "No transfers that stall",
        "what else used the network then; links that fail over or lose packets");
  }

  void add_varying() {
    const LinkClass* worst = worst_varying(blame_);
    if (worst == nullptr) return;
    add("link", worst->varying->gain_ns, "All transfers like the faster ones",
        "what else uses the network, the library's own threads, routes that change");
  }

  // Transfer time after the last arrival.
  void add_transfers() {
    const LinkClass* most = nullptr;
    const auto all_ns = [](const LinkClass& link) {
      return link.transfer_ns * static_cast<int64_t>(link.meetings);
    };
    for (const LinkClass& link : blame_.links) {
      if (most == nullptr || all_ns(link) > all_ns(*most)) most = &link;
    }
    if (most == nullptr) return;
    add("transfers", blame_.transfer_gain_ns, "Hide or shrink transfers",
        fmt::format("first {}, {}: overlap with kernels, start earlier, or send fewer bytes",
                    flow_.job.groups()[most->group].kind, format_times(most->transfers)));
  }

  const JobFlow& flow_;
  const JobBlame& blame_;
  const RankLabels labels_;
  std::vector<AnswerLever> levers_;
};

}  // namespace

const LinkClass* worst_link(const JobBlame& blame) {
  if (!blame.network) return nullptr;
  const LinkClass* worst = nullptr;
  for (const LinkClass& link : blame.links) {
    if (!link.suspect || link.gain_ns <= 0) continue;
    if (worst == nullptr || link.gain_ns > worst->gain_ns) worst = &link;
  }
  return worst;
}

const LinkClass* worst_slow_meetings(const JobBlame& blame) {
  constexpr int64_t kLeastShare = 20;  // at least 1/kLeastShare of the run
  const LinkClass* worst = nullptr;
  for (const LinkClass& link : blame.links) {
    if (!link.slow || link.slow->gain_ns * kLeastShare < blame.makespan_ns) continue;
    if (worst == nullptr || link.slow->gain_ns > worst->slow->gain_ns) worst = &link;
  }
  return worst;
}

const LinkClass* worst_varying(const JobBlame& blame) {
  const LinkClass* worst = nullptr;
  for (const LinkClass& link : blame.links) {
    if (!link.varying) continue;
    if (worst == nullptr || link.varying->gain_ns > worst->varying->gain_ns) worst = &link;
  }
  return worst;
}

std::string device_apart(const Job& job, const std::vector<uint32_t>& ranks) {
  std::string own;
  std::string others;
  for (uint32_t r = 0; r < job.ranks().size(); ++r) {
    const std::string& name = job.ranks()[r].device_name;
    std::string& side = std::find(ranks.begin(), ranks.end(), r) != ranks.end() ? own : others;
    if (name.empty() || (!side.empty() && side != name)) return "";
    side = name;
  }
  return own.empty() || others.empty() || own == others ? "" : own + " among " + others;
}

std::vector<AnswerLever> blame_levers(const JobFlow& flow) { return BlameLevers(flow).find(); }

std::vector<std::string> blame_lever_words(const JobFlow& flow) {
  if (!flow.job.aligned()) return {};
  const std::vector<AnswerLever> levers = blame_levers(flow);
  const std::string whole = format_ns(flow.blame.makespan_ns);
  std::vector<std::string> words;
  if (levers.empty()) {
    words.push_back(
        "No change to the effect of one rank on others saves 1 % of the job, which takes " + whole +
        ".");
  }
  for (const AnswerLever& lever : levers) {
    words.push_back(fmt::format("The job takes {}: {}, {} {} ({}) less.", whole, lever.title,
                                lever.grade, format_ns(lever.gain_ns), format_share(lever.share)));
  }
  words.emplace_back(
      "The following is for each rank alone: its waits for other ranks stay as recorded.");
  return words;
}

}  // namespace assay
