// Device work: who launched it, when it was handed over, what it follows on its stream, in its
// graph and by events.

#include <algorithm>
#include <limits>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "flow/build.h"
#include "flow/names.h"
#include "flow/timed.h"
#include "trace/copy_way.h"

namespace assay {
namespace {

// A copy that the device makes alone starts at most this long after the begin of its blocking call.
constexpr int64_t kCopySubmitNs = 10'000;
// How close a start follows an end for a wait to be inferred.
constexpr int64_t kFollowsNs = 5'000;
// Ends that are looked at for one inferred wait: more within so short a time tell nothing.
constexpr size_t kMostEnds = 64;

// Accelerators that file all their rows under one category name copies so: "dma_request" of MTIA.
bool is_dma(std::string_view name) { return name.starts_with("dma") || name.starts_with("DMA"); }

WorkKind work_kind(ActivityKind kind, std::string_view name, bool collective) {
  if (kind == ActivityKind::kMemcpy) return WorkKind::kCopy;
  if (kind == ActivityKind::kOther && is_dma(name)) return WorkKind::kCopy;
  if (kind == ActivityKind::kMemset) return WorkKind::kFill;
  return collective ? WorkKind::kCollective : WorkKind::kCompute;
}

// From pageable host memory, or from host memory of no known kind.
bool is_staged_copy(std::string_view name) {
  return copy_way(name) == CopyWay::kToDevice && !is_pinned_copy(name);
}

int64_t submit_time(const FlowRun& run, const FlowWork& work) {
  const FlowCall& call = run.calls[work.call];
  if (call.end_ns <= work.start_ns) return call.end_ns;
  // A staged copy that begins as soon as its stream is free waited for that, not for the host.
  const bool follows = work.stream_prev != kNoFlowRow &&
                       run.works[work.stream_prev].end_ns > call.start_ns &&
                       work.start_ns - run.works[work.stream_prev].end_ns <= kFollowsNs;
  if (work.kind == WorkKind::kCopy && (!work.host_stages || follows)) {
    return std::max(call.start_ns, std::min(work.start_ns, call.start_ns + kCopySubmitNs));
  }
  return std::max(work.start_ns, call.start_ns);
}

void add_works(FlowRun& run) {
  const ActivityTable& rows = run.trace->activities;
  const std::vector<bool> collective = collective_activities(*run.trace, *run.kernels);
  std::vector<Timed> order;
  for (uint32_t a = 0; a < rows.size(); ++a) {
    if (rows.kind[a] != ActivityKind::kSync) order.push_back({rows.start_ns[a], a});
  }
  sort_runs(order);
  std::vector<uint8_t> staged(run.trace->strings.size(), 0);  // 1: no, 2: yes
  run.works.reserve(order.size());
  for (const Timed& at : order) {
    FlowWork work;
    work.start_ns = at.time_ns;
    work.end_ns = at.time_ns + rows.dur_ns[at.row];
    work.activity = ActivityId(at.row);
    work.stream = rows.stream[at.row].value;
    work.kind =
        work_kind(rows.kind[at.row], run.trace->text(rows.name[at.row]), collective[at.row]);
    if (work.kind == WorkKind::kCopy) {
      uint8_t& told = staged[rows.name[at.row].index()];
      if (told == 0) told = is_staged_copy(run.trace->text(rows.name[at.row])) ? 2 : 1;
      work.host_stages = told == 2;
    }
    const ApiCallId call = run.links->activity_call[at.row];
    if (call) work.call = run.outer_call[call.index()];
    work.helper = !call && rows.kind[at.row] == ActivityKind::kOther;
    run.works.push_back(work);
  }
  // Equal starts: the one that ends first, then the earlier row.
  for (size_t first = 0; first < run.works.size();) {
    size_t end = first + 1;
    while (end < run.works.size() && run.works[end].start_ns == run.works[first].start_ns) ++end;
    std::sort(run.works.begin() + static_cast<std::ptrdiff_t>(first),
              run.works.begin() + static_cast<std::ptrdiff_t>(end),
              [](const FlowWork& a, const FlowWork& b) {
                return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.activity < b.activity;
              });
    first = end;
  }
}

void number_devices(FlowRun& run) {
  for (const FlowWork& work : run.works) {
    run.devices.push_back(run.trace->streams[work.stream].device);
  }
  std::sort(run.devices.begin(), run.devices.end());
  run.devices.erase(std::unique(run.devices.begin(), run.devices.end()), run.devices.end());
  for (FlowWork& work : run.works) {
    const int64_t device = run.trace->streams[work.stream].device;
    work.device = static_cast<uint32_t>(
        std::lower_bound(run.devices.begin(), run.devices.end(), device) - run.devices.begin());
  }
}

void list_works_of_calls(FlowRun& run) {
  for (const FlowWork& work : run.works) {
    if (work.call != kNoFlowRow) ++run.calls[work.call].work_count;
  }
  uint32_t next = 0;
  for (FlowCall& call : run.calls) {
    call.first_work = next;
    next += call.work_count;
    call.work_count = 0;
  }
  run.works_of_calls.resize(next);
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    if (run.works[w].call == kNoFlowRow) continue;
    FlowCall& call = run.calls[run.works[w].call];
    run.works_of_calls[call.first_work + call.work_count++] = w;
  }
  for (FlowWork& work : run.works) {
    if (work.call == kNoFlowRow) continue;
    const FlowCall& call = run.calls[work.call];
    work.in_graph = call.graph || call.work_count > 1;
  }
}

// Per stream the works that have begun and not ended; what has ended leaves in the order of ends.
void find_stream_predecessors(FlowRun& run) {
  struct End {
    int64_t end_ns;
    uint32_t work;
    bool operator>(const End& other) const {
      return end_ns != other.end_ns ? end_ns > other.end_ns : work > other.work;
    }
  };
  struct Lane {
    std::priority_queue<End, std::vector<End>, std::greater<End>> running;
    uint32_t last = kNoFlowRow;
  };
  std::vector<Lane> streams(run.trace->streams.size());
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    FlowWork& work = run.works[w];
    Lane& lane = streams[work.stream];
    while (!lane.running.empty() && lane.running.top().end_ns <= work.start_ns) {
      lane.last = lane.running.top().work;
      lane.running.pop();
    }
    work.stream_prev = lane.last;
    lane.running.push({work.end_ns, w});
  }
}

// Of the nodes of a graph launch that began earlier: the one with the latest end, if it has ended.
void find_graph_predecessors(FlowRun& run) {
  std::vector<uint32_t> latest(run.calls.size(), kNoFlowRow);
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    FlowWork& work = run.works[w];
    if (!work.in_graph) continue;
    uint32_t& last = latest[work.call];
    if (last != kNoFlowRow && run.works[last].end_ns <= work.start_ns) work.graph_prev = last;
    if (last == kNoFlowRow || run.works[last].end_ns < work.end_ns) last = w;
  }
}

// Which devices each thread launches to, and which other threads of its process do.
void find_colleagues(FlowRun& run) {
  constexpr size_t kMostColleagues = 8;
  std::vector<std::unordered_map<uint32_t, uint64_t>> counts(run.threads.size());
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow) continue;
    const size_t thread = run.calls[work.call].thread.index();
    ++counts[thread][work.device];
    ++run.threads[thread].launches;
  }
  std::vector<uint32_t> launching;
  for (uint32_t t = 0; t < run.threads.size(); ++t) {
    for (const auto& [device, count] : counts[t]) run.threads[t].devices.push_back(device);
    std::sort(run.threads[t].devices.begin(), run.threads[t].devices.end());
    if (!counts[t].empty()) launching.push_back(t);
  }
  std::stable_sort(launching.begin(), launching.end(), [&](uint32_t a, uint32_t b) {
    return run.threads[a].launches > run.threads[b].launches;
  });
  for (const uint32_t t : launching) {
    HostThread& thread = run.threads[t];
    for (const uint32_t other : launching) {
      if (other == t || run.threads[other].process != thread.process) continue;
      const auto shared = [&](uint32_t device) { return counts[other].count(device) != 0; };
      if (!std::any_of(thread.devices.begin(), thread.devices.end(), shared)) continue;
      thread.colleagues.push_back(other);
      if (thread.colleagues.size() == kMostColleagues) break;
    }
  }
}

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

// (waiting work, work it waits for)
using WaitPairs = std::vector<std::pair<uint32_t, uint32_t>>;

WaitPairs pairs_by_rows(const FlowRun& run, const LaunchOrder& launches) {
  const StreamIndex streams(*run.trace);
  WaitPairs pairs;
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

// Times of StreamWaitEvent calls, per thread.
std::vector<std::vector<int64_t>> wait_calls(const FlowRun& run) {
  std::vector<std::vector<int64_t>> times(run.threads.size());
  for (const FlowCall& call : run.calls) {
    if (run.links->role_of(*run.trace, call.row) == ApiRole::kStreamWait) {
      times[call.thread.index()].push_back(call.start_ns);
    }
  }
  return times;
}

// The work of another stream of the device, launched earlier, that ended just before `work` began.
uint32_t just_ended(const FlowRun& run, const std::vector<Timed>& ends, const FlowWork& work) {
  const auto after = std::partition_point(
      ends.begin(), ends.end(), [&work](const Timed& end) { return end.time_ns <= work.start_ns; });
  const int64_t launched_ns = run.calls[work.call].start_ns;
  size_t seen = 0;
  for (auto at = after; at != ends.begin() && seen < kMostEnds; ++seen) {
    --at;
    if (at->time_ns < work.start_ns - kFollowsNs) break;
    const FlowWork& other = run.works[at->row];
    const bool elsewhere = other.stream != work.stream && other.device == work.device;
    if (!elsewhere || other.call == kNoFlowRow) continue;
    if (run.calls[other.call].start_ns < launched_ns) return at->row;
  }
  return kNoFlowRow;
}

WaitPairs pairs_by_times(const FlowRun& run, const LaunchOrder& launches) {
  const auto waits = wait_calls(run);
  std::vector<Timed> ends;
  for (uint32_t w = 0; w < run.works.size(); ++w) ends.push_back({run.works[w].end_ns, w});
  sort_runs(ends);
  WaitPairs pairs;
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

void find_works(FlowRun& run) {
  add_works(run);
  number_devices(run);
  list_works_of_calls(run);
  find_stream_predecessors(run);
  find_graph_predecessors(run);
  find_colleagues(run);
  for (FlowWork& work : run.works) {
    if (work.call != kNoFlowRow) work.submit_ns = submit_time(run, work);
  }
}

void find_waits(FlowRun& run) {
  const LaunchOrder launches(run);
  WaitPairs pairs = pairs_by_rows(run, launches);
  run.recorded_waits = pairs.size();
  const auto& kinds = run.trace->waits.kind;
  if (std::find(kinds.begin(), kinds.end(), WaitKind::kStreamWaitEvent) == kinds.end()) {
    pairs = pairs_by_times(run, launches);
    run.inferred_waits = pairs.size();
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [waiter, target] : pairs) {
    FlowWork& work = run.works[waiter];
    if (work.wait_count++ == 0) work.first_wait = static_cast<uint32_t>(run.waits.size());
    run.waits.push_back(target);
  }
}

}  // namespace assay
