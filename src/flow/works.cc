// Device work: its launch call, submission time, and predecessors on its stream and in its graph.

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>

#include "flow/build.h"
#include "flow/names.h"
#include "flow/timed.h"
#include "trace/copy_way.h"

namespace assay {
namespace {

// A copy without staging is submitted at most this long after the begin of its blocking call.
constexpr int64_t kCopySubmitNs = 10'000;
// A copy that begins this soon after its predecessor's end waited for it.
constexpr int64_t kCopyFollowsNs = 5'000;

// Copies of accelerators that record everything under one category, e.g. "dma_request" of MTIA.
bool is_dma(std::string_view name) { return name.starts_with("dma") || name.starts_with("DMA"); }

WorkKind work_kind(ActivityKind kind, std::string_view name, bool collective) {
  if (kind == ActivityKind::kMemcpy) return WorkKind::kCopy;
  if (kind == ActivityKind::kOther && is_dma(name)) return WorkKind::kCopy;
  if (kind == ActivityKind::kMemset) return WorkKind::kFill;
  return collective ? WorkKind::kCollective : WorkKind::kCompute;
}

struct CopyMemory {
  bool staged = false;  // from host memory that is not known to be pinned
  bool pageable = false;
  bool managed = false;
};
CopyMemory copy_memory(std::string_view name) {
  return {.staged = copy_way(name) == CopyWay::kToDevice && !is_pinned_copy(name),
          .pageable = is_pageable_copy(name),
          .managed = is_managed_copy(name)};
}

int64_t submit_time(const FlowRun& run, const FlowWork& work) {
  const FlowCall& call = run.calls[work.call];
  if (call.end_ns <= work.start_ns) return call.end_ns;
  // A staged copy that begins as soon as its stream is free waited for the stream, not for the
  // host.
  const bool follows = work.stream_prev != kNoFlowRow &&
                       run.works[work.stream_prev].end_ns > call.start_ns &&
                       work.start_ns - run.works[work.stream_prev].end_ns <= kCopyFollowsNs;
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
  std::vector<std::optional<CopyMemory>> memory(run.trace->strings.size());  // by name of the copy
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
      std::optional<CopyMemory>& of = memory[rows.name[at.row].index()];
      if (!of) of = copy_memory(run.trace->text(rows.name[at.row]));
      work.host_stages = of->staged;
      work.pageable = of->pageable;
    }
    const ApiCallId call = run.links->activity_call[at.row];
    if (call) work.call = run.outer_call[call.index()];
    work.migration = !call && work.kind == WorkKind::kCopy &&
                     memory[rows.name[at.row].index()]->managed;
    work.helper = work.migration || (!call && rows.kind[at.row] == ActivityKind::kOther);
    run.works.push_back(work);
  }
  // Equal starts: by end, then by row.
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

// Sweeps each stream's running works; ended ones leave in the order of their ends.
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

// Per node of a graph launch: the earlier node with the latest end, if that has ended.
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

// Per thread: the devices it launches to, and other launching threads of its process that share
// one.
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

uint64_t count_launching_processes(const FlowRun& run) {
  std::set<uint32_t> processes;
  for (const HostThread& thread : run.threads) {
    if (thread.launches > 0) processes.insert(thread.process);
  }
  return processes.size();
}

}  // namespace

void find_works(FlowRun& run) {
  add_works(run);
  number_devices(run);
  list_works_of_calls(run);
  find_stream_predecessors(run);
  find_graph_predecessors(run);
  find_colleagues(run);
  run.launching_processes = count_launching_processes(run);
  for (FlowWork& work : run.works) {
    if (work.call == kNoFlowRow) continue;
    work.submit_ns = submit_time(run, work);
    run.launches_told = true;
  }
}

std::vector<Timed> ends_of_works(const FlowRun& run) {
  std::vector<Timed> ends;
  ends.reserve(run.works.size());
  for (uint32_t w = 0; w < run.works.size(); ++w) ends.push_back({run.works[w].end_ns, w});
  sort_runs(ends);
  return ends;
}

}  // namespace assay
