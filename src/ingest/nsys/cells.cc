#include "ingest/nsys/cells.h"

#include <algorithm>
#include <limits>

#include "base/latest_time.h"
#include "ingest/text/json_text.h"

namespace assay {

uint32_t small_or_zero(int64_t value) {
  return value >= 0 && value <= std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(value)
                                                                     : 0u;
}

void NsysCells::count_row() {
  const uint64_t done = ++builder.counts.events;
  const bool report = (done & 0xFFF) == 0 && progress_ != nullptr && rows_expected_ != 0;
  if (!report) return;
  const double share = static_cast<double>(done) / static_cast<double>(rows_expected_);
  progress_->stored_bytes_read =
      static_cast<uint64_t>(std::min(share, 1.0) * static_cast<double>(file_bytes_));
}

bool NsysCells::read_time(const SqliteRows& rows, int cell, int64_t& time_ns) {
  if (rows.integer(cell, time_ns) != CellRead::kValue) {
    builder.log.add(ImportCode::kMissingTimestamp);
    return false;
  }
  if (time_ns < -kLatestNs || time_ns > kLatestNs) {
    builder.log.add(ImportCode::kTimestampOverflow);
    return false;
  }
  if (time_ns < 0) builder.log.add(ImportCode::kNegativeTimestamp);
  TimeShape& shape = builder.time_shape;
  ++shape.times;
  shape.min_start_ns = std::min(shape.min_start_ns, time_ns);
  shape.max_start_ns = std::max(shape.max_start_ns, time_ns);
  shape.sub_microsecond |= time_ns % 1000 != 0;
  return true;
}

bool NsysCells::read_span(const SqliteRows& rows, int start_cell, int end_cell, NsysSpan& span) {
  if (!read_time(rows, start_cell, span.start_ns)) return false;
  int64_t end_ns = 0;
  if (rows.integer(end_cell, end_ns) != CellRead::kValue) {
    builder.log.add(ImportCode::kOpenRange);
    span.open = true;
    latest_end_ns_ = std::max(latest_end_ns_, span.start_ns);
    return true;
  }
  if (end_ns > kLatestNs) {
    builder.log.add(ImportCode::kTimestampOverflow);
    return false;
  }
  if (end_ns < span.start_ns) {
    builder.log.add(ImportCode::kNegativeDuration);
    end_ns = span.start_ns;
  }
  span.dur_ns = end_ns - span.start_ns;
  builder.time_shape.sub_microsecond |= span.dur_ns % 1000 != 0;
  builder.time_shape.max_dur_ns = std::max(builder.time_shape.max_dur_ns, span.dur_ns);
  latest_end_ns_ = std::max(latest_end_ns_, end_ns);
  return true;
}

uint32_t NsysCells::read_correlation(const SqliteRows& rows, int cell, bool is_expected) {
  int64_t id = 0;
  switch (rows.integer(cell, id)) {
    case CellRead::kAbsent:
      if (is_expected) builder.log.add(ImportCode::kMissingCorrelation);
      return 0;
    case CellRead::kWrongType:
      builder.log.add(ImportCode::kWrongType);
      return 0;
    case CellRead::kValue:
      break;
  }
  // The largest value means "none" in row ids; no real correlation id has it.
  if (id >= 0 && id < std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(id);
  builder.log.add(ImportCode::kIdOutOfRange);
  return 0;
}

uint32_t NsysCells::read_process(const SqliteRows& rows, int cell) {
  int64_t id = 0;
  return rows.integer(cell, id) == CellRead::kValue ? lanes.process(static_cast<uint64_t>(id))
                                                    : kNoProcess;
}

ThreadId NsysCells::read_thread(const SqliteRows& rows, int cell) {
  int64_t id = 0;
  if (rows.integer(cell, id) == CellRead::kValue) return lanes.thread(static_cast<uint64_t>(id));
  builder.log.add(ImportCode::kMissingProcess);
  return builder.thread("0", "0");
}

StringId NsysCells::read_name(const SqliteRows& rows, int cell, NameForm form) {
  int64_t id = 0;
  if (rows.integer(cell, id) == CellRead::kValue) return names_.find(id, form, builder);
  builder.log.add(ImportCode::kMissingName);
  return StringId(0);
}

CellRead NsysCells::read_text(const SqliteRows& rows, int cell, std::string_view& text) {
  const CellRead read = rows.text(cell, text);
  if (read != CellRead::kValue) return read;
  uint64_t invalid = 0;
  text = valid_utf8(text, scratch_, invalid);
  if (invalid != 0) builder.log.add(ImportCode::kInvalidUtf8, -1, invalid);
  return read;
}

void NsysCells::finish(int64_t session_end_ns) {
  close_open_rows(session_end_ns);
  separate_correlations();
}

void NsysCells::close_open_rows(int64_t session_end_ns) {
  const int64_t end_ns = std::max(session_end_ns, latest_end_ns_);
  for (const OpenRow& open : open_rows_) {
    int64_t& dur_ns = (*open.dur_ns)[open.row];
    dur_ns = end_ns - (*open.start_ns)[open.row];
    builder.time_shape.max_dur_ns = std::max(builder.time_shape.max_dur_ns, dur_ns);
  }
}

// Ids are unique only within a process: moves each process's ids to a separate range.
void NsysCells::separate_correlations() {
  struct Range {
    uint32_t low = std::numeric_limits<uint32_t>::max();
    uint32_t high = 0;
    int64_t shift = 0;
    bool fits = true;
  };
  std::vector<Range> ranges(lanes.processes());
  const auto widen = [&ranges](const auto& ids, const std::vector<uint32_t>& processes) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == 0 || processes[i] == kNoProcess) continue;
      Range& range = ranges[processes[i]];
      range.low = std::min(range.low, ids[i]);
      range.high = std::max(range.high, ids[i]);
    }
  };
  widen(builder.api_calls.correlation, call_process);
  widen(builder.activities.correlation, activity_process);
  widen(builder.waits.record_correlation, wait_process);
  const auto used =
      std::count_if(ranges.begin(), ranges.end(), [](const Range& r) { return r.high != 0; });
  if (used < 2) return;
  builder.log.add(ImportCode::kSeveralProcesses, -1, static_cast<uint64_t>(used));
  int64_t next = 1;
  for (Range& range : ranges) {
    if (range.high == 0) continue;
    range.shift = next - range.low;
    range.fits = range.high + range.shift < std::numeric_limits<uint32_t>::max();
    if (range.fits) next = range.high + range.shift + 1;
  }
  const auto move = [&](auto& ids, const std::vector<uint32_t>& processes) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == 0) continue;
      const bool known = processes[i] != kNoProcess;
      if (known && ranges[processes[i]].fits) {
        ids[i] = static_cast<uint32_t>(ids[i] + ranges[processes[i]].shift);
        continue;
      }
      builder.log.add(known ? ImportCode::kIdOutOfRange : ImportCode::kMissingCorrelation);
      ids[i] = 0;
    }
  };
  move(builder.api_calls.correlation, call_process);
  move(builder.activities.correlation, activity_process);
  move(builder.waits.record_correlation, wait_process);
}

}  // namespace assay
