#pragma once

// Names that exporters of metrics have for what a GPU draws and does.

#include <string>
#include <string_view>

#include "ingest/power/logs/samples.h"

namespace assay {

struct PowerMetric {
  std::string name;  // as wanted or as known
  TelemetryQuantity quantity = TelemetryQuantity::kPower;
  SampleKind kind = SampleKind::kMoment;
  double factor = 1;
  int rank = 0;  // the higher, the rather it is read as the power
  std::string scope;
};

// Labels that distinguish devices; the first one that a metric has counts.
inline constexpr const char* kMetricDeviceLabels[] = {"gpu",  "gpu_id",  "index",   "minor_number",
                                                      "card", "UUID",    "uuid",    "gpu_uuid",
                                                      "path", "package", "instance"};

// The known metric of this name, or the requested one; nullopt if it is neither power nor energy.
std::optional<PowerMetric> power_metric(std::string_view name, const std::string& wanted);
// Takes `one` where it is rather to be read as the power than `best`. Counters rank last.
void take_better(std::optional<PowerMetric>& best, std::optional<PowerMetric> one);
// Clocks, utilisation, temperature; nullptr for other names.
const LogField* metric_field(std::string_view name);
Error no_metric_of_power(const std::string& path, const std::string& wanted);

}  // namespace assay
