#include "power/energy_trust.h"

#include <cmath>

namespace assay {
namespace {

constexpr const char* kEnergies =
    "total_j, base_j, kernels_j, unattributed_j, energy_j, energy_per_token_j, covered_ns";

// The interval of the lag ends at a limit of the prior, so larger values were not tested.
bool at_its_end(const Fitted& lag) {
  const double near = 0.01 * (lag.prior_high - lag.prior_low);
  return lag.prior_high > lag.prior_low &&
         (lag.low < lag.prior_low + near || lag.high > lag.prior_high - near);
}

}  // namespace

void add_uncovered_trust(int64_t outside_ns, TrustNotes& trust) {
  if (outside_ns <= 0) return;
  trust.push_back({"partial_coverage", 1, outside_ns, kEnergies,
                   "time of the trace without a usable sample, as before the log's first: "
                   "energies are of the covered time alone"});
}

void add_clock_trust(const LogClocks& clocks, TrustNotes& trust) {
  if (clocks.idle_clocks_up) {
    trust.push_back({"idle_clocks_up", 1, 0, "base_j, base_w",
                     "the idle around the work is not deep idle, by clock or P-state: an unused "
                     "GPU draws less than the base"});
  }
  if (clocks.falls) {
    trust.push_back({"clock_fell", clocks.samples, 0, "energy_j",
                     "the clock fell under load, as at a power or temperature limit: a kernel's "
                     "power is its mean over several clocks"});
  }
}

void add_zone_trust(int64_t zone_ns, TrustNotes& trust) {
  if (zone_ns == 0) return;
  trust.push_back({"zone_assumed", 1, 0, "energy_j",
                   "the log's times are without a zone: those quarter hours were added with which "
                   "it meets the trace"});
}

void add_coverage_trust(const Coverage& covered, CoveredSpan span, TrustNotes& trust) {
  if (covered.gaps() > 0) {
    trust.push_back({"log_gaps", covered.gaps(), covered.gaps_ns(), kEnergies,
                     "gaps of the log longer than four periods are left out with what ran in "
                     "them: every energy is too low"});
  }
  add_uncovered_trust(span.end_ns - span.begin_ns - covered.covered_ns() - covered.gaps_ns(),
                      trust);
}

void add_sensor_trust(const EnergyReport& report, const SensorPrior& sensor, TrustNotes& trust) {
  if (sensor.hold || sensor.offset_within_ns == 0) {
    trust.push_back({"offset_assumed", 1, 0, "energy_j",
                     "the log's offset was held as given, not fitted to the samples: no interval "
                     "includes its error"});
  } else if (at_its_end(report.lag_ns)) {
    trust.push_back({"offset_at_limit", 1, 0, "energy_j, lag_ns",
                     "the samples fit best with the log's offset at the end of its allowed range: "
                     "--offset or --offset-search moves that"});
  }
  if (report.lag_searched) {
    trust.push_back({"clock_off", 1, std::llround(std::fabs(report.lag_ns.value)),
                     "energy_j, lag_ns",
                     "the log's offset from the trace exceeds the delay of any sensor (-150 to 250 "
                     "ms). Up to 2 s were searched, and the offset that fits the samples is used"});
  }
  if (!report.kept_told) {
    trust.push_back({"kept_untold", 1, 0, "energy_j, kept_share",
                     "the samples do not show whether each keeps a part of the one before, or "
                     "sensor or GPU respond slowly; the intervals hold both energies"});
  }
  if (report.modes.size() > 1) {
    trust.push_back({"lag_ambiguous", report.modes.size() - 1, 0, "energy_j, lag_ns",
                     "other offsets of the log fit the samples as well: the intervals hold the "
                     "energies of all of them"});
  }
  if (report.gain.source.empty()) {
    trust.push_back({"gain_unknown", 1, 0, "total_j, base_j, kernels_j, energy_j",
                     "energies are as the board's sensor shows them. No comparison of this card "
                     "with a meter is known; ten others show 90 to 107 % of what is drawn"});
  }
  add_zone_trust(report.zone_ns, trust);
}

void add_smoothing_trust(TrustNotes& trust) {
  trust.push_back(
      {"readings_smoothed", 1, 0, "kernels_j, energy_j, energy_per_token_j",
       "samples depend on earlier ones more than the given window and ramp explain, so the power "
       "intervals are wrong. Omit --fixed-sensor, --window-ms and --ramp-ms"});
}

void add_model_trust(const EnergyReport& report, size_t pooled, TrustNotes& trust) {
  uint64_t merged = 0;
  uint64_t wide = 0;
  for (const PowerClass& c : report.classes) {
    if (c.names.size() > 1) merged += c.names.size() - (c.others ? 1 : 0);
    if (!c.why.empty()) ++wide;
  }
  if (merged > 0) {
    trust.push_back({"merged_kernels", merged, 0, "energy_j",
                     "kernels that ran alike in every window of the sensor share one power: each "
                     "may have all of its energy or none"});
  }
  if (pooled > 0) {
    trust.push_back({"pooled_kernels", pooled, 0, "energy_j",
                     "kernels with little time share one power: each may have all of its energy or "
                     "none"});
  }
  if (wide > 0) {
    trust.push_back({"not_identifiable", wide, 0, "energy_j",
                     "powers with an interval of a factor of two or more: why says the reason"});
  }
  if (report.aliased) {
    trust.push_back({"aliased_total", report.readings, 0, "total_j, unattributed_j",
                     "samples summed over time and their model differ by more than the model's "
                     "interval: between its windows the sensor saw less or more than typical"});
  }
  const double seen_ns = report.window_ns.value + 2 * report.ramp_ns.value;
  if (seen_ns < 0.9 * report.period_ns) {
    trust.push_back({"part_time_sensor", report.readings, std::llround(report.period_ns - seen_ns),
                     "total_j, unattributed_j",
                     "the sensor averages over less than the time between its samples. Activity "
                     "in between is not measured, and the total assumes that it is like the rest"});
  }
}

}  // namespace assay
