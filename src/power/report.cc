#include "power/report.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::string counted(uint64_t count, const char* what) { return std::to_string(count) + " " + what; }

void add_note(TrustNotes& notes, const char* what, uint64_t count, const char* affects,
              std::string effect) {
  if (count > 0) notes.push_back({what, count, 0, affects, std::move(effect)});
}

// Caveats of one profile; the samples are the same for every kernel of a recording.
void add_notes(const KernelProfile& profile, bool first, TrustNotes& notes) {
  if (first) {
    add_note(notes, "samples_outside_runs", profile.samples_outside_runs, "lois",
             counted(profile.samples_outside_runs,
                     "samples lie outside every run, as idle ones should; they are in no profile"));
    add_note(notes, "samples_in_gaps", profile.samples_in_gaps, "lois, ssp_w",
             counted(profile.samples_in_gaps,
                     "samples lie between executions; dropped, while windows that reach over a gap "
                     "stay and pull the power towards idle"));
    add_note(notes, "cut_runs", profile.cut_runs, "runs",
             counted(profile.cut_runs,
                     "runs end before the executions that the others have: recording was stopped "
                     "while it wrote them; left out"));
    add_note(notes, "samples_repeated", profile.samples_repeated, "lois",
             counted(profile.samples_repeated, "samples repeat the stamp before them; dropped"));
  }
  const uint32_t outliers = profile.runs - profile.golden;
  add_note(notes, "outlier_runs", outliers, "ssp_w, t_exec_ns",
           counted(outliers, "runs of") + " " + profile.name +
               " took another time than the fullest bin and are left out; --bin-center "
               "shows them");
  if (profile.verdict != PowerVerdict::kRefused && profile.window_share < 0.995) {
    notes.push_back({"polluted_windows", profile.lois, 0, "ssp_w, sse_error, energy_j",
                     "windows of LOIs of " + profile.name +
                         " hold time outside its executions, which pulls SSP towards what ran "
                         "then"});
  }
  if (profile.clock.rtt_floor_ns > 0 && first) {
    notes.push_back({"clock_asymmetry", profile.clock.probes_kept, profile.clock.rtt_floor_ns / 2,
                     "profile",
                     "a constant asymmetry of a clock read cannot be detected: every time in an "
                     "execution may be off by half the fastest read"});
  }
}

double half_width(const KernelProfile& profile) {
  return (profile.ssp_high_w - profile.ssp_low_w) / 2;
}

double curve_rms(const std::vector<ProfilePoint>& a, const std::vector<ProfilePoint>& b) {
  if (a.empty() || a.size() != b.size()) return std::nan("");
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    squares += (a[i].power_w - b[i].power_w) * (a[i].power_w - b[i].power_w);
  }
  return std::sqrt(squares / static_cast<double>(a.size()));
}

// True if the first draws more in the compute dies, and the second more in the I/O dies or the
// memory, by more than their intervals.
bool loads_other_parts(const KernelProfile& first, const KernelProfile& second) {
  const auto more = [](const ComponentProfile& a, const ComponentProfile& b) {
    return a.measured() && b.measured() && a.low_w > b.high_w;
  };
  return more(first.components[0], second.components[0]) &&
         (more(second.components[1], first.components[1]) ||
          more(second.components[2], first.components[2]));
}

}  // namespace

std::string_view kernel_bound_name(KernelBound bound) {
  switch (bound) {
    case KernelBound::kCompute:
      return "compute";
    case KernelBound::kMemory:
      return "memory";
    case KernelBound::kUnknown:
      break;
  }
  return "unknown";
}

KernelTakeaway take_away(const KernelProfile& profile, const DeviceRoofline* roofline) {
  KernelTakeaway taken;
  taken.name = profile.name;
  taken.ssp_w = profile.own_w();
  taken.above_idle_w = profile.own_w() - profile.idle_w;
  const double seconds = static_cast<double>(profile.t_exec_ns) * 1e-9;
  if (seconds > 0) {
    taken.achieved_flops = profile.flop / seconds;
    taken.achieved_bytes_per_s = profile.bytes / seconds;
  }
  if (profile.bytes > 0) {
    taken.op_per_byte = profile.flop / profile.bytes;
    taken.pj_per_byte = profile.energy_j / profile.bytes * 1e12;
  }
  if (profile.flop > 0) {
    taken.w_per_tflops = profile.own_w() / (taken.achieved_flops * 1e-12);
    taken.pj_per_flop = profile.energy_j / profile.flop * 1e12;
  }
  if (roofline == nullptr) return taken;
  const MathType type = math_type_of(profile.name);
  taken.ridge_op_per_byte = roofline->ridge(type);
  taken.peak_flops_share = taken.achieved_flops / roofline->flops(type);
  taken.peak_bandwidth_share = taken.achieved_bytes_per_s / roofline->bytes_per_s;
  if (std::isfinite(taken.op_per_byte) && std::isfinite(taken.ridge_op_per_byte)) {
    taken.bound =
        taken.op_per_byte > taken.ridge_op_per_byte ? KernelBound::kCompute : KernelBound::kMemory;
  }
  return taken;
}

KernelBound bound_on_any_device(const KernelTakeaway& takeaway, const FactBook& facts) {
  const MathType type = math_type_of(takeaway.name);
  double least = INFINITY;
  double most = 0;
  for (const std::string& device : facts.hardware_names()) {
    const double ridge = find_roofline(facts, device)->ridge(type);
    if (!(ridge > 0) || !std::isfinite(ridge)) continue;
    least = std::min(least, ridge);
    most = std::max(most, ridge);
  }
  if (most <= 0) return KernelBound::kUnknown;
  if (takeaway.op_per_byte < least) return KernelBound::kMemory;
  return takeaway.op_per_byte > most ? KernelBound::kCompute : KernelBound::kUnknown;
}

std::vector<ComplementaryPair> complementary_pairs(const std::vector<KernelProfile>& profiles,
                                                   const std::vector<KernelTakeaway>& takeaways,
                                                   double limit_w) {
  std::vector<ComplementaryPair> pairs;
  for (size_t i = 0; i < profiles.size(); ++i) {
    for (size_t j = 0; j < profiles.size(); ++j) {
      if (!std::isfinite(profiles[i].own_w() + profiles[j].own_w())) continue;
      const bool by_bound =
          takeaways[i].bound == KernelBound::kCompute && takeaways[j].bound == KernelBound::kMemory;
      const bool by_parts = loads_other_parts(profiles[i], profiles[j]);
      if (!by_bound && !by_parts) continue;
      ComplementaryPair pair{
          .compute = profiles[i].name, .memory = profiles[j].name, .by_parts = by_parts};
      pair.together_w = profiles[i].own_w() + profiles[j].own_w();
      if (std::isfinite(profiles[i].idle_w)) pair.together_w -= profiles[i].idle_w;
      if (limit_w > 0) {
        pair.limit_w = limit_w;
        pair.headroom_w = limit_w - pair.together_w;
        pair.fits = pair.headroom_w >= 0;
      }
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

std::optional<ProfileComparison> compare_profiles(const KernelProfile& base, std::string base_label,
                                                  const KernelProfile& other,
                                                  std::string other_label) {
  if (!(base.ssp_w > 0) || !(other.ssp_w > 0)) return std::nullopt;
  ProfileComparison comparison{.name = base.name,
                               .base = std::move(base_label),
                               .other = std::move(other_label),
                               .base_w = base.ssp_w,
                               .other_w = other.ssp_w};
  comparison.relative = other.ssp_w / base.ssp_w - 1;
  const double half = other.ssp_w / base.ssp_w *
                      std::hypot(half_width(base) / base.ssp_w, half_width(other) / other.ssp_w);
  comparison.relative_low = comparison.relative - half;
  comparison.relative_high = comparison.relative + half;
  comparison.differs = comparison.relative_low > 0 || comparison.relative_high < 0;
  comparison.curve_rms_share = curve_rms(base.curve, other.curve) / base.ssp_w;
  comparison.sse_error_change = other.sse_error - base.sse_error;
  if (!base.curve.empty()) comparison.base_residual_w = base.residual_w;
  if (!other.curve.empty()) comparison.other_residual_w = other.residual_w;
  return comparison;
}

bool of_one_kernel(const std::vector<ProfileComparison>& comparisons) {
  return !comparisons.empty() &&
         std::all_of(comparisons.begin(), comparisons.end(), [&](const ProfileComparison& one) {
           return one.name == comparisons.front().name;
         });
}

PowerReport report_power(const PowerRecording& recording, std::vector<KernelProfile> kernels,
                         const FactBook& facts, double limit_w) {
  PowerReport report;
  report.device = recording.device;
  report.workload = recording.workload;
  report.parts = recording.parts;
  report.sensor = recording.sensor;
  report.kernels = std::move(kernels);
  report.roofline = find_roofline(facts, recording.device);
  const DeviceRoofline* roofline = report.roofline ? &*report.roofline : nullptr;
  if (limit_w > 0) {
    report.limit_w = limit_w;
  } else if (roofline != nullptr) {
    report.limit_w = roofline->power_limit_w;
  }
  for (const KernelProfile& kernel : report.kernels) {
    report.takeaways.push_back(take_away(kernel, roofline));
    if (roofline == nullptr) {
      report.takeaways.back().bound = bound_on_any_device(report.takeaways.back(), facts);
    }
    add_notes(kernel, &kernel == report.kernels.data(), report.trust);
  }
  report.pairs = complementary_pairs(report.kernels, report.takeaways, report.limit_w);
  return report;
}

}  // namespace assay
