#include "hang/hang.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/decimal.h"

namespace assay {
namespace {

using Members = std::vector<int64_t>;
using GroupKey = std::pair<std::string, Members>;  // description and members

// Strength of evidence: a different call outweighs a stalled device, which outweighs a late host,
// however often each is seen.
constexpr int kAsksOtherwise = 100;
constexpr int kStandsStill = 20;
constexpr int kLeftNothing = 10;
constexpr int kIsBehind = 1;

// The operation's name: "all_reduce", "send".
std::string_view operation_of(const FlightEntry& entry) {
  std::string_view name = entry.call;
  name.remove_prefix(name.rfind(':') == std::string_view::npos ? 0 : name.rfind(':') + 1);
  return name.substr(0, name.find(' '));
}

// Operations for which sizes may differ between ranks.
bool is_uneven(std::string_view operation) {
  static constexpr std::string_view kUneven[] = {
      "all_to_all", "all_to_all_single", "all_to_all_v_single", "alltoall", "alltoall_base",
      "all_to_allv", "gather", "scatter", "all_gather_v", "all_gatherv", "reduce_scatter_v",
      "reduce_scatterv", "send", "recv", "barrier", "all_reduce_barrier", "coalesced"};
  return std::find(std::begin(kUneven), std::end(kUneven), operation) != std::end(kUneven);
}

std::string joined_numbers(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t n : numbers) text += (text.empty() ? "" : "+") + std::to_string(n);
  return text;
}

std::string sizes_of(const FlightEntry& entry) {
  return joined_numbers(entry.in_elements) + " -> " + joined_numbers(entry.out_elements) +
         " elements";
}

std::string types_of(const FlightEntry& entry) {
  std::string text;
  for (const std::string& type : entry.in_types) text += (text.empty() ? "" : "+") + type;
  text += " -> ";
  for (const std::string& type : entry.out_types) text += (text.back() == ' ' ? "" : "+") + type;
  return text;
}

// Identifies a call across ranks that run the same program.
std::tuple<std::string, std::string, std::string, std::string> asked_for(const FlightEntry& entry) {
  const std::string operation(operation_of(entry));
  std::string types;
  for (const std::string& type : entry.in_types) types += type + ",";
  return {entry.desc, operation, is_uneven(operation) ? "" : joined_numbers(entry.in_elements),
          types};
}

bool unfinished(const FlightEntry& entry) { return entry.state != FlightState::kCompleted; }

const FlightEntry* first_unfinished(const FlightDump& dump) {
  const auto found = std::find_if(dump.entries.begin(), dump.entries.end(), unfinished);
  return found == dump.entries.end() ? nullptr : &*found;
}

class Finder {
 public:
  Finder(const std::vector<FlightDump>& dumps, const std::set<int64_t>& unread)
      : unread_(unread) {
    for (const FlightDump& dump : dumps) by_rank_.emplace(*dump.rank, &dump);
  }

  HangReport find() {
    find_world();
    for (const GroupKey& key : groups_) compare_group(key);
    compare_program();
    compare_pairs();
    follow_devices();
    name_culprits();
    tell_waiting();
    return std::move(report_);
  }

 private:
  void find_world() {
    std::set<int64_t> world;
    std::set<GroupKey> groups;
    for (const auto& [rank, dump] : by_rank_) {
      world.insert(rank);
      for (const auto& [name, group] : dump->groups) {
        // Every dump lists the members of every group.
        if (group.ranks.size() > 1 && !groups.insert({group.desc, group.ranks}).second) continue;
        world.insert(group.ranks.begin(), group.ranks.end());
      }
      report_.hangs |= first_unfinished(*dump) != nullptr;
      for (const FlightEntry& entry : dump->entries) {
        report_.has_frames |= !entry.frames.empty();
        report_.timeout_ms = std::max(report_.timeout_ms, entry.timeout_ms);
      }
    }
    report_.world.assign(world.begin(), world.end());
    for (const int64_t rank : report_.world) {
      if (!by_rank_.contains(rank)) report_.absent.push_back(rank);
    }
    uint64_t lost = 0;
    for (const int64_t rank : report_.absent) lost += !unread_.contains(rank);
    absence_tells_ = lost == 1 || lost * 4 <= report_.world.size();
    groups_.assign(groups.begin(), groups.end());
    std::stable_sort(groups_.begin(), groups_.end(), [](const GroupKey& a, const GroupKey& b) {
      return a.second.size() > b.second.size();
    });
  }

  // Collectives of a rank in one group, by sequence number; no sends and receives.
  using Seen = std::map<int64_t, const FlightEntry*>;

  void compare_group(const GroupKey& key) {
    HangGroup group;
    group.desc = key.first;
    group.ranks = key.second;
    std::map<int64_t, Seen> seen;
    for (const int64_t rank : key.second) {
      const auto found = by_rank_.find(rank);
      if (found == by_rank_.end()) continue;
      const FlightDump& dump = *found->second;
      std::set<std::string_view> names;  // names of the group in this dump
      for (const auto& [name, one] : dump.groups) {
        if (one.ranks == key.second) names.insert(name);
      }
      std::set<int64_t> numbers;  // numbers of the group in the dump's status
      bool pairs = false;
      for (const FlightEntry& entry : dump.entries) {
        pairs |= entry.p2p && entry.desc == key.first;
        if (entry.p2p || entry.desc != key.first || !names.contains(entry.group)) continue;
        seen[rank][entry.seq] = &entry;
        numbers.insert(entry.pg);
        auto& last = group.enqueued.try_emplace(rank, entry.seq).first->second;
        last = std::max(last, entry.seq);
        if (unfinished(entry)) continue;
        auto& done = group.completed.try_emplace(rank, entry.seq).first->second;
        done = std::max(done, entry.seq);
      }
      // With sends or receives in the group, the status counters differ between pipeline stages.
      if (pairs) continue;
      for (const int64_t number : numbers) {
        const auto status = dump.status.find(number);
        if (status == dump.status.end()) continue;
        int64_t& last = group.enqueued[rank];
        last = std::max(last, status->second.enqueued);
        if (status->second.completed >= 0) group.completed[rank] = status->second.completed;
      }
    }
    if (seen.empty()) return;
    const size_t place = report_.groups.size();
    find_stuck(seen, group);
    report_.groups.push_back(group);
    note_stalled(place, seen);
    note_behind(place);
    note_mismatch(place, seen);
  }

  void find_stuck(const std::map<int64_t, Seen>& seen, HangGroup& group) {
    const FlightEntry* oldest = nullptr;
    for (const auto& [rank, one] : seen) {
      for (const auto& [seq, entry] : one) {
        if (!unfinished(*entry)) continue;
        if (oldest == nullptr || seq < oldest->seq) oldest = entry;
        break;
      }
    }
    if (oldest == nullptr) return;
    group.stuck_at = oldest->seq;
    group.stuck_call = oldest->call;
    for (const auto& [rank, one] : seen) {
      const auto entry = one.find(group.stuck_at);
      if (entry != one.end() && entry->second->state == FlightState::kStarted) {
        group.started.push_back(rank);
      }
    }
  }

  void note_stalled(size_t place, const std::map<int64_t, Seen>& seen) {
    const HangGroup& group = report_.groups[place];
    int64_t most = -1;
    for (const auto& [rank, done] : group.completed) most = std::max(most, done);
    for (const auto& [rank, done] : group.completed) {
      if (done < 0 || done >= most) continue;
      blame(rank, kStandsStill, HangReason::kDevice, place, done, most);
    }
    if (group.stuck_at < 0 || group.started.empty()) return;
    // Some ranks have started it. A rank is stalled if its device has not, although it is that
    // device's oldest unfinished call.
    for (const auto& [rank, one] : seen) {
      const auto entry = one.find(group.stuck_at);
      if (entry == one.end() || entry->second->state != FlightState::kScheduled) continue;
      if (first_unfinished(*by_rank_.at(rank)) != entry->second) continue;
      const auto done = group.completed.find(rank);
      blame(rank, kStandsStill, HangReason::kDevice, place,
            done == group.completed.end() ? -1 : done->second, group.stuck_at);
    }
  }

  void note_behind(size_t place) {
    const HangGroup& group = report_.groups[place];
    int64_t most = -1;
    for (const auto& [rank, last] : group.enqueued) most = std::max(most, last);
    std::vector<int64_t> missed;
    for (const int64_t rank : group.ranks) {
      const auto last = group.enqueued.find(rank);
      const auto dump = by_rank_.find(rank);
      if (last != group.enqueued.end()) {
        if (last->second >= most) continue;
        blame(rank, kIsBehind, HangReason::kNeverRequested, place, last->second, most);
      } else if (dump == by_rank_.end()) {
        if (unread_.contains(rank) || !absence_tells_) continue;
        blame(rank, kLeftNothing, HangReason::kNoDump, place, -1, most);
      } else if (dump->second->entries.empty()) {
        blame(rank, kLeftNothing, HangReason::kSilent, place, -1, most);
      } else {
        continue;  // its entries of this group are lost
      }
      missed.push_back(rank);
    }
    for (const auto& [rank, last] : group.enqueued) {
      if (last == most) waits_for_[rank].insert(missed.begin(), missed.end());
    }
  }

  void note_mismatch(size_t place, const std::map<int64_t, Seen>& seen) {
    const int64_t at = report_.groups[place].stuck_at;
    if (at < 0) return;
    std::map<int64_t, const FlightEntry*> entries;
    bool uneven = false;
    for (const auto& [rank, one] : seen) {
      const auto entry = one.find(at);
      if (entry == one.end()) continue;
      entries[rank] = entry->second;
      uneven |= is_uneven(operation_of(*entry->second));
    }
    const auto odd_by = [&](HangReason reason, auto text_of) {
      std::map<std::string, std::vector<int64_t>> by_text;
      for (const auto& [rank, entry] : entries) by_text[text_of(*entry)].push_back(rank);
      if (by_text.size() < 2) return false;
      const auto fewer = [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      };
      const auto odd = std::min_element(by_text.begin(), by_text.end(), fewer);
      const auto usual = std::max_element(by_text.begin(), by_text.end(), fewer);
      if (odd->second.size() * 2 >= entries.size()) return true;  // no majority
      for (const int64_t rank : odd->second) {
        blame(rank, kAsksOtherwise, reason, place, at, at, odd->first, usual->first);
      }
      return true;
    };
    if (odd_by(HangReason::kOperation, [](const FlightEntry& entry) { return entry.call; })) return;
    if (!uneven && odd_by(HangReason::kSize, sizes_of)) return;
    odd_by(HangReason::kType, types_of);
  }

  // Ranks run one program, so most make the same call at the same position. This finds the
  // deviating rank, also in groups of two, and calls in a different order.
  void compare_program() {
    constexpr int kAlikeBefore = 5;
    constexpr size_t kLeastRanks = 3;
    std::map<int64_t, std::map<int64_t, const FlightEntry*>> rows;  // record position -> rank ->
                                                                    // entry
    for (const auto& [rank, dump] : by_rank_) {
      for (const FlightEntry& entry : dump->entries) {
        if (!entry.p2p) rows[entry.record][rank] = &entry;  // sends and receives differ by pipeline
                                                            // stage
      }
    }
    std::map<int64_t, int> alike;
    std::map<int64_t, std::pair<const FlightEntry*, const FlightEntry*>> odd;  // the rank's entry,
                                                                               // another rank's
    for (const auto& [place, row] : rows) {
      if (row.size() < kLeastRanks) continue;
      std::map<decltype(asked_for(*row.begin()->second)), std::vector<int64_t>> by_call;
      for (const auto& [rank, entry] : row) by_call[asked_for(*entry)].push_back(rank);
      const auto usual =
          std::max_element(by_call.begin(), by_call.end(), [](const auto& a, const auto& b) {
            return a.second.size() < b.second.size();
          });
      if (usual->second.size() * 10 < row.size() * 6) continue;
      for (const auto& [call, ranks] : by_call) {
        for (const int64_t rank : ranks) {
          const FlightEntry* entry = row.at(rank);
          if (&call == &usual->first) {
            ++alike[rank];
          } else if (!odd.contains(rank) && alike[rank] >= kAlikeBefore && unfinished(*entry)) {
            odd[rank] = {entry, row.at(usual->second.front())};
          }
        }
      }
    }
    if (odd.size() * 4 > by_rank_.size()) return;  // pipeline stages differ
    for (const auto& [rank, pair] : odd) {
      const auto& [mine, usual] = pair;
      HangReason reason = HangReason::kOrder;
      std::string asks = mine->call + " of " + mine->desc;
      std::string others = usual->call + " of " + usual->desc;
      const bool same_call = mine->desc == usual->desc && mine->call == usual->call;
      if (mine->desc == usual->desc && !same_call) {
        reason = HangReason::kOperation;
        asks = mine->call;
        others = usual->call;
      } else if (same_call && mine->in_elements != usual->in_elements) {
        reason = HangReason::kSize;
        asks = sizes_of(*mine);
        others = sizes_of(*usual);
      } else if (same_call) {
        reason = HangReason::kType;
        asks = types_of(*mine);
        others = types_of(*usual);
      }
      blame(rank, kAsksOtherwise, reason, group_of(rank, *mine), mine->seq, usual->seq, asks,
            others);
    }
  }

  size_t group_of(int64_t rank, const FlightEntry& entry) const {
    const FlightDump& dump = *by_rank_.at(rank);
    const auto own = dump.groups.find(entry.group);
    if (own == dump.groups.end()) return SIZE_MAX;
    const auto found = std::find_if(
        report_.groups.begin(), report_.groups.end(), [&](const HangGroup& group) {
          return group.desc == entry.desc && group.ranks == own->second.ranks;
        });
    return found == report_.groups.end() ? SIZE_MAX
                                         : static_cast<size_t>(found - report_.groups.begin());
  }

  // Finds a send without its receive, or vice versa. Both finish together, so the matching call
  // must be unfinished, too.
  void compare_pairs() {
    for (const auto& [rank, dump] : by_rank_) {
      for (const FlightEntry& entry : dump->entries) {
        if (!entry.p2p || !unfinished(entry)) continue;
        const std::string_view operation = operation_of(entry);
        const std::string way = entry.call.substr(entry.call.find(' ') + 1);
        const auto group = dump->groups.find(entry.group);
        const size_t arrow = way.find("->");
        if (group == dump->groups.end() || arrow == std::string::npos) continue;
        const bool sends = operation == "send";
        const std::optional<size_t> at = place_in_group(sends ? way.substr(arrow + 2)
                                                              : way.substr(0, arrow));
        if (!at || *at >= group->second.ranks.size()) continue;
        const int64_t peer = group->second.ranks[*at];
        const auto other = by_rank_.find(peer);
        if (peer == rank || other == by_rank_.end()) continue;
        const std::string wanted = std::string(sends ? "recv " : "send ") + way;
        const std::vector<FlightEntry>& calls = other->second->entries;
        const auto half = std::find_if(calls.begin(), calls.end(), [&](const FlightEntry& one) {
          return unfinished(one) && one.desc == entry.desc && one.call.ends_with(wanted);
        });
        if (half != calls.end()) {
          // Started on one side, although it is the oldest unfinished call of the other side's
          // device.
          if (entry.state == FlightState::kStarted && half->state == FlightState::kScheduled &&
              first_unfinished(*other->second) == &*half) {
            blame(peer, kStandsStill, HangReason::kDevice, SIZE_MAX, -1, -1, "", wanted);
          }
          continue;
        }
        waits_for_[rank].insert(peer);
        blame(peer, kIsBehind, HangReason::kNeverRequested, group_of(rank, entry), -1, -1, "", wanted);
      }
    }
  }

  // The oldest unfinished call of a rank needs all members of its group. The rank waits for members
  // that have another call first, or have not submitted this one.
  void follow_devices() {
    std::map<int64_t, const FlightEntry*> heads;
    std::map<int64_t, size_t> places;  // index of the group of the oldest unfinished call, per rank
    for (const auto& [rank, dump] : by_rank_) {
      const FlightEntry* head = heads[rank] = first_unfinished(*dump);
      if (head != nullptr && !head->p2p) places[rank] = group_of(rank, *head);
    }
    for (const auto& [rank, place] : places) {
      const FlightEntry* head = heads.at(rank);
      if (place == SIZE_MAX) continue;
      const HangGroup& group = report_.groups[place];
      for (const int64_t member : group.ranks) {
        const auto other = heads.find(member);
        if (member == rank || other == heads.end()) continue;
        const auto there_at = places.find(member);
        const bool there = there_at != places.end() && there_at->second == place &&
                           other->second->seq == head->seq;
        if (!there) device_waits_for_[rank].insert(member);
      }
    }
  }

  static std::optional<size_t> place_in_group(const std::string& text) {
    uint64_t value = 0;
    if (text.size() > 9 || !parse_uint64(text, value)) return std::nullopt;
    return value;
  }

  void blame(int64_t rank, int weight, HangReason reason, size_t group, int64_t at,
             int64_t others_at, std::string asks = {}, std::string others_ask = {}) {
    reasons_[rank].push_back({weight, HangCulprit{.rank = rank,
                                                  .reason = reason,
                                                  .group = group,
                                                  .at = at,
                                                  .others_at = others_at,
                                                  .asks = std::move(asks),
                                                  .others_ask = std::move(others_ask)}});
  }

  void name_culprits() {
    if (!report_.hangs) {
      // All calls are finished, but a rank left no dump.
      for (const auto& [rank, reasons] : reasons_) {
        if (reasons.front().second.reason == HangReason::kNoDump) add_culprit(rank);
      }
      return;
    }
    int most = 0;
    for (const auto& [rank, reasons] : reasons_) most = std::max(most, strongest(rank));
    const int least = most >= kAsksOtherwise ? kAsksOtherwise : kLeftNothing;
    std::vector<int64_t> named;
    for (const auto& [rank, reasons] : reasons_) {
      if (strongest(rank) >= least) named.push_back(rank);
    }
    for (const bool devices : {true, false}) {
      if (!named.empty()) break;
      for (const auto& [rank, reasons] : reasons_) {
        const auto none = [rank = rank](const std::set<int64_t>& waits) {
          return waits.size() == waits.count(rank);
        };
        if (none(waits_for_[rank]) && (!devices || none(device_waits_for_[rank]))) {
          named.push_back(rank);
        }
      }
    }
    for (const int64_t rank : named) add_culprit(rank);
  }

  int strongest(int64_t rank) const {
    int most = 0;
    for (const auto& [weight, reason] : reasons_.at(rank)) most = std::max(most, weight);
    return most;
  }

  // Reports the strongest evidence, among equals that of the smallest group.
  void add_culprit(int64_t rank) {
    auto& reasons = reasons_.at(rank);
    std::stable_sort(reasons.begin(), reasons.end(), [&](const auto& a, const auto& b) {
      const auto members = [&](size_t group) {
        return group == SIZE_MAX ? SIZE_MAX : report_.groups[group].ranks.size();
      };
      return std::pair(-a.first, members(a.second.group)) <
             std::pair(-b.first, members(b.second.group));
    });
    HangCulprit culprit = reasons.front().second;
    for (const auto& [weight, other] : reasons) {
      if (other.reason == culprit.reason ||
          std::find(culprit.also.begin(), culprit.also.end(), other.reason) != culprit.also.end()) {
        continue;
      }
      culprit.also.push_back(other.reason);
    }
    if (const auto dump = by_rank_.find(rank);
        dump != by_rank_.end() && !dump->second->entries.empty()) {
      const std::vector<FlightEntry>& entries = dump->second->entries;
      const FlightEntry* shown = first_unfinished(*dump->second);
      if (shown == nullptr || culprit.reason == HangReason::kNeverRequested) shown = &entries.back();
      culprit.last_call = shown->call;
      culprit.frames = shown->frames;
    }
    report_.culprits.push_back(std::move(culprit));
  }

  void tell_waiting() {
    std::set<int64_t> culprits;
    for (const HangCulprit& culprit : report_.culprits) culprits.insert(culprit.rank);
    for (const auto& [rank, dump] : by_rank_) {
      const FlightEntry* entry = first_unfinished(*dump);
      if (entry == nullptr || culprits.contains(rank)) continue;
      report_.waiting.push_back(rank);
      const bool beside = std::any_of(
          report_.culprits.begin(), report_.culprits.end(), [this, waiting = rank](const HangCulprit& culprit) {
            return culprit.group != SIZE_MAX && shares(report_.groups[culprit.group], waiting);
          });
      if (entry->frames.empty() || (report_.waiting_rank >= 0 && !(beside && !waiting_is_beside_)))
        continue;
      report_.waiting_rank = rank;
      report_.waiting_frames = entry->frames;
      waiting_is_beside_ = beside;
    }
  }

  static bool shares(const HangGroup& group, int64_t rank) {
    return std::find(group.ranks.begin(), group.ranks.end(), rank) != group.ranks.end();
  }

  const std::set<int64_t>& unread_;
  bool absence_tells_ = false;
  std::map<int64_t, const FlightDump*> by_rank_;
  std::vector<GroupKey> groups_;
  std::map<int64_t, std::set<int64_t>> waits_for_;         // ranks that have not submitted a call
  std::map<int64_t, std::set<int64_t>> device_waits_for_;  // ranks with a device in another call
  std::map<int64_t, std::vector<std::pair<int, HangCulprit>>> reasons_;
  bool waiting_is_beside_ = false;
  HangReport report_;
};

}  // namespace

HangReport find_hang(const std::vector<FlightDump>& dumps, const std::set<int64_t>& unread) {
  return Finder(dumps, unread).find();
}

}  // namespace assay
