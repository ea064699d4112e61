#include "power/across.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr size_t kXcd = 0;  // into KernelProfile::components

// Indices of the kernels with a known power and this bound.
std::vector<size_t> bound_by(const PowerReport& across, KernelBound bound) {
  std::vector<size_t> found;
  for (size_t i = 0; i < across.kernels.size(); ++i) {
    if (across.takeaways[i].bound == bound && std::isfinite(across.kernels[i].own_w())) {
      found.push_back(i);
    }
  }
  return found;
}

RuleFinding first_differs(const PowerReport& across) {
  RuleFinding finding{.rule = TakeawayRule::kFirstDiffers};
  for (const KernelProfile& kernel : across.kernels) {
    if (!std::isfinite(kernel.sse_error) || !std::isfinite(kernel.sse_error_low)) continue;
    finding.holds = finding.holds.value_or(false) || kernel.sse_error_low > 0;
    if (kernel.sse_error <= finding.value) continue;
    finding.kernel = kernel.name;
    finding.value = kernel.sse_error;
    finding.other_value = kernel.w_over_t;
  }
  return finding;
}

// The compute-bound kernel with the lowest power, and the memory-bound one with the highest.
RuleFinding compute_draws_more(const PowerReport& across) {
  RuleFinding finding{.rule = TakeawayRule::kComputeDrawsMore};
  const std::vector<size_t> compute = bound_by(across, KernelBound::kCompute);
  const std::vector<size_t> memory = bound_by(across, KernelBound::kMemory);
  if (compute.empty() || memory.empty()) return finding;
  const auto by_power = [&](size_t a, size_t b) {
    return across.kernels[a].own_w() < across.kernels[b].own_w();
  };
  const KernelProfile& least =
      across.kernels[*std::min_element(compute.begin(), compute.end(), by_power)];
  const KernelProfile& most =
      across.kernels[*std::max_element(memory.begin(), memory.end(), by_power)];
  finding.holds = least.own_w() > most.own_w();
  finding.kernel = least.name;
  finding.other = most.name;
  finding.value = least.own_w();
  finding.other_value = most.own_w();
  return finding;
}

// The compute-bound kernel with the smallest share of its power in the compute dies.
RuleFinding xcd_leads(const PowerReport& across) {
  RuleFinding finding{.rule = TakeawayRule::kXcdLeads};
  for (const size_t i : bound_by(across, KernelBound::kCompute)) {
    const KernelProfile& kernel = across.kernels[i];
    const std::optional<size_t> leads = leading_part(kernel);
    if (!leads || !kernel.components[kXcd].measured()) continue;
    finding.holds = finding.holds.value_or(true) && *leads == kXcd;
    const double share = kernel.components[kXcd].ssp_w / kernel.ssp_w;
    if (share >= finding.value) continue;
    finding.kernel = kernel.name;
    finding.value = share;
  }
  return finding;
}

// Compares the compute-bound kernels with the fewest and the most FLOP/s; values are ratios.
RuleFinding power_does_not_follow(const PowerReport& across) {
  constexpr double kClearlySlower = 0.75;
  constexpr double kAbout = 0.9;
  RuleFinding finding{.rule = TakeawayRule::kPowerDoesNotFollow};
  const std::vector<size_t> compute = bound_by(across, KernelBound::kCompute);
  if (compute.size() < 2) return finding;
  const auto [slow, fast] =
      std::minmax_element(compute.begin(), compute.end(), [&](size_t a, size_t b) {
        return across.takeaways[a].achieved_flops < across.takeaways[b].achieved_flops;
      });
  const double flops =
      across.takeaways[*slow].achieved_flops / across.takeaways[*fast].achieved_flops;
  if (!(flops < kClearlySlower)) return finding;
  const KernelProfile& light = across.kernels[*slow];
  const KernelProfile& heavy = across.kernels[*fast];
  finding.of_parts = light.components[kXcd].measured() && heavy.components[kXcd].measured();
  finding.kernel = light.name;
  finding.other = heavy.name;
  finding.value = flops;
  finding.other_value = finding.of_parts
                            ? light.components[kXcd].ssp_w / heavy.components[kXcd].ssp_w
                            : light.own_w() / heavy.own_w();
  finding.holds = finding.other_value >= kAbout;
  return finding;
}

const KernelProfile* named(const PowerReport& across, const std::string& name) {
  const auto found = std::find_if(across.kernels.begin(), across.kernels.end(),
                                  [&](const KernelProfile& one) { return one.name == name; });
  return found == across.kernels.end() ? nullptr : &*found;
}

// Workloads of several kernels are lists separated by commas.
bool interleaved(const std::string& workload) { return workload.find(',') != std::string::npos; }

// Reports the kernel with the largest change, or with the largest against the rule if any is
// against it.
RuleFinding neighbours_count(const PowerReport& across) {
  RuleFinding finding{.rule = TakeawayRule::kNeighboursCount};
  for (const ProfileComparison& c : across.comparisons) {
    const KernelProfile* kernel = named(across, c.name);
    if (kernel == nullptr || !std::isfinite(c.relative_low)) continue;
    if (interleaved(c.base) == interleaved(c.other)) continue;
    const bool as_said = c.differs == (kernel->w_over_t > 1);
    const bool against = finding.holds == false;
    finding.holds = finding.holds.value_or(true) && as_said;
    const bool more = !(std::fabs(c.relative) <= std::fabs(finding.value));
    if (against ? as_said || !more : as_said && !more) continue;
    finding.kernel = c.name;
    finding.value = c.relative;
    finding.other_value = kernel->w_over_t;
  }
  return finding;
}

// The pair with the lowest combined power.
RuleFinding pairs_fit(const PowerReport& across) {
  RuleFinding finding{.rule = TakeawayRule::kPairsFit};
  for (const ComplementaryPair& pair : across.pairs) {
    if (!pair.fits) continue;
    finding.holds = finding.holds.value_or(false) || *pair.fits;
    if (finding.value <= pair.together_w) continue;
    finding.kernel = pair.compute;
    finding.other = pair.memory;
    finding.value = pair.together_w;
    finding.other_value = pair.limit_w;
  }
  return finding;
}

}  // namespace

std::optional<size_t> leading_part(const KernelProfile& kernel) {
  std::optional<size_t> leads;
  for (size_t i = 0; i < kernel.components.size(); ++i) {
    if (!kernel.components[i].measured()) continue;
    if (!leads || kernel.components[i].ssp_w > kernel.components[*leads].ssp_w) leads = i;
  }
  return leads;
}

std::vector<RuleFinding> takeaway_rules(const PowerReport& across) {
  return {first_differs(across),         compute_draws_more(across), xcd_leads(across),
          power_does_not_follow(across), neighbours_count(across),   pairs_fit(across)};
}

PowerReport report_across(const std::vector<PowerReport>& reports,
                          const std::vector<std::string>& labels) {
  PowerReport all;
  for (size_t i = 0; i < reports.size(); ++i) {
    const PowerReport& one = reports[i];
    if (all.device.empty()) all.device = one.device;
    if (!(all.limit_w > 0)) all.limit_w = one.limit_w;
    for (size_t k = 0; k < one.kernels.size(); ++k) {
      const bool known = named(all, one.kernels[k].name) != nullptr;
      all.kernels.push_back(one.kernels[k]);
      all.takeaways.push_back(one.takeaways[k]);
      if (known)
        all.kernels.back().name = all.takeaways.back().name =
            one.kernels[k].name + " (" + labels[i] + ")";
    }
  }
  all.pairs = complementary_pairs(all.kernels, all.takeaways, all.limit_w);
  return all;
}

}  // namespace assay
