#pragma once

// Logs of cores and GPUs, and their alignment with traces.

#include <optional>
#include <string>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "breakdown/roof_levels.h"
#include "breakdown/telemetry.h"
#include "ingest/load.h"

namespace assay {

struct TelemetryRequest {
  std::vector<std::string> files = {};  // docs/formats/telemetry.md
  TelemetryOptions options = {};
};

// Logs of a job, and what its ranks say about them: one rank at a time.
class TelemetryRun {
 public:
  // Reads the logs; nothing to do without any.
  static Result<TelemetryRun> open(const TelemetryRequest& request, bool allow_truncated);
  bool any() const { return !logs_.empty(); }
  // Rows of one rank. Its report still has its kernels. Fails where a log and this trace have no
  // moment in common. `file`: empty for the only one. Power comes from the joint model of sensor
  // and kernels (power/attribute.h), if the samples follow the trace.
  Status add(const LoadedTrace& loaded, const BreakdownReport& report, const std::string& file);
  // Clocks of the GPUs of the trace that was added last, moved as its power was where the log's
  // clock is off. None if the GPU of the rows is unknown.
  ClocksByGpu clocks(const BreakdownReport& report) const;
  TelemetryReport finish();
  bool data_lost() const;

 private:
  Result<std::vector<TelemetryRow>> rows_of(const LoadedTrace& loaded,
                                            const BreakdownReport& report, const std::string& file);

  std::vector<TelemetryLog> logs_;
  TelemetryOptions options_;
  std::optional<PlacedTelemetry> placed_;
  std::vector<TelemetryRow> rows_;
  std::vector<TelemetryLag> lags_;
  TrustNotes notes_;
  std::optional<Interval> span_;
};

}  // namespace assay
