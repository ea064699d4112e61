// Prints docs/measured/simulated_devices.md: the power procedure over random simulated devices, and
// what each of its strategies buys. Usage: assay_simulated_table [DEVICES]

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/stats.h"
#include "support/power_proof.h"

namespace assay::proof {
namespace {

std::vector<Outcome> prove_all(uint64_t devices, const Strategies& use) {
  std::vector<Outcome> outcomes;
  for (uint64_t seed = 1; seed <= devices; ++seed) outcomes.push_back(prove(seed, use));
  return outcomes;
}

std::vector<double> collect(const std::vector<Outcome>& outcomes,
                            const std::function<double(const Outcome&)>& value) {
  std::vector<double> values;
  for (const Outcome& out : outcomes) {
    const double x = value(out);
    if (std::isfinite(x)) values.push_back(x);
  }
  std::sort(values.begin(), values.end());
  return values;
}

double share(const std::vector<Outcome>& outcomes, const std::function<bool(const Outcome&)>& of,
             const std::function<bool(const Outcome&)>& is) {
  double all = 0;
  double some = 0;
  for (const Outcome& out : outcomes) {
    if (!of(out)) continue;
    ++all;
    if (is(out)) ++some;
  }
  return some / all;
}

bool answered(const Outcome& out) { return std::isfinite(out.ssp_error); }

void print_head(uint64_t devices) {
  std::printf(
      "# The power procedure on %llu simulated devices\n\n"
      "Each seed draws a device: its sensor, clock, kernels and faults "
      "(`src/devices/simulated_parts.cc`). The procedure sees samples, execution times and clock "
      "probes only; the device knows the answer. Remake this page with\n\n"
      "    cmake --build build/release --target assay_simulated_table\n"
      "    build/release/assay_simulated_table %llu > docs/measured/simulated_devices.md\n\n",
      static_cast<unsigned long long>(devices), static_cast<unsigned long long>(devices));
}

void print_summary(const std::vector<Outcome>& all) {
  double points = 0;
  double hits = 0;
  for (const Outcome& out : all) {
    points += out.band_points;
    hits += out.band_hits;
  }
  const auto ssp = collect(all, [](const Outcome& o) { return std::fabs(o.ssp_error); });
  const auto drift = collect(all, [](const Outcome& o) { return std::fabs(o.drift_error); });
  const auto curve = collect(all, [](const Outcome& o) { return o.curve_rms; });
  const auto none = [](const Outcome& o) { return !o.answerable; };
  std::printf("## All strategies on\n\n| what | value |\n|---|---|\n");
  std::printf("| devices answered | %zu of %zu |\n", ssp.size(), all.size());
  std::printf(
      "| devices without an answer (sensor unknown, clocks too loose, under 25 us): refused "
      "| %.0f %% |\n",
      100 * share(all, none, [](const Outcome& o) { return !answered(o); }));
  std::printf("| devices with an answer: answered | %.0f %% |\n",
              100 * share(all, [](const Outcome& o) { return o.answerable; }, answered));
  std::printf("| SSP mean: median and largest error | %.2f %%, %.2f %% |\n",
              100 * quantile_sorted(ssp, 0.5), 100 * ssp.back());
  std::printf("| drift: largest error | %.4f ppm |\n", drift.back());
  std::printf("| golden runs are the true common mode | %.0f %% |\n",
              100 * share(all, answered, [](const Outcome& o) { return o.golden_is_common; }));
  std::printf("| 95 %% interval of the SSP mean holds the truth | %.1f %% |\n",
              100 * share(all, answered, [](const Outcome& o) { return o.interval_holds; }));
  std::printf(
      "| 95 %% band of the curve holds the truth after the boxcar, of %.0f grid "
      "points | %.1f %% |\n",
      points, 100 * hits / points);
  std::printf("| curve against that, RMS over SSP: median, largest | %.2f %%, %.2f %% |\n\n",
              100 * quantile_sorted(curve, 0.5), 100 * curve.back());
}

void print_strategy(const char* name, const std::vector<Outcome>& all) {
  const auto ssp = collect(all, [](const Outcome& o) { return std::fabs(o.ssp_error); });
  const auto curve = collect(all, [](const Outcome& o) { return o.curve_rms; });
  const auto scatter =
      collect(all, [](const Outcome& o) { return o.profile.residual_w / o.profile.ssp_w; });
  const auto gap = collect(all, [](const Outcome& o) {
    return o.profile.curve.empty() ? NAN
                                   : static_cast<double>(o.profile.largest_gap_ns) /
                                         static_cast<double>(o.profile.t_exec_ns);
  });
  std::printf(
      "| %s | %zu | %.2f %% | %.1f %% | %.0f %% | %.2f %% | %.2f %% | %.0f %% |\n", name,
      ssp.size(), 100 * quantile_sorted(ssp, 0.5), 100 * ssp.back(),
      100 * share(all, answered, [](const Outcome& o) { return std::fabs(o.ssp_error) <= 0.01; }),
      100 * quantile_sorted(curve, 0.5), 100 * quantile_sorted(scatter, 0.5),
      100 * quantile_sorted(gap, 0.5));
}

void print_strategies(uint64_t devices, const std::vector<Outcome>& all) {
  std::printf(
      "## What each strategy buys\n\n"
      "The same devices with one strategy switched off at a time, as Figure 5 of FinGraV does for "
      "one kernel. S1 off: every run starts in step with the sensor's period. S2 off: one read "
      "ties the clocks, its delay and the drift ignored. S3 off: every run counts. S4 off: the "
      "fourth execution counts as the kernel's power.\n\n"
      "| strategies | answered | SSP error, median | largest | within 1 %% | curve, RMS | scatter "
      "around the fit | widest gap in T |\n|---|---|---|---|---|---|---|---|\n");
  print_strategy("all on", all);
  print_strategy("S1 off", prove_all(devices, {.random_delays = false}));
  print_strategy("S2 off", prove_all(devices, {.clock_sync = false}));
  print_strategy("S3 off", prove_all(devices, {.golden_runs = false}));
  print_strategy("S4 off", prove_all(devices, {.ssp = false}));
  print_strategy("all on, the paper's counts: max(ceil(w/T), 4)",
                 prove_all(devices, {.paper_counts = true}));
  std::printf(
      "\nThe paper's count leaves up to one execution's worth of what was before in the window: "
      "that bias is the difference to the first row, and why Assay runs warm-ups + ceil(w/T) + 1 "
      "executions and takes only samples whose whole window held the kernel.\n\n");
}

void print_devices(const std::vector<Outcome>& all) {
  std::printf(
      "## Device by device\n\n"
      "| seed | sensor | workload | T us | w/T | executions | LOIs | verdict | SSP error | "
      "drift error ppm | curve RMS |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Outcome& out : all) {
    const std::string verdict(out.failed ? "failed" : power_verdict_name(out.profile.verdict));
    std::printf("| %llu | %s | %s | %.1f | %.3g | %u | %u | %s |",
                static_cast<unsigned long long>(out.seed), out.kind.c_str(), out.workload.c_str(),
                static_cast<double>(out.profile.t_exec_ns) / 1000, out.w_over_t,
                out.plan.executions_per_run, out.profile.lois, verdict.c_str());
    if (!answered(out)) {
      std::printf(" - | - | - |\n");
    } else if (out.profile.curve.empty()) {
      std::printf(" %+.2f %% | %+.4f | - |\n", 100 * out.ssp_error, out.drift_error);
    } else {
      std::printf(" %+.2f %% | %+.4f | %.2f %% |\n", 100 * out.ssp_error, out.drift_error,
                  100 * out.curve_rms);
    }
  }
}

}  // namespace
}  // namespace assay::proof

int main(int argc, char** argv) {
  const uint64_t devices = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  if (devices < 10) {
    std::fprintf(stderr, "usage: assay_simulated_table [DEVICES], 10 or more\n");
    return 2;
  }
  const auto all = assay::proof::prove_all(devices, {});
  assay::proof::print_head(devices);
  assay::proof::print_summary(all);
  assay::proof::print_strategies(devices, all);
  assay::proof::print_devices(all);
  return 0;
}
