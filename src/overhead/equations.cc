#include <algorithm>
#include <utility>

#include "overhead/overhead.h"
#include "overhead/overhead_summer.h"

namespace assay {
std::string_view overhead_mode_name(HostOverheadMode mode) {
  switch (mode) {
    case HostOverheadMode::kExclusive:
      return "exclusive";
    case HostOverheadMode::kPaper:
      return "paper";
    case HostOverheadMode::kCode:
      return "code";
  }
  return "";
}

std::string_view overhead_phase_name(HostOverheadPhase phase) {
  switch (phase) {
    case HostOverheadPhase::kNone:
      return "none";
    case HostOverheadPhase::kPrefill:
      return "prefill";
    case HostOverheadPhase::kDecode:
      return "decode";
  }
  return "";
}

std::optional<int64_t> dispatch_base(const std::vector<KernelCost>& rows, BaseWeighting weighting) {
  struct Weighted {
    int64_t time_ns;
    uint64_t weight;
  };
  std::vector<Weighted> values;
  uint64_t total = 0;
  for (const KernelCost& row : rows) {
    const uint64_t paid = row.invocations - row.unpaid;
    if (row.library || paid == 0 || row.t_dispatch_ns <= kDispatchNoiseNs) continue;
    values.push_back({row.t_dispatch_ns, weighting == BaseWeighting::kKernel ? 1 : paid});
    total += values.back().weight;
  }
  if (total == 0) return std::nullopt;
  std::sort(values.begin(), values.end(),
            [](const Weighted& a, const Weighted& b) { return a.time_ns < b.time_ns; });
  // Value at index `place` of the sorted list in which every value is repeated `weight` times.
  const auto at = [&](uint64_t place) {
    for (const Weighted& value : values) {
      if (place < value.weight) return value.time_ns;
      place -= value.weight;
    }
    return values.back().time_ns;
  };
  const int64_t low = at((total - 1) / 2);
  return low + (at(total / 2) - low + 1) / 2;
}

std::optional<double> hdbi(uint64_t kernels, int64_t t_device_ns, int64_t t_orch_ns) {
  if (kernels == 0 || t_orch_ns <= 0) return std::nullopt;
  const auto device = static_cast<double>(t_device_ns);
  return device / (device + static_cast<double>(t_orch_ns));
}

HostOverheadSummer::HostOverheadSummer(HostOverheadMode mode, int64_t base_ns, int64_t floor_ns)
    : mode_(mode), base_ns_(base_ns), floor_ns_(floor_ns) {}

void HostOverheadSummer::add(const KernelCost& row) {
  const auto all = static_cast<int64_t>(row.invocations);
  const auto paid = static_cast<int64_t>(row.invocations - row.unpaid);
  const bool own_dispatch = mode_ != HostOverheadMode::kPaper && !row.library;
  // As printed, a library kernel is charged the base even if its own dispatch took less.
  const int64_t base_ns = is_literal(mode_) ? base_ns_ : std::min(base_ns_, row.t_dispatch_ns);
  sums_.n += row.invocations;
  sums_.t_device_ns += all * row.dur_ns;
  sums_.t_py_ns += paid * row.t_py_ns;
  sums_.ft_dispatch_ns += paid * (own_dispatch ? row.t_dispatch_ns : base_ns);
  if (row.library) sums_.ct_ns += paid * std::max<int64_t>(0, row.t_dispatch_ns - base_ns_);
  if (!is_literal(mode_)) sums_.kt_ns += paid * row.call_ns;
  sums_.host_observed_ns += paid * (row.t_py_ns + row.t_dispatch_ns);
  if (row.t_launch_ns) {
    sums_.kt_fw_ns += paid * std::max<int64_t>(0, *row.t_launch_ns - floor_ns_);
    sums_.host_observed_ns += paid * *row.t_launch_ns;
  }
}

HostOverheadSums HostOverheadSummer::finish(uint64_t n_launch) const {
  HostOverheadSums sums = sums_;
  sums.n_launch = n_launch;
  sums.ft_ns = sums.t_py_ns + sums.ft_dispatch_ns;
  if (is_literal(mode_)) sums.kt_ns = static_cast<int64_t>(n_launch) * floor_ns_;
  sums.t_orch_ns = sums.ft_ns + sums.ct_ns + sums.kt_ns;
  sums.host_framework_ns = sums.host_observed_ns - sums.kt_ns;
  sums.hdbi = hdbi(sums.n, sums.t_device_ns, sums.t_orch_ns);
  return sums;
}

HostOverheadSums sum_overhead(const std::vector<KernelCost>& rows, HostOverheadMode mode,
                              int64_t base_ns, int64_t floor_ns, uint64_t n_launch) {
  HostOverheadSummer summer(mode, base_ns, floor_ns);
  for (const KernelCost& row : rows) summer.add(row);
  return summer.finish(n_launch);
}

}  // namespace assay
