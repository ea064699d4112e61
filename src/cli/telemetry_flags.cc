#include "cli/telemetry_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/decimal.h"
#include "base/latest_time.h"
#include "cli/name_value.h"
#include "cli/options.h"
#include "ingest/power/telemetry.h"

namespace assay {
namespace {

constexpr int64_t kMinute = 60'000'000'000;
constexpr const char* kGpuForm =
    "GPU=DEVICE, the number in the trace and the name or uuid in the log";

Error bad_flag(const std::string& text) { return Error{ErrorCode::kInvalidArgument, text, "", -1}; }

// "UTC", "+02:00", "-5", "+0530": nanoseconds east of UTC.
Result<int64_t> parse_zone(const std::string& text) {
  const Error bad = bad_flag("--telemetry-zone " + text + ": UTC, or hours such as +02:00 or -5");
  if (text == "UTC" || text == "utc" || text == "Z") return int64_t{0};
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return bad;
  std::string digits = text.substr(1);
  const size_t colon = digits.find(':');
  if (colon == std::string::npos && digits.size() == 4) digits.insert(2, ":");
  const size_t split = digits.find(':');
  int64_t hours = 0;
  int64_t minutes = 0;
  const bool fine = parse_int64(digits.substr(0, split), hours) &&
                    (split == std::string::npos || parse_int64(digits.substr(split + 1), minutes));
  constexpr int64_t kMostHours = 14;
  if (!fine || hours < 0 || hours > kMostHours || minutes < 0 || minutes > 59) return bad;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes) * kMinute;
}

Result<TelemetryOptions> parse_options(const TelemetryFlags& flags) {
  TelemetryOptions options;
  ASSAY_TRY_ASSIGN(options.zone_ns, parse_zone(flags.zone));
  if (flags.offset == "start") {
    options.at_start = true;
  } else if (!flags.offset.empty()) {
    DecimalShape shape;
    if (parse_decimal(flags.offset, 9, options.offset_ns, shape) != DecimalStatus::kOk ||
        options.offset_ns > kLatestNs || options.offset_ns < -kLatestNs) {
      return bad_flag("--telemetry-offset " + flags.offset + ": seconds, or the word start");
    }
    options.offset_told = true;
  }
  for (const std::string& pair : flags.gpus) {
    ASSAY_TRY_ASSIGN(const auto named, split_name_value("--telemetry-gpu", pair, kGpuForm));
    int64_t gpu = 0;
    if (!parse_int64(named.first, gpu)) {
      return bad_flag("--telemetry-gpu " + pair + ": write it as " + kGpuForm);
    }
    options.device_of[gpu] = named.second;
  }
  return options;
}

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

void add_telemetry_options(Verb& verb, TelemetryFlags& flags) {
  verb.option("--telemetry", flags.files,
              "logs of cores and GPUs beside the trace: assay sample, nvidia-smi, AMDuProf, "
              "Chopper (docs/formats/telemetry.md); may be given again")
      .called("FILE")
      .one_per_mention();
  verb.option("--telemetry-offset", flags.offset,
              "seconds to add to their times, or start: they begin with the trace's first "
              "device work")
      .called("SECONDS");
  verb.option("--telemetry-zone", flags.zone, "time zone of logs in local time, e.g. +02:00")
      .called("ZONE")
      .shows_default();
  verb.option("--telemetry-gpu", flags.gpus,
              "which device of the log a GPU of the trace is, e.g. 0=GPU-1b2c (default: the "
              "same number); may be given again")
      .called("GPU=DEVICE")
      .one_per_mention();
}

Result<TelemetryRun> TelemetryRun::open(const TelemetryFlags& flags, bool allow_truncated) {
  TelemetryRun run;
  ASSAY_TRY_ASSIGN(run.options_, parse_options(flags));
  for (const std::string& file : flags.files) {
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
