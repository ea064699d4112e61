#include "ingest/power/logs/metrics.h"

#include "base/ascii.h"

namespace assay {
namespace {

using enum TelemetryQuantity;

// Names documented by the exporters: NVIDIA's dcgm-exporter, AMD's device-metrics-exporter,
// nvidia_gpu_exporter, nvidia_gpu_prometheus_exporter, node_exporter.
const PowerMetric kPowers[] = {
    {"DCGM_FI_DEV_POWER_USAGE_INSTANT", kPower, SampleKind::kMoment, 1, 9, ""},
    {"DCGM_FI_DEV_POWER_USAGE", kPower, SampleKind::kMoment, 1, 8, ""},
    {"gpu_average_package_power", kPower, SampleKind::kMoment, 1, 7, ""},
    {"gpu_package_power", kPower, SampleKind::kMoment, 1, 8, ""},
    {"amd_gpu_average_package_power", kPower, SampleKind::kMoment, 1, 7, ""},
    {"amd_gpu_package_power", kPower, SampleKind::kMoment, 1, 8, ""},
    {"nvidia_smi_power_draw_instant_watts", kPower, SampleKind::kMoment, 1, 9, ""},
    {"nvidia_smi_power_draw_watts", kPower, SampleKind::kMoment, 1, 8, ""},
    {"nvidia_gpu_power_usage_milliwatts", kPower, SampleKind::kMoment, 1e-3, 8, ""},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", kPower, SampleKind::kCounter, 1e-3, 1, ""},
    {"gpu_energy_consumed", kPower, SampleKind::kCounter, 1e-6, 1, ""},
    {"amd_gpu_energy_consumed", kPower, SampleKind::kCounter, 1e-6, 1, ""},
    {"node_rapl_package_joules_total", kCpuPower, SampleKind::kCounter, 1, 0,
     "the processors' packages"},
};

constexpr LogField kOthers[] = {
    {"dcgm_fi_dev_sm_clock", kSmClock},     {"dcgm_fi_dev_mem_clock", kMemoryClock},
    {"dcgm_fi_dev_gpu_util", kGpuUtil},     {"dcgm_fi_dev_mem_copy_util", kMemoryUtil},
    {"dcgm_fi_dev_gpu_temp", kTemperature},
};

}  // namespace

std::optional<PowerMetric> power_metric(std::string_view name, const std::string& wanted) {
  const auto found = std::find_if(std::begin(kPowers), std::end(kPowers),
                                  [name](const PowerMetric& one) { return one.name == name; });
  if (found != std::end(kPowers)) {
    const bool chosen = wanted.empty() || wanted == name || found->kind == SampleKind::kCounter;
    return chosen ? std::optional(*found) : std::nullopt;
  }
  if (wanted.empty() || wanted != name) return std::nullopt;
  // A requested but unknown metric is in watts, or in the unit at the end of its name.
  const std::string unit = unit_in_name(wanted);
  const auto joules = unit_in_joules(unit);
  constexpr int kAsked = 10;
  return PowerMetric{wanted,
                     kPower,
                     joules ? SampleKind::kCounter : SampleKind::kMoment,
                     joules ? *joules : unit_in_watts(unit).value_or(1),
                     kAsked,
                     ""};
}

void take_better(std::optional<PowerMetric>& best, std::optional<PowerMetric> one) {
  if (one && (!best || one->rank > best->rank)) best = std::move(one);
}

const LogField* metric_field(std::string_view name) { return field_named(kOthers, lower(name)); }

Error no_metric_of_power(const std::string& path, const std::string& wanted) {
  return Error{wanted.empty() ? ErrorCode::kFormat : ErrorCode::kInvalidArgument,
               wanted.empty()
                   ? "no metric in it is known to be a power or an energy: name one with "
                     "--column"
                   : "has no metric " + wanted,
               path, -1};
}

}  // namespace assay
