#pragma once

// Logs of cores and GPUs beside traces, and how they lie there.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "levels/telemetry.h"
#include "trace/trace.h"

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
  // Rows of one rank, whose report still has its kernels. Fails where a log and this trace have no
  // moment in common. `file`: empty for the only one.
  Status add(const Trace& trace, const LevelsReport& report, const std::string& file);
  TelemetryReport finish();
  bool data_lost() const;

 private:
  std::vector<TelemetryLog> logs_;
  TelemetryOptions options_;
  std::optional<PlacedTelemetry> placed_;
  std::vector<TelemetryRow> rows_;
  TrustNotes notes_;
  std::optional<Interval> span_;
};

}  // namespace assay
