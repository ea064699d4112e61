#include "overhead/family_table.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/stats.h"

namespace assay {
namespace {

// Mean T_launch of a unique kernel over the invocations that have one.
std::optional<double> mean_launch(const std::vector<HostOverheadRow>& rows,
                                  const UniqueKernel& kernel) {
  int64_t sum_ns = 0;
  int64_t count = 0;
  for (uint32_t r : kernel.rows) {
    if (!rows[r].cost.t_launch_ns) continue;
    sum_ns += *rows[r].cost.t_launch_ns;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return static_cast<double>(sum_ns) / static_cast<double>(count);
}

void set_launch_times(std::vector<double> launch_means, int64_t floor_ns, FamilyOverhead& family) {
  std::sort(launch_means.begin(), launch_means.end());
  family.launch_p50_ns = quantile_sorted(launch_means, 0.50);
  family.launch_p95_ns = quantile_sorted(launch_means, 0.95);
  family.kt_fw_ns = family.launch_p50_ns - static_cast<double>(floor_ns);
  family.share_of_floor = floor_ns > 0 ? family.kt_fw_ns / static_cast<double>(floor_ns)
                                       : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<FamilyOverhead> family_table(const std::vector<std::string>& families,
                                         const std::vector<HostOverheadRow>& rows,
                                         const std::vector<UniqueKernel>& kernels,
                                         const HostOverheadMeter& meter, int64_t floor_ns) {
  std::vector<std::vector<uint32_t>> members(families.size());
  for (uint32_t r = 0; r < rows.size(); ++r) members[rows[r].family].push_back(r);
  std::vector<std::vector<double>> launch_means(members.size());
  std::vector<uint64_t> unique(members.size());
  for (const UniqueKernel& kernel : kernels) {
    ++unique[kernel.family];
    const auto mean_ns = mean_launch(rows, kernel);
    if (mean_ns) launch_means[kernel.family].push_back(*mean_ns);
  }

  std::vector<FamilyOverhead> table;
  for (size_t f = 0; f < members.size(); ++f) {
    if (members[f].empty()) continue;
    FamilyOverhead family;
    family.name = families[f];
    family.kernels = members[f].size();
    family.unique_kernels = unique[f];
    for (uint32_t r : members[f]) family.library_kernels += rows[r].cost.library ? 1 : 0;
    family.library = 2 * family.library_kernels > family.kernels;
    set_launch_times(std::move(launch_means[f]), floor_ns, family);
    const HostOverheadSums sums = meter.sum(members[f]);
    family.t_py_ns = sums.t_py_ns;
    family.ft_dispatch_ns = sums.ft_dispatch_ns;
    family.ct_ns = sums.ct_ns;
    family.kt_ns = sums.kt_ns;
    family.t_orch_ns = sums.t_orch_ns;
    family.t_device_ns = sums.t_device_ns;
    table.push_back(std::move(family));
  }
  std::sort(table.begin(), table.end(), [](const FamilyOverhead& a, const FamilyOverhead& b) {
    return a.t_orch_ns != b.t_orch_ns ? a.t_orch_ns > b.t_orch_ns : a.name < b.name;
  });
  return table;
}

}  // namespace assay
