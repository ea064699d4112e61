#include "overhead/exclusive.h"

#include <algorithm>
#include <utility>

#include "trace/launch_wait.h"

namespace assay {

namespace {

constexpr int64_t kNever = INT64_MIN;

// Calls that do not contribute to a launch: waits for the device, and allocations and releases, in
// which most drivers wait too.
bool takes_thread_out(ApiRole role) {
  return is_blocking(role) || role == ApiRole::kAllocate || role == ApiRole::kFree;
}

}  // namespace

ExclusiveTiles::ExclusiveTiles(const Trace& trace, const Links& links,
                               const std::vector<HostOverheadRow>& rows)
    : trace_(trace),
      links_(links),
      rows_(rows),
      before_ns_(rows.size(), kNever),
      call_owner_(trace.api_calls.size(), UINT32_MAX) {
  for (uint32_t r = 0; r < rows.size(); ++r) {
    if (rows[r].owns_call()) call_owner_[rows[r].call.index()] = r;
  }
  // Calls are sorted by thread and start.
  ThreadId thread;
  int64_t end_ns = kNever;
  for (size_t call = 0; call < call_owner_.size(); ++call) {
    if (trace.api_calls.thread[call] != thread) end_ns = kNever;
    thread = trace.api_calls.thread[call];
    if (call_owner_[call] == UINT32_MAX) continue;
    before_ns_[call_owner_[call]] = end_ns;
    end_ns = std::max(end_ns, trace.end_ns(ApiCallId(call)));
  }
}

HostOverheadTile ExclusiveTiles::tile(uint32_t row_id, int64_t from_ns) const {
  const HostOverheadRow& row = rows_[row_id];
  const int64_t before_ns = before_ns_[row_id];
  // Calls of a thread may overlap: a launch is charged only from the end of earlier launches.
  const int64_t call_ns = std::max(trace_.api_calls.start_ns[row.call.index()], before_ns);
  const int64_t open_ns = std::min(std::max({row.root_ns, before_ns, from_ns}), call_ns);
  const int64_t entry_ns = std::clamp(row.entry_ns, open_ns, call_ns);
  return {row_id,   open_ns, std::clamp(row.py_ns, open_ns, entry_ns),
          entry_ns, call_ns, std::max(trace_.end_ns(row.call), call_ns)};
}

// Walks back to the previous launch, so that every call is visited once over all tiles.
std::vector<Interval> ExclusiveTiles::waits(const HostOverheadTile& tile) const {
  const ApiCallTable& calls = trace_.api_calls;
  const size_t launch = rows_[tile.row].call.index();
  std::vector<Interval> waits;
  for (size_t call = launch; call-- > 0;) {
    if (calls.thread[call] != calls.thread[launch] || calls.start_ns[call] < tile.open_ns ||
        call_owner_[call] != UINT32_MAX) {
      break;
    }
    if (!takes_thread_out(links_.role_of(trace_, ApiCallId(call)))) continue;
    waits.push_back({calls.start_ns[call], std::min(trace_.end_ns(ApiCallId(call)), tile.call_ns)});
  }
  const int64_t held_up_ns = calls.start_ns[launch] + kLaunchBackPressureNs;
  if (tile.end_ns > held_up_ns) {
    waits.push_back({std::max(held_up_ns, tile.call_ns), tile.end_ns});
  }
  return merge_intervals(std::move(waits));
}

ExclusiveCost ExclusiveTiles::cost(const HostOverheadTile& tile,
                                   const std::vector<Interval>& waits) {
  const auto part = [&](int64_t start_ns, int64_t end_ns) {
    return end_ns - start_ns - length_ns(clip(waits, {start_ns, end_ns}));
  };
  return {part(tile.py_ns, tile.entry_ns), part(tile.entry_ns, tile.call_ns),
          part(tile.call_ns, tile.end_ns)};
}

ExclusiveOverhead ExclusiveTiles::sum(const std::vector<uint32_t>& row_ids, int64_t from_ns) const {
  std::vector<uint32_t> owners;
  for (uint32_t r : row_ids) {
    if (rows_[r].owns_call()) owners.push_back(r);
  }
  std::sort(owners.begin(), owners.end(),
            [&](uint32_t a, uint32_t b) { return rows_[a].call < rows_[b].call; });
  ExclusiveOverhead overhead;
  ThreadId thread;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  for (uint32_t r : owners) {
    const HostOverheadRow& row = rows_[r];
    const HostOverheadTile t = tile(r, from_ns);
    if (trace_.api_calls.thread[row.call.index()] != thread) {
      overhead.threads_span_ns += last_ns - first_ns;
      thread = trace_.api_calls.thread[row.call.index()];
      first_ns = t.open_ns;
      last_ns = t.end_ns;
    }
    last_ns = std::max(last_ns, t.end_ns);
    const std::vector<Interval> waited = waits(t);
    const ExclusiveCost charged = cost(t, waited);
    const int64_t waiting_ns = length_ns(waited);
    overhead.py_ns += charged.py_ns;
    overhead.dispatch_ns += charged.dispatch_ns;
    overhead.call_ns += charged.call_ns;
    overhead.waiting_ns += waiting_ns;
    overhead.between_ns += t.end_ns - t.open_ns - charged.total_ns() - waiting_ns;
  }
  overhead.threads_span_ns += last_ns - first_ns;
  overhead.total_ns = overhead.py_ns + overhead.dispatch_ns + overhead.call_ns;
  return overhead;
}

}  // namespace assay
