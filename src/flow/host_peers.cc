// Problem: ranks that synchronize on the CPU leave their devices idle alike, and their waits look
// like the host's own work. Method: waits are recognized by name, or because all ranks leave them
// together, much closer in time than they entered. The rank that works while the others wait is the
// one they wait for. Tests: scenes "job: gloo", "job: a barrier by the store", "job: one plans" of
// tests/verdicts.

#include "flow/host_peers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "flow/meetings.h"
#include "flow/names.h"

namespace assay {
namespace {

constexpr int64_t kLeastSpellNs = 10'000;
constexpr size_t kMostSpells = 4096;
constexpr size_t kLeastOfDevices = 3;  // ranks

using Names = std::map<std::string, int64_t>;

// A HostSpell without a copy of its name.
struct HostStretch {
  Interval span;
  StringId name = {};
  bool waits = false;
  bool device = false;

  int64_t length_ns() const { return span.end_ns - span.start_ns; }
};

bool is_of_host(FlowCause cause) {
  return is_host_work(cause) || cause == FlowCause::kNothingAsked || cause == FlowCause::kInput ||
         cause == FlowCause::kAlloc;
}

// waits_for_others() of a trace's texts, cached.
class WaitingNames {
 public:
  explicit WaitingNames(const Trace& trace) : trace_(trace), known_(trace.strings.size(), 0) {}
  bool operator()(StringId name) {
    if (!name) return false;
    char& known = known_[name.index()];
    if (known == 0) known = waits_for_others(trace_.text(name)) ? 'y' : 'n';
    return known == 'y';
  }

 private:
  const Trace& trace_;
  std::vector<char> known_;
};

std::vector<HostStretch> merged_slices(const Trace& trace, const std::vector<FlowSlice>& slices,
                                   Interval window) {
  WaitingNames waiting(trace);
  std::vector<HostStretch> spells;
  for (const FlowSlice& slice : slices) {
    const Interval span{std::max(slice.span.start_ns, window.start_ns),
                        std::min(slice.span.end_ns, window.end_ns)};
    if (span.end_ns <= span.start_ns || !is_of_host(slice.cause)) continue;
    const bool named = slice.source != RowSource::kNone && slice.row != kNoFlowRow;
    const StringId name = named ? row_name(trace, slice.source, slice.row) : StringId();
    const bool waits = slice.cause != FlowCause::kInput && waiting(name);
    if (slice.cause == FlowCause::kNothingAsked && !waits) continue;  // the host is done
    const bool goes_on = !spells.empty() && spells.back().span.end_ns == span.start_ns &&
                         spells.back().name == name && spells.back().waits == waits;
    if (goes_on) {
      spells.back().span.end_ns = span.end_ns;
    } else {
      spells.push_back({span, name, waits});
    }
  }
  return spells;
}

// Adds intervals in which the device computes with gaps of at most 20 us.
void add_compute(const std::vector<Interval>& compute, std::vector<HostStretch>& spells) {
  constexpr int64_t kHardlyNs = 20'000;
  const size_t first = spells.size();
  for (const Interval& span : compute) {
    if (spells.size() > first && span.start_ns - spells.back().span.end_ns <= kHardlyNs) {
      spells.back().span.end_ns = span.end_ns;
    } else {
      spells.push_back({.span = span, .device = true});
    }
  }
}

// Keeps at most the kMostSpells longest, in order.
void keep_longest(std::vector<HostStretch>& spells) {
  std::erase_if(spells, [](const HostStretch& one) { return one.length_ns() < kLeastSpellNs; });
  if (spells.size() <= kMostSpells) return;
  std::vector<int64_t> lengths;
  lengths.reserve(spells.size());
  for (const HostStretch& one : spells) lengths.push_back(one.length_ns());
  std::nth_element(lengths.begin(), lengths.begin() + kMostSpells, lengths.end(), std::greater<>());
  const int64_t least_ns = lengths[kMostSpells];
  std::erase_if(spells, [&](const HostStretch& one) { return one.length_ns() <= least_ns; });
}

// Intervals of one name, by rank.
struct OfName {
  std::map<uint32_t, std::vector<Interval>> by_rank;

  bool alike() const {
    return by_rank.size() > 1 &&
           std::all_of(by_rank.begin(), by_rank.end(), [this](const auto& rank) {
             return rank.second.size() == by_rank.begin()->second.size();
           });
  }
};

Together together(const OfName& name) {
  const size_t count = name.by_rank.begin()->second.size();
  std::vector<std::vector<double>> starts(count);
  std::vector<std::vector<double>> ends(count);
  for (const auto& [rank, spans] : name.by_rank) {
    const int64_t base_ns = spans.front().start_ns;
    for (size_t k = 0; k < count; ++k) {
      starts[k].push_back(static_cast<double>(spans[k].start_ns - base_ns));
      ends[k].push_back(static_cast<double>(spans[k].end_ns - base_ns));
    }
  }
  return leave_together(starts, ends);
}

class Finder {
 public:
  Finder(const Job& job, std::vector<std::vector<HostSpell>> spells)
      : job_(job), spells_(std::move(spells)) {}

  std::optional<HostsWait> find() {
    note_names();
    if (!move_to_common_clock()) return std::nullopt;
    for (const std::vector<HostSpell>& own : spells_) {
      std::vector<Interval> waits;
      std::vector<Interval> works;
      for (const HostSpell& spell : own) {
        if (spell.device && spells_.size() < kLeastOfDevices) continue;
        (spell.waits ? waits : works).push_back(spell.span);
      }
      waits_.push_back(merge_intervals(std::move(waits)));
      works_.push_back(merge_intervals(std::move(works)));
    }
    if (std::all_of(waits_.begin(), waits_.end(), [](const auto& own) { return own.empty(); })) {
      return std::nullopt;
    }
    std::optional<HostsWait> found = held_by_one();
    return found ? found : held_in_turn();
  }

 private:
  // Names that all ranks leave together are waits. They can align clocks, too.
  void note_names() {
    std::map<std::string, OfName> names;
    for (uint32_t r = 0; r < spells_.size(); ++r) {
      for (const HostSpell& spell : spells_[r]) {
        if (!spell.name.empty()) names[spell.name].by_rank[r].push_back(spell.span);
      }
    }
    for (const auto& [name, of] : names) {
      if (of.by_rank.size() < job_.ranks().size() || !of.alike()) continue;
      if (together(of) != Together::kYes) continue;
      together_.insert(name);
      for (size_t k = 0; k < of.by_rank.begin()->second.size(); ++k) {
        Meeting meeting;
        for (const auto& [rank, spans] : of.by_rank) {
          meeting.visits.push_back({rank, 0, spans[k].start_ns, spans[k].end_ns});
        }
        meetings_.push_back(std::move(meeting));
      }
    }
    for (std::vector<HostSpell>& own : spells_) {
      for (HostSpell& spell : own) spell.waits = spell.waits || together_.contains(spell.name);
    }
  }

  bool move_to_common_clock() {
    std::vector<int64_t> offsets = job_.offsets_ns();
    if (!job_.aligned()) {
      if (meetings_.empty()) return false;
      std::vector<const Meeting*> sure;
      sure.reserve(meetings_.size());
      for (const Meeting& meeting : meetings_) sure.push_back(&meeting);
      offsets = clock_offsets(sure, spells_.size());
    }
    for (size_t r = 0; r < spells_.size() && r < offsets.size(); ++r) {
      for (HostSpell& spell : spells_[r]) {
        spell.span.start_ns -= offsets[r];
        spell.span.end_ns -= offsets[r];
      }
    }
    return true;
  }

  // Waiting time of the other ranks during which `rank` works (works_). A rank in a collective does
  // not count: it may itself wait for them.
  int64_t held_ns(uint32_t rank) const {
    int64_t sum_ns = 0;
    for (uint32_t r = 0; r < waits_.size(); ++r) {
      if (r != rank) sum_ns += length_ns(intersect(waits_[r], works_[rank]));
    }
    return sum_ns;
  }

  std::optional<HostsWait> held_by_one() const {
    constexpr double kMost = 0.8;
    std::vector<int64_t> held;
    held.reserve(waits_.size());
    for (uint32_t r = 0; r < waits_.size(); ++r) held.push_back(held_ns(r));
    if (held.size() < 2) return std::nullopt;
    const auto rank =
        static_cast<uint32_t>(std::max_element(held.begin(), held.end()) - held.begin());
    int64_t others_ns = 0;  // total waiting time of the others
    for (uint32_t r = 0; r < waits_.size(); ++r) {
      if (r != rank) others_ns += length_ns(waits_[r]);
    }
    const bool one = static_cast<double>(held[rank]) >= kMost * static_cast<double>(others_ns);
    const bool no_other = std::count_if(held.begin(), held.end(),
                                        [&](int64_t ns) { return 2 * ns >= held[rank]; }) == 1;
    if (others_ns <= 0 || !one || !no_other) return std::nullopt;
    HostsWait found = describe(rank);
    return matters(found) ? std::optional(found) : std::nullopt;
  }

  // Waits that all ranks leave together while some rank works, but none of them alone causes most.
  std::optional<HostsWait> held_in_turn() const {
    constexpr double kMost = 0.8;
    if (together_.empty()) return std::nullopt;
    HostsWait found;
    found.in_turn = true;
    std::vector<int64_t> times;
    std::vector<int64_t> waited;
    Names in;
    Names held;
    int64_t all_ns = 0;
    int64_t held_ns = 0;
    // A waiting rank does not work, so work of any rank is work of the others.
    std::vector<Interval> others;
    for (const auto& works : works_) others.insert(others.end(), works.begin(), works.end());
    others = merge_intervals(std::move(others));
    for (uint32_t r = 0; r < spells_.size(); ++r) {
      std::vector<Interval> own;
      for (const HostSpell& spell : spells_[r]) {
        if (!together_.contains(spell.name)) continue;
        own.push_back(spell.span);
        in[spell.name] += length_in(others, spell.span);
      }
      if (own.empty()) continue;
      times.push_back(static_cast<int64_t>(own.size()));
      own = merge_intervals(std::move(own));
      waited.push_back(length_ns(intersect(own, others)));
      found.waiting.push_back(r);
      all_ns += length_ns(own);
      held_ns += waited.back();
      add_work_of_others(r, own, held);
    }
    if (static_cast<double>(held_ns) < kMost * static_cast<double>(all_ns)) return std::nullopt;
    found.wait_ns = middle_of(std::move(waited));
    found.times = static_cast<uint64_t>(middle_of(std::move(times)));
    found.in = longest(in).first;
    const auto [name, ns] = longest(held);
    if (2 * ns >= held_ns) found.held = name;
    return matters(found) ? std::optional(found) : std::nullopt;
  }

  void add_work_of_others(uint32_t rank, const std::vector<Interval>& waited, Names& held) const {
    for (uint32_t q = 0; q < spells_.size(); ++q) {
      if (q == rank) continue;
      for (const HostSpell& spell : spells_[q]) {
        if (!spell.waits && !spell.device) held[spell.name] += length_in(waited, spell.span);
      }
    }
  }

  bool matters(const HostsWait& found) const {
    constexpr int64_t kLeastPart = 20;  // at least 1/20 of the run
    return found.wait_ns > 0 && found.wait_ns * kLeastPart >= job_.makespan_ns({});
  }

  HostsWait describe(uint32_t rank) const {
    HostsWait found;
    found.rank = rank;
    std::vector<int64_t> times;
    std::vector<int64_t> waited;
    Names names;
    std::vector<Interval> all;
    for (uint32_t r = 0; r < spells_.size(); ++r) {
      if (r == rank) continue;
      int64_t wait_ns = 0;
      int64_t count = 0;
      for (const HostSpell& spell : spells_[r]) {
        if (!spell.waits) continue;
        const std::vector<Interval> part = intersect({spell.span}, works_[rank]);
        const int64_t ns = length_ns(part);
        if (ns < kLeastSpellNs) continue;
        wait_ns += ns;
        ++count;
        names[spell.name] += ns;
        all.insert(all.end(), part.begin(), part.end());
      }
      if (count == 0) continue;
      found.waiting.push_back(r);
      waited.push_back(wait_ns);
      times.push_back(count);
    }
    if (waited.empty()) return found;
    found.wait_ns = middle_of(std::move(waited));
    found.times = static_cast<uint64_t>(middle_of(std::move(times)));
    found.in = longest(names).first;
    tell_held(rank, merge_intervals(std::move(all)), found);
    return found;
  }

  static Names::value_type longest(const Names& names) {
    const auto most =
        std::max_element(names.begin(), names.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == names.end() ? Names::value_type() : *most;
  }

  // Sets what the rank does for at least half of the others' waiting time.
  void tell_held(uint32_t rank, const std::vector<Interval>& waited, HostsWait& found) const {
    Names names;
    int64_t device_ns = 0;
    for (const HostSpell& spell : spells_[rank]) {
      if (spell.waits) continue;
      (spell.device ? device_ns : names[spell.name]) += length_in(waited, spell.span);
    }
    const auto [name, ns] = longest(names);
    found.on_device = 2 * device_ns >= length_ns(waited);
    if (!found.on_device && 2 * ns >= length_ns(waited)) found.held = name;
  }

  const Job& job_;
  std::vector<std::vector<HostSpell>> spells_;
  std::vector<Meeting> meetings_;
  std::set<std::string> together_;  // names of waits that all ranks leave together
  // Per rank, by the common clock: when its host waits, and when it works (host while the device is
  // idle, or device compute).
  std::vector<std::vector<Interval>> waits_;
  std::vector<std::vector<Interval>> works_;
};

}  // namespace

std::vector<HostSpell> host_spells(const Trace& trace, const FlowReport& report) {
  const DeviceFlow& devices = report.all_devices();
  std::vector<HostStretch> found = merged_slices(trace, devices.idle, report.window);
  add_compute(clip(devices.compute, report.window), found);
  keep_longest(found);
  std::vector<HostSpell> spells;
  spells.reserve(found.size());
  for (const HostStretch& one : found) {
    spells.push_back({one.span, one.name ? std::string(trace.text(one.name)) : std::string(),
                      one.waits, one.device});
  }
  return spells;
}

std::optional<HostsWait> hosts_waiting(const Job& job,
                                       const std::vector<std::vector<HostSpell>>& spells) {
  if (spells.size() != job.ranks().size()) return std::nullopt;
  return Finder(job, spells).find();
}

}  // namespace assay
