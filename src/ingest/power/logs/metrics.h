#pragma once

// Names of metrics in which exporters report a GPU's power and state.

#include <string>
#include <string_view>

#include "ingest/power/logs/samples.h"

namespace assay {

struct PowerMetric {
  std::string name;  // the requested name, or the one in the table
  TelemetryQuantity quantity = TelemetryQuantity::kPower;
  SampleKind kind = SampleKind::kMoment;
  double factor = 1;
  int rank = 0;  // preference as the power to read; higher is better
  std::string scope;
};

// Labels that distinguish devices; the first one that a metric has is used.
inline constexpr const char* kMetricDeviceLabels[] = {"gpu",  "gpu_id",  "index",   "minor_number",
                                                      "card", "UUID",    "uuid",    "gpu_uuid",
                                                      "path", "package", "instance"};

// The metric of this name, if it is known or requested; nullopt if it is neither power nor energy.
std::optional<PowerMetric> power_metric(std::string_view name, const std::string& wanted);
// Replaces `best` by `one` if that ranks higher. Counters rank last.
void take_better(std::optional<PowerMetric>& best, std::optional<PowerMetric> one);
// Clocks, utilisation, temperature; nullptr for other names.
const LogField* metric_field(std::string_view name);
Error no_metric_of_power(const std::string& path, const std::string& wanted);

}  // namespace assay
