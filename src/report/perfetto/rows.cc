#include "report/perfetto/rows.h"

namespace assay {
namespace {

using Entry = TimelineEntry;
using GroupKind = TimelineGroupKind;
using RowKind = TimelineRowKind;

template <typename Table, typename LaneId>
void append_rows(const Table& table, const std::vector<LaneId>& lanes, LaneId lane, RowKind kind,
                 std::vector<Entry>& entries) {
  const auto middle = static_cast<std::ptrdiff_t>(entries.size());
  const auto [first, last] = rows_of(lanes, lane);
  for (size_t row = first; row < last; ++row) {
    entries.push_back({table.start_ns[row], table.dur_ns[row], static_cast<uint32_t>(row), kind});
  }
  std::inplace_merge(entries.begin(), entries.begin() + middle, entries.end());
}

void append_stream(const Trace& trace, StreamId stream, bool sync, std::vector<Entry>& entries) {
  const ActivityTable& rows = trace.activities;
  if (!sync) {
    append_rows(trace.gpu_annotations, trace.gpu_annotations.stream, stream,
                RowKind::kGpuAnnotation, entries);
  }
  const auto middle = static_cast<std::ptrdiff_t>(entries.size());
  const auto [first, last] = rows_of(rows.stream, stream);
  for (size_t row = first; row < last; ++row) {
    if ((rows.kind[row] == ActivityKind::kSync) != sync) continue;
    entries.push_back(
        {rows.start_ns[row], rows.dur_ns[row], static_cast<uint32_t>(row), RowKind::kActivity});
  }
  std::inplace_merge(entries.begin(), entries.begin() + middle, entries.end());
}

}  // namespace

std::vector<TimelineEntry> entries_of(const Trace& trace, const Timeline& timeline,
                                      const TimelineGroup& group) {
  std::vector<Entry> entries;
  switch (group.kind) {
    case GroupKind::kThread: {
      const ThreadId thread(group.index);
      append_rows(trace.annotations, trace.annotations.thread, thread, RowKind::kAnnotation,
                  entries);
      append_rows(trace.other_events, trace.other_events.thread, thread, RowKind::kOther, entries);
      append_rows(trace.frames, trace.frames.thread, thread, RowKind::kFrame, entries);
      append_rows(trace.ops, trace.ops.thread, thread, RowKind::kOp, entries);
      append_rows(trace.api_calls, trace.api_calls.thread, thread, RowKind::kCall, entries);
      break;
    }
    case GroupKind::kStream:
    case GroupKind::kStreamSync:
      append_stream(trace, StreamId(group.index), group.kind == GroupKind::kStreamSync, entries);
      break;
    case GroupKind::kOverheads:
      for (uint32_t row = 0; row < trace.overheads.size(); ++row) {
        entries.push_back(
            {trace.overheads.start_ns[row], trace.overheads.dur_ns[row], row, RowKind::kOverhead});
      }
      std::sort(entries.begin(), entries.end());
      break;
    case GroupKind::kMemory:
      for (uint32_t row = 0; row < trace.memory_events.size(); ++row) {
        entries.push_back({trace.memory_events.time_ns[row], 0, row, RowKind::kMemory});
      }
      break;
    case GroupKind::kTrack: {
      const std::vector<TimelineSlice>& slices = timeline.tracks[group.index].slices;
      for (uint32_t row = 0; row < slices.size(); ++row) {
        entries.push_back({slices[row].start_ns, slices[row].dur_ns, row, RowKind::kSlice});
      }
      std::sort(entries.begin(), entries.end());
      break;
    }
  }
  return entries;
}

}  // namespace assay
