#include "answers/levels/telemetry.h"

#include <algorithm>
#include <utility>

#include "ingest/power/telemetry.h"

namespace assay {
namespace {

// First start and last end of anything in the trace.
Interval span_of(const Trace& trace) {
  Interval span{INT64_MAX, INT64_MIN};
  const auto extend = [&span](const std::vector<int64_t>& start, const std::vector<int64_t>& dur) {
    for (size_t i = 0; i < start.size(); ++i) {
      span.start_ns = std::min(span.start_ns, start[i]);
      span.end_ns = std::max(span.end_ns, start[i] + dur[i]);
    }
  };
  extend(trace.ops.start_ns, trace.ops.dur_ns);
  extend(trace.api_calls.start_ns, trace.api_calls.dur_ns);
  extend(trace.activities.start_ns, trace.activities.dur_ns);
  return span.start_ns <= span.end_ns ? span : Interval{};
}

}  // namespace

Result<TelemetryRun> TelemetryRun::open(const TelemetryRequest& request, bool allow_truncated) {
  TelemetryRun run;
  run.options_ = request.options;
  for (const std::string& file : request.files) {
    ASSAY_TRY_ASSIGN(TelemetryLog log, read_telemetry(file, allow_truncated));
    run.logs_.push_back(std::move(log));
  }
  return run;
}

Status TelemetryRun::add(const Trace& trace, const LevelsReport& report, const std::string& file) {
  if (!any()) return Ok{};
  const Interval span = span_of(trace);
  if (!placed_) {
    int64_t first = span.start_ns;
    if (!trace.activities.start_ns.empty()) {
      first = *std::min_element(trace.activities.start_ns.begin(), trace.activities.start_ns.end());
    }
    ASSAY_TRY_ASSIGN(placed_, place_telemetry(logs_, options_, first));
  }
  constexpr int64_t kYear2001 = 1'000'000'000'000'000'000;
  if (!options_.offset_told && !options_.at_start && span.end_ns < kYear2001) {
    return Error{ErrorCode::kInvalidArgument,
                 "its times are not since 1970 (it has no baseTimeNanoseconds), so that no log can "
                 "be laid beside it: --telemetry-offset SECONDS says what to add to the log's "
                 "times, or 'start'",
                 trace.source, -1};
  }
  ASSAY_TRY(check_telemetry_overlap(*placed_, span));
  for (TelemetryRow& row : telemetry_rows(report, *placed_, options_, notes_)) {
    row.file = file;
    rows_.push_back(std::move(row));
  }
  if (!span_) span_ = span;
  span_->start_ns = std::min(span_->start_ns, span.start_ns);
  span_->end_ns = std::max(span_->end_ns, span.end_ns);
  return Ok{};
}

TelemetryReport TelemetryRun::finish() {
  return summarize_telemetry(placed_.value_or(PlacedTelemetry{}), std::move(rows_),
                             std::move(notes_), span_.value_or(Interval{}));
}

bool TelemetryRun::data_lost() const {
  return std::any_of(logs_.begin(), logs_.end(), [](const TelemetryLog& log) {
    return log.truncated || log.rows_cut > 0 || log.clock_steps > 0;
  });
}

}  // namespace assay
