#pragma once

// CPU and GPU telemetry logs, and their alignment with traces.

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

// Joins the logs of a job to its ranks, one rank at a time.
class TelemetryRun {
 public:
  // Reads the logs. The object stays empty if there are no files, see any().
  static Result<TelemetryRun> open(const TelemetryRequest& request, bool allow_truncated);
  bool any() const { return !logs_.empty(); }
  // Adds the rows of one rank. `report` must still contain its kernels. `file` is empty for a
  // single trace. Power comes from the joint model of sensor and kernels (power/attribute.h) if the
  // samples follow the trace. Errors: a log that does not overlap this trace in time.
  Status add(const LoadedTrace& loaded, const BreakdownReport& report, const std::string& file);
  // Clocks of the GPUs of the trace added last. If the log's clock is off, they are shifted by the
  // offset found for power. Empty if the GPU of the rows is unknown.
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
