#include "ingest/chrome/processes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay {
namespace {

constexpr uint32_t kNoProcess = UINT32_MAX;
// By how much the clocks of host and device may differ.
constexpr int64_t kSlackNs = 10'000;

class Processes {
 public:
  explicit Processes(TraceBuilder& builder) : builder_(builder) {}

  void separate() {
    find_processes();
    if (calls_.size() < 2 || !ids_collide()) return;
    find_owners();
    const std::vector<uint32_t> of_activity = activity_processes();
    builder_.log.add(ImportCode::kSeveralProcesses, -1, calls_.size());
    move_correlations(of_activity);
    move_external_ids(of_activity);
    move_dependencies();
  }

 private:
  using StartOfCall = std::unordered_map<uint32_t, int64_t>;  // first call of an id

  uint32_t process_of(ThreadId thread) const { return process_of_thread_[thread.index()]; }

  void find_processes() {
    const ApiCallTable& calls = builder_.api_calls;
    std::map<std::string, uint32_t> numbers;
    std::vector<bool> launches(builder_.threads(), false);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls.correlation[i] != 0) launches[calls.thread[i].index()] = true;
    }
    for (size_t t = 0; t < launches.size(); ++t) {
      if (launches[t]) {
        numbers.try_emplace(builder_.lane(ThreadId(t)).pid, static_cast<uint32_t>(numbers.size()));
      }
    }
    process_of_thread_.assign(launches.size(), kNoProcess);
    for (size_t t = 0; t < launches.size(); ++t) {
      const auto found = numbers.find(builder_.lane(ThreadId(t)).pid);
      if (found != numbers.end()) process_of_thread_[t] = found->second;
    }
    calls_.resize(numbers.size());
    if (numbers.size() < 2) return;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls.correlation[i] == 0) continue;
      StartOfCall& own = calls_[process_of(calls.thread[i])];
      const auto [call, is_new] = own.try_emplace(calls.correlation[i], calls.start_ns[i]);
      if (!is_new) call->second = std::min(call->second, calls.start_ns[i]);
    }
  }

  bool ids_collide() const {
    for (size_t p = 1; p < calls_.size(); ++p) {
      for (const auto& [id, start_ns] : calls_[p]) {
        for (size_t other = 0; other < p; ++other) {
          if (calls_[other].count(id) != 0) return true;
        }
      }
    }
    return false;
  }

  bool fits(uint32_t process, uint32_t correlation, int64_t start_ns) const {
    const auto call = calls_[process].find(correlation);
    return call != calls_[process].end() && call->second <= start_ns + kSlackNs;
  }

  // Of each device the process whose calls come before nearly all of its rows.
  void find_owners() {
    struct Fit {
      uint64_t rows = 0;
      std::vector<uint64_t> fitting;
    };
    std::map<int64_t, Fit> fits_of;
    const ActivityTable& rows = builder_.activities;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.correlation[i] == 0 || !is_plain_work(rows.kind[i])) continue;
      Fit& fit = fits_of[builder_.device_of(rows.stream[i])];
      fit.fitting.resize(calls_.size());
      bool known = false;  // what was launched before the recording has no call
      for (uint32_t p = 0; p < calls_.size(); ++p) {
        known |= calls_[p].count(rows.correlation[i]) != 0;
        fit.fitting[p] += fits(p, rows.correlation[i], rows.start_ns[i]);
      }
      fit.rows += known;
    }
    std::set<uint32_t> taken;
    for (const auto& [device, fit] : fits_of) {
      if (fit.rows == 0) continue;
      const auto best = std::max_element(fit.fitting.begin(), fit.fitting.end());
      uint64_t second = 0;
      for (auto at = fit.fitting.begin(); at != fit.fitting.end(); ++at) {
        if (at != best) second = std::max(second, *at);
      }
      const bool nearly_all = *best * 10 >= fit.rows * 9 && (*best - second) * 50 >= fit.rows;
      const bool far_more = *best * 10 >= fit.rows * 6 && *best >= 2 * second;
      if (!nearly_all && !far_more) continue;
      owner_[device] = static_cast<uint32_t>(best - fit.fitting.begin());
      taken.insert(owner_[device]);
    }
    // Where all calls of one rank come before all work of another, only the others' owners decide.
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [device, fit] : fits_of) {
        if (fit.rows == 0 || owner_.count(device) != 0) continue;
        std::vector<uint32_t> free;
        for (uint32_t p = 0; p < calls_.size(); ++p) {
          if (taken.count(p) == 0 && fit.fitting[p] * 10 >= fit.rows * 9) free.push_back(p);
        }
        if (free.size() != 1) continue;
        owner_[device] = free.front();
        taken.insert(free.front());
        changed = true;
      }
    }
  }

  // A row of a device without an owner is of the only process that it fits.
  std::vector<uint32_t> activity_processes() const {
    const ActivityTable& rows = builder_.activities;
    std::vector<uint32_t> processes(rows.size(), kNoProcess);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto owner = owner_.find(builder_.device_of(rows.stream[i]));
      if (owner != owner_.end()) {
        processes[i] = owner->second;
        continue;
      }
      uint32_t found = 0;
      for (uint32_t p = 0; p < calls_.size(); ++p) {
        if (!fits(p, rows.correlation[i], rows.start_ns[i])) continue;
        processes[i] = p;
        ++found;
      }
      if (found != 1) processes[i] = kNoProcess;
    }
    return processes;
  }

  // Ranges of ids, one behind the other.
  class Shifts {
   public:
    explicit Shifts(size_t processes) : ranges_(processes) {}
    void widen(uint32_t process, uint32_t id) {
      if (id == 0) return;
      if (process == kNoProcess) {
        next_ = std::max<int64_t>(next_, int64_t{id} + 1);
        return;
      }
      ranges_[process].low = std::min(ranges_[process].low, id);
      ranges_[process].high = std::max(ranges_[process].high, id);
    }
    void lay() {
      for (Range& range : ranges_) {
        if (range.high == 0) continue;
        range.shift = next_ - range.low;
        next_ = range.high + range.shift + 1;
      }
    }
    // 0 where no number is left.
    uint32_t moved(uint32_t process, uint32_t id) const {
      if (id == 0 || process == kNoProcess) return id;
      const Range& range = ranges_[process];
      if (id < range.low || id > range.high) return 0;
      const int64_t to = id + range.shift;
      return to < std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(to) : 0;
    }

   private:
    struct Range {
      uint32_t low = std::numeric_limits<uint32_t>::max();
      uint32_t high = 0;
      int64_t shift = 0;
    };
    std::vector<Range> ranges_;
    int64_t next_ = 1;
  };

  void move_correlations(const std::vector<uint32_t>& of_activity) {
    ApiCallTable& calls = builder_.api_calls;
    ActivityTable& rows = builder_.activities;
    Shifts shifts(calls_.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      shifts.widen(process_of(calls.thread[i]), calls.correlation[i]);
    }
    shifts.lay();
    for (size_t i = 0; i < calls.size(); ++i) {
      calls.correlation[i] = shifts.moved(process_of(calls.thread[i]), calls.correlation[i]);
    }
    uint64_t unlinked = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool had = rows.correlation[i] != 0 && is_plain_work(rows.kind[i]);
      rows.correlation[i] =
          of_activity[i] == kNoProcess ? 0 : shifts.moved(of_activity[i], rows.correlation[i]);
      unlinked += had && rows.correlation[i] == 0;
    }
    if (unlinked > 0) builder_.log.add(ImportCode::kMissingCorrelation, -1, unlinked);
    WaitTable& waits = builder_.waits;
    for (size_t i = 0; i < waits.size(); ++i) {
      const uint32_t process = of_activity[waits.activity[i].index()];
      waits.record_correlation[i] =
          process == kNoProcess ? 0 : shifts.moved(process, waits.record_correlation[i]);
    }
  }

  void move_external_ids(const std::vector<uint32_t>& of_activity) {
    Shifts shifts(calls_.size());
    const auto each_of_host = [this](auto visit) {
      const auto each = [&](auto& table) {
        for (size_t i = 0; i < table.size(); ++i) {
          visit(process_of(table.thread[i]), table.external_id[i]);
        }
      };
      each(builder_.ops);
      each(builder_.api_calls);
      each(builder_.annotations);
    };
    each_of_host([&](uint32_t process, uint32_t& id) { shifts.widen(process, id); });
    shifts.lay();
    each_of_host([&](uint32_t process, uint32_t& id) { id = shifts.moved(process, id); });
    ActivityTable& rows = builder_.activities;
    for (size_t i = 0; i < rows.size(); ++i) {
      rows.external_id[i] =
          of_activity[i] == kNoProcess ? 0 : shifts.moved(of_activity[i], rows.external_id[i]);
    }
  }

  // Sequence numbers and arrows from forward to backward operators.
  void move_dependencies() {
    constexpr int kProcessBits = 40;
    OpSequenceTable& sequences = builder_.op_sequences;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const uint32_t process = process_of(builder_.ops.thread[sequences.op[i].index()]);
      if (process != kNoProcess) sequences.sequence[i] += int64_t{process} << kProcessBits;
    }
    ForwardBackwardFlowTable& flows = builder_.forward_backward_flows;
    for (size_t i = 0; i < flows.size(); ++i) {
      const uint32_t process = process_of(flows.thread[i]);
      if (process != kNoProcess) flows.flow_id[i] += uint64_t{process} << kProcessBits;
    }
  }

  TraceBuilder& builder_;
  std::vector<uint32_t> process_of_thread_;
  std::vector<StartOfCall> calls_;     // by process
  std::map<int64_t, uint32_t> owner_;  // process by device
};

}  // namespace

void separate_processes(TraceBuilder& builder) { Processes(builder).separate(); }

}  // namespace assay
