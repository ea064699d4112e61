// Finds work that waits for work of other streams: from recorded events, else inferred from times.

#include <algorithm>
#include <map>
#include <unordered_map>

#include "flow/build.h"
#include "flow/repetition.h"

namespace assay {
namespace {

// Most time from an end to a start for an inferred wait.
constexpr int64_t kFollowsNs = 5'000;
// Most ends examined per inferred wait: more within such a short time show nothing.
constexpr size_t kMostEndsBack = 64;

// Streams by (device, number).
class StreamIndex {
 public:
  explicit StreamIndex(const Trace& trace) {
    for (uint32_t s = 0; s < trace.streams.size(); ++s) {
      ids_.push_back({trace.streams[s].device, trace.streams[s].stream, s});
    }
    std::sort(ids_.begin(), ids_.end());
  }
  uint32_t find(int64_t device, int64_t stream) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), Entry{device, stream, 0});
    return at != ids_.end() && at->device == device && at->stream == stream ? at->id : kNoFlowRow;
  }

 private:
  struct Entry {
    int64_t device;
    int64_t stream;
    uint32_t id;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> ids_;
};

FollowedPairs pairs_by_rows(const FlowRun& run, const LaunchOrder& launches) {
  const StreamIndex streams(*run.trace);
  FollowedPairs pairs;
  for (const RecordedWait& wait : recorded_waits(run)) {
    if (wait.kind != WaitKind::kStreamWaitEvent || wait.waited_stream < 0) continue;
    if (wait.call == kNoFlowRow || wait.record_call == kNoFlowRow) continue;
    const uint32_t from = streams.find(wait.device, wait.waited_stream);
    const uint32_t to = streams.find(wait.device, wait.stream);
    if (from == kNoFlowRow || to == kNoFlowRow) continue;
    const uint32_t target = launches.last_before(from, run.calls[wait.record_call].start_ns);
    const uint32_t waiter = launches.first_from(to, run.calls[wait.call].start_ns);
    if (target == kNoFlowRow || waiter == kNoFlowRow || target == waiter) continue;
    if (run.works[target].end_ns <= run.works[waiter].start_ns) pairs.push_back({waiter, target});
  }
  return pairs;
}

// Times of StreamWaitEvent calls, per thread, ascending.
std::vector<std::vector<int64_t>> wait_calls(const FlowRun& run) {
  std::vector<std::vector<int64_t>> times(run.threads.size());
  for (const FlowCall& call : run.calls) {
    if (run.links->role_of(*run.trace, call.row) == ApiRole::kStreamWait) {
      times[call.thread.index()].push_back(call.start_ns);
    }
  }
  return times;
}

// The work of another stream of the device, launched earlier, that ended just before `work` began;
// kNoFlowRow if none.
uint32_t just_ended(const FlowRun& run, const std::vector<Timed>& ends, const FlowWork& work) {
  const auto after = std::partition_point(
      ends.begin(), ends.end(), [&work](const Timed& end) { return end.time_ns <= work.start_ns; });
  const int64_t launched_ns = run.calls[work.call].start_ns;
  size_t seen = 0;
  for (auto at = after; at != ends.begin() && seen < kMostEndsBack; ++seen) {
    --at;
    if (at->time_ns < work.start_ns - kFollowsNs) break;
    const FlowWork& other = run.works[at->row];
    const bool elsewhere = other.stream != work.stream && other.device == work.device;
    if (!elsewhere || other.call == kNoFlowRow) continue;
    if (run.calls[other.call].start_ns < launched_ns) return at->row;
  }
  return kNoFlowRow;
}

FollowedPairs pairs_by_times(const FlowRun& run, const LaunchOrder& launches,
                             const std::vector<Timed>& ends) {
  const auto waits = wait_calls(run);
  FollowedPairs pairs;
  for (uint32_t s = 0; s < launches.streams(); ++s) {
    int64_t last_ns = INT64_MIN;
    for (auto at = launches.begin(s); at != launches.end(s); ++at) {
      const FlowWork& work = run.works[at->work];
      const FlowCall& call = run.calls[work.call];
      const auto& times = waits[call.thread.index()];
      const auto next = std::lower_bound(times.begin(), times.end(), at->call_ns);
      const bool asked = next != times.begin() && *(next - 1) > last_ns;
      last_ns = at->call_ns;
      if (!asked || work.start_ns <= call.end_ns + kFollowsNs) continue;
      const bool stream_free = work.stream_prev == kNoFlowRow ||
                               run.works[work.stream_prev].end_ns < work.start_ns - kFollowsNs;
      if (!stream_free) continue;
      const uint32_t target = just_ended(run, ends, work);
      if (target != kNoFlowRow) pairs.push_back({at->work, target});
    }
  }
  return pairs;
}

// ---- waits that nothing records, by repetition --------------------------------------------------

// Problem: many traces have neither synchronization rows nor event calls (and a full device needs
// neither). Work that was submitted early then begins late for no recorded reason: it would look
// like a slow launch or like kUnseen, and no replay would move it with the work it waits for.
// Method: if works of one name and stream are late, and nearly each begins right after the end of
// work on one other stream of its process, more often than by chance, they wait for that work.

// A start this long after all known dependencies is late.
constexpr int64_t kLateNs = 20'000;
// Most time from the awaited end to a late start; longer, because other devices report ends later.
constexpr int64_t kFollowsFarNs = 10'000;
constexpr int64_t kAssumedLaunchNs = 3'000;

// Late works of one kind: (name, stream).
using LateKind = std::pair<uint32_t, uint32_t>;
// What they may follow: (stream, name), or (stream, kAnyName).
using Followed = std::pair<uint32_t, uint32_t>;
constexpr uint32_t kAnyName = UINT32_MAX;

// Launch latency on a free stream without delays: the 10th percentile.
int64_t quick_launch_ns(const FlowRun& run) {
  std::vector<int64_t> samples;
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow || work.in_graph || work.start_ns < work.submit_ns) continue;
    const bool free = work.stream_prev == kNoFlowRow ||
                      run.works[work.stream_prev].end_ns < run.calls[work.call].start_ns;
    if (free) samples.push_back(work.start_ns - work.submit_ns);
  }
  return quantile_ns(samples, 0.1, kAssumedLaunchNs);
}

// Per work the latest end of its known dependencies; kUnknownNs without a launch.
std::vector<int64_t> held_until(const FlowRun& run, const FollowedPairs& pairs) {
  std::vector<int64_t> held(run.works.size(), kUnknownNs);
  for (size_t w = 0; w < held.size(); ++w) {
    const FlowWork& work = run.works[w];
    if (work.call == kNoFlowRow) continue;
    held[w] = work.submit_ns;
    for (const uint32_t prev : {work.stream_prev, work.graph_prev}) {
      if (prev != kNoFlowRow) held[w] = std::max(held[w], run.works[prev].end_ns);
    }
  }
  for (const auto& [waiter, target] : pairs) {
    if (held[waiter] != kUnknownNs) {
      held[waiter] = std::max(held[waiter], run.works[target].end_ns);
    }
  }
  return held;
}

// Works that begin later than known dependencies explain.
std::vector<uint32_t> late_works(const FlowRun& run, const FollowedPairs& known) {
  const std::vector<int64_t> held = held_until(run, known);
  const int64_t late_ns = 2 * quick_launch_ns(run) + kLateNs;
  std::vector<uint32_t> late;
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    if (held[w] != kUnknownNs && run.works[w].start_ns > held[w] + late_ns) late.push_back(w);
  }
  return late;
}

uint32_t process_of(const FlowRun& run, const FlowWork& work) {
  return work.call == kNoFlowRow ? kNoFlowRow
                                 : run.threads[run.calls[work.call].thread.index()].process;
}

class WaitsByRepetition {
 public:
  WaitsByRepetition(const FlowRun& run, const std::vector<Timed>& ends) : run_(run), ends_(ends) {}

  // Inferred waits (waiter, target) of late works.
  FollowedPairs find(const std::vector<uint32_t>& late) {
    for (const uint32_t w : late) add_late(w);
    count_ends();
    FollowedPairs found;
    for (const auto& [kind, works] : late_) {
      const FollowedPairs* pairs = followed_by(works, [this](const Followed& followed) {
        return chance_of_end(ends_, ends_count_.at(followed), kFollowsFarNs);
      });
      if (pairs != nullptr) found.insert(found.end(), pairs->begin(), pairs->end());
    }
    return found;
  }

 private:
  uint32_t name_of(uint32_t w) const {
    return run_.trace->activities.name[run_.works[w].activity.index()].value;
  }
  // Notes the works of other streams of its process that ended just before it began, the last per
  // stream and name.
  void add_late(uint32_t w) {
    const FlowWork& work = run_.works[w];
    Repetition<Followed>& works = late_[{name_of(w), work.stream}];
    ++works.cases;
    const auto after = std::partition_point(ends_.begin(), ends_.end(), [&work](const Timed& end) {
      return end.time_ns <= work.start_ns;
    });
    size_t seen = 0;
    for (auto at = after; at != ends_.begin() && seen < kMostEndsBack; ++seen) {
      --at;
      if (at->time_ns < work.start_ns - kFollowsFarNs) break;
      const FlowWork& other = run_.works[at->row];
      if (other.stream == work.stream || process_of(run_, other) != process_of(run_, work))
        continue;
      works.note({other.stream, kAnyName}, w, at->row);
      works.note({other.stream, name_of(at->row)}, w, at->row);
    }
  }

  void count_ends() {
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      ++ends_count_[{run_.works[w].stream, kAnyName}];
      ++ends_count_[{run_.works[w].stream, name_of(w)}];
    }
  }

  const FlowRun& run_;
  const std::vector<Timed>& ends_;
  std::map<LateKind, Repetition<Followed>> late_;
  std::map<Followed, uint64_t> ends_count_;
};

// ---- processes that take turns ------------------------------------------------------------------

// Processes that share a device without overlap: each waits for its turn.
FollowedPairs pairs_by_turns(const FlowRun& run) {
  if (run.launching_processes < 2) return {};
  struct OnDevice {
    std::map<uint32_t, uint32_t> last;  // per process: its work with the latest end so far
    int64_t busy_ns = 0;
    int64_t beside_ns = 0;
    FollowedPairs pairs;
  };
  std::map<uint32_t, OnDevice> devices;
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    const FlowWork& work = run.works[w];
    const uint32_t process = process_of(run, work);
    if (process == kNoFlowRow) continue;
    OnDevice& device = devices[work.device];
    device.busy_ns += work.end_ns - work.start_ns;
    uint32_t before = kNoFlowRow;
    for (const auto& [other, last] : device.last) {
      const int64_t end_ns = run.works[last].end_ns;
      if (other == process) continue;
      device.beside_ns += std::max<int64_t>(std::min(end_ns, work.end_ns) - work.start_ns, 0);
      const bool later = before == kNoFlowRow || end_ns > run.works[before].end_ns;
      if (end_ns <= work.start_ns && later) before = last;
    }
    const auto [own, first] = device.last.try_emplace(process, w);
    // Also if the host launched later: without that delay the turns would remain.
    const bool turn =
        before != kNoFlowRow && (first || run.works[own->second].end_ns < run.works[before].end_ns);
    if (turn) device.pairs.push_back({w, before});
    if (!first && run.works[own->second].end_ns < work.end_ns) own->second = w;
  }
  FollowedPairs pairs;
  for (const auto& [id, device] : devices) {
    if (device.beside_ns * 50 > device.busy_ns) continue;  // the processes overlap
    pairs.insert(pairs.end(), device.pairs.begin(), device.pairs.end());
  }
  return pairs;
}

}  // namespace

std::vector<RecordedWait> recorded_waits(const FlowRun& run) {
  const Trace& trace = *run.trace;
  std::unordered_map<uint32_t, uint32_t> records;  // by correlation
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const uint32_t correlation = trace.api_calls.correlation[c];
    if (correlation == 0) continue;
    if (run.links->role_of(trace, ApiCallId(c)) != ApiRole::kEventRecord) continue;
    records.try_emplace(correlation, run.outer_call[c]);
  }
  std::vector<RecordedWait> waits;
  const WaitTable& rows = trace.waits;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t a = rows.activity[i].index();
    const Stream& stream = trace.streams[trace.activities.stream[a].index()];
    RecordedWait wait;
    const ApiCallId call = run.links->activity_call[a];
    if (call) wait.call = run.outer_call[call.index()];
    wait.kind = rows.kind[i];
    wait.device = stream.device;
    wait.stream = stream.stream;
    wait.waited_stream = rows.waited_stream[i];
    const auto record = records.find(rows.record_correlation[i]);
    if (record != records.end()) wait.record_call = record->second;
    waits.push_back(wait);
  }
  return waits;
}

LaunchOrder::LaunchOrder(const FlowRun& run) : first_(run.trace->streams.size() + 1, 0) {
  for (const FlowWork& work : run.works) {
    if (work.call != kNoFlowRow) ++first_[work.stream + 1];
  }
  for (size_t s = 1; s < first_.size(); ++s) first_[s] += first_[s - 1];
  launches_.resize(first_.back());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    const FlowWork& work = run.works[w];
    if (work.call == kNoFlowRow) continue;
    launches_[next[work.stream]++] = {run.calls[work.call].start_ns, w};
  }
  for (size_t s = 0; s + 1 < first_.size(); ++s) {
    const auto before = [](const Launch& a, const Launch& b) { return a.call_ns < b.call_ns; };
    const auto from = launches_.begin() + static_cast<std::ptrdiff_t>(first_[s]);
    const auto to = launches_.begin() + static_cast<std::ptrdiff_t>(first_[s + 1]);
    if (!std::is_sorted(from, to, before)) std::stable_sort(from, to, before);
  }
}

uint32_t LaunchOrder::first_from(uint32_t stream, int64_t time_ns) const {
  const Launch* at =
      std::partition_point(begin(stream), end(stream),
                           [time_ns](const Launch& launch) { return launch.call_ns < time_ns; });
  return at == end(stream) ? kNoFlowRow : at->work;
}

uint32_t LaunchOrder::last_before(uint32_t stream, int64_t time_ns) const {
  const Launch* at =
      std::partition_point(begin(stream), end(stream),
                           [time_ns](const Launch& launch) { return launch.call_ns < time_ns; });
  return at == begin(stream) ? kNoFlowRow : (at - 1)->work;
}

void find_waits(FlowRun& run, const std::vector<Timed>& ends) {
  const LaunchOrder launches(run);
  FollowedPairs pairs = pairs_by_rows(run, launches);
  run.recorded_waits = pairs.size();
  const auto& kinds = run.trace->waits.kind;
  if (std::find(kinds.begin(), kinds.end(), WaitKind::kStreamWaitEvent) == kinds.end()) {
    pairs = pairs_by_times(run, launches, ends);
  }
  const FollowedPairs turns = pairs_by_turns(run);
  pairs.insert(pairs.end(), turns.begin(), turns.end());
  const std::vector<uint32_t> late = late_works(run, pairs);
  if (!late.empty()) {
    const FollowedPairs repeated = WaitsByRepetition(run, ends).find(late);
    pairs.insert(pairs.end(), repeated.begin(), repeated.end());
    for (const auto& [waiter, target] : repeated) run.works[waiter].wait_inferred = true;
  }
  run.inferred_waits = pairs.size() - run.recorded_waits;
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [waiter, target] : pairs) {
    FlowWork& work = run.works[waiter];
    if (work.wait_count++ == 0) work.first_wait = static_cast<uint32_t>(run.waits.size());
    run.waits.push_back(target);
  }
}

}  // namespace assay
