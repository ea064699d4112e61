#include "report/power/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

Item time_item(const char* key, const char* label, int64_t ns) {
  return {key, label, ns, Unit::kNanoseconds};
}

std::vector<Item> sensor_items(const SensorModel& sensor) {
  return {time_item("window_ns", "window", sensor.window_ns),
          time_item("period_ns", "period", sensor.period_ns),
          time_item("delay_ns", "delay of a sample", sensor.delay_ns)};
}

void add_kernel(const KernelTruth& kernel, std::vector<Item>& items) {
  items.push_back({"name", "name", kernel.name, Unit::kText});
  items.push_back({"ssp_w", "SSP", kernel.ssp_w, Unit::kWatts});
  items.push_back({"energy_j", "energy", kernel.energy_j, Unit::kJoules});
  items.push_back(time_item("t_exec_ns", "execution time", kernel.t_exec_ns));
  items.push_back(time_item("golden_low_ns", "common mode from", kernel.common_low_ns));
  items.push_back(time_item("golden_high_ns", "common mode to", kernel.common_high_ns));
  items.push_back({"xcd_w", "XCD", kernel.component_w[0], Unit::kWatts});
  items.push_back({"iod_w", "IOD", kernel.component_w[1], Unit::kWatts});
  items.push_back({"hbm_w", "HBM", kernel.component_w[2], Unit::kWatts});
  items.push_back(time_item("settled_after_ns", "throttling ends after", kernel.settled_after_ns));
}

Table curve_table(const KernelTruth& kernel) {
  Table table;
  table.key = "true_profile";
  table.title = "True power in the kernel, after the sensor's window";
  table.columns = {{"toi_ns", "TOI", Unit::kNanoseconds}, {"power_w", "power", Unit::kWatts}};
  for (const auto& [toi, watts] : kernel.curve) table.rows.push_back({toi, watts});
  table.show = Show::kDataOnly;
  return table;
}

}  // namespace

Section truth_section(const PowerTruth& truth, const std::string& kernel) {
  Section section{"power", "", {}};
  Facts facts;
  facts.key = "truth";
  facts.title = "Truth of the simulated device";
  const auto found = std::find_if(truth.kernels.begin(), truth.kernels.end(),
                                  [&](const KernelTruth& one) { return one.name == kernel; });
  if (found != truth.kernels.end()) add_kernel(*found, facts.items);
  facts.items.push_back({"drift_ppm", "clock drift, ppm", truth.drift_ppm, Unit::kRatio});
  facts.items.push_back({"idle_w", "idle power", truth.idle_w, Unit::kWatts});
  for (Item& item : sensor_items(truth.sensor)) facts.items.push_back(std::move(item));
  facts.items.push_back({"noise_share", "noise of a sample", truth.noise_share, Unit::kShare});
  facts.items.push_back({"reading_gain", "reading over truth", truth.gain, Unit::kRatio});
  facts.items.push_back({"sensor_kind", "sort of device drawn", truth.kind, Unit::kText});
  section.blocks.push_back(std::move(facts));
  if (found != truth.kernels.end()) section.blocks.push_back(curve_table(*found));
  return section;
}

Section procedure_section(const ProcedureResult& result) {
  const PowerPlan& plan = result.plan;
  const LateSettling& late = result.late;
  const bool watched = late.watched_ns > 0;
  Facts facts;
  facts.key = "procedure";
  facts.title = "How it was measured";
  facts.items = {
      time_item("t_exec_ns", "execution time", plan.t_exec_ns),
      {"warm_ups", "warm-ups deduced", plan.warm_ups, Unit::kCount},
      {"executions_per_run", "executions per run", plan.executions_per_run, Unit::kCount},
      {"timed_together", "executions between two time stamps", plan.timed_together, Unit::kCount},
      {"planned_runs", "runs planned", plan.runs, Unit::kCount},
      {"rounds", "further rounds for LOIs", result.rounds, Unit::kCount},
      {"throttles", "power or time settled late", plan.throttles},
      {"mean_only", "too slow a sensor for a curve", plan.mean_only},
      time_item("watched_ns", "watched without a gap", late.watched_ns),
      {"settles_late", "changes after the time of a run", watched ? Value(late.changes) : Value()},
      {"late_after_ns", "settled after",
       late.changes && !late.goes_on ? Value(late.after_ns) : Value(), Unit::kNanoseconds},
      {"late_power_change", "power then against that of runs",
       watched ? Value(late.power_change) : Value(), Unit::kShare},
      {"late_time_change", "execution time then", watched ? Value(late.time_change) : Value(),
       Unit::kShare},
      {"late_w", "power at the end", watched ? Value(late.late_w) : Value(), Unit::kWatts}};
  return {"power", "", {std::move(facts)}};
}

namespace {

// " 12.3 % less power"; empty if the change is unknown or negligible.
std::string change_words(double change, const char* more, const char* less) {
  if (!(std::fabs(change) >= 0.001)) return {};
  return fmt::format(" {:.1f} % {}", 100 * std::fabs(change), change > 0 ? more : less);
}

std::string late_words(const ProcedureResult& result) {
  const LateSettling& late = result.late;
  const double run_s =
      static_cast<double>(result.plan.executions_per_run * result.plan.t_exec_ns) * 1e-9;
  const std::string power = change_words(late.power_change, "more power", "less power");
  const std::string time = change_words(late.time_change, "longer", "shorter");
  return fmt::format(
      "It {}: after {:.2g} s without a gap an execution draws{}{}{}. The results are for runs of "
      "{:.2g} s.",
      late.goes_on ? "is still changing" : "settles late",
      static_cast<double>(late.goes_on ? late.watched_ns : late.after_ns) * 1e-9,
      power.empty() ? " the same power" : power, time.empty() ? "" : " and takes", time, run_s);
}

}  // namespace

std::vector<std::string> procedure_words(const ProcedureResult& result) {
  const PowerPlan& plan = result.plan;
  std::vector<std::string> words;
  if (plan.timed_together > 1) {
    words.push_back(
        fmt::format("A run has {} executions, and up to {} were timed together: each has the mean "
                    "time of its block.",
                    plan.executions_per_run, plan.timed_together));
  }
  if (result.late.changes) words.push_back(late_words(result));
  if (!result.late_failed.empty()) {
    words.push_back("The time after a run was not watched, because the device failed: " +
                    result.late_failed);
  }
  if (result.out_of_time) {
    words.push_back(fmt::format(
        "The time was up after {} of {} runs; intervals are wider for it (--budget gives more).",
        result.runs, result.runs_wanted));
  }
  return words;
}

Section calibration_section(const SensorCalibration& calibration, const std::string& path) {
  const SensorResponse& response = calibration.response;
  Facts facts;
  facts.title = "Power sensor of " + calibration.device;
  facts.items = {{"device", "device", calibration.device, Unit::kNone},
                 {"driver", "driver", calibration.driver, Unit::kText},
                 {"uuid", "GPU", calibration.uuid, Unit::kText},
                 {"mode", "mode", sensor_mode_name(calibration.sensor.mode), Unit::kText}};
  for (Item& item : sensor_items(calibration.sensor)) facts.items.push_back(std::move(item));
  const std::vector<Item> rest = {
      {"share_sampled", "part of the time that is seen", calibration.share_sampled, Unit::kShare},
      {"idle_w", "idle power", calibration.idle_w, Unit::kWatts},
      {"load_w", "power under load", calibration.load_w, Unit::kWatts},
      {"residual_w", "scatter around the model", calibration.residual_w, Unit::kWatts},
      {"ramp_ns", "ramp", calibration.sensor.ramp_ns, Unit::kNanoseconds},
      {"response_kind", "kind of mean", std::string(response_kind_name(response.kind)),
       Unit::kText},
      {"response_window_ns", "window or time constant", response.window.ns, Unit::kNanoseconds},
      {"response_window_low_ns", "from", response.window.low_ns, Unit::kNanoseconds},
      {"response_window_high_ns", "to", response.window.high_ns, Unit::kNanoseconds},
      {"response_ramp_ns", "ramp or shorter lag", response.ramp.ns, Unit::kNanoseconds},
      {"response_ramp_low_ns", "from", response.ramp.low_ns, Unit::kNanoseconds},
      {"response_ramp_high_ns", "to", response.ramp.high_ns, Unit::kNanoseconds},
      {"response_delay_ns", "delay", response.delay.ns, Unit::kNanoseconds},
      {"response_delay_low_ns", "from", response.delay.low_ns, Unit::kNanoseconds},
      {"response_delay_high_ns", "to", response.delay.high_ns, Unit::kNanoseconds},
      {"response_residual_w", "scatter around that answer", response.residual_w, Unit::kWatts},
      {"updates", "readings fitted", calibration.updates, Unit::kCount},
      {"steps", "steps", calibration.steps, Unit::kCount},
      {"linearity_idle", "reading over energy counter, idle", calibration.linearity_idle,
       Unit::kRatio},
      {"linearity_load", "reading over energy counter, loaded", calibration.linearity_load,
       Unit::kRatio},
      {"file", "file", path, Unit::kText}};
  facts.items.insert(facts.items.end(), rest.begin(), rest.end());
  return {"calibration", "Calibration", {std::move(facts)}};
}

namespace {

std::string in_ms(int64_t ns) {
  if (ns > 0 && ns < 10'000) return "below 0.01";
  return fmt::format("{:.4g}", static_cast<double>(ns) * 1e-6);
}
std::string time_words(const ResponseTime& time) {
  return fmt::format("{} ms ({} to {})", in_ms(time.ns), in_ms(time.low_ns), in_ms(time.high_ns));
}

// Properties of the sensor's response that the pulses determine, and those that they do not.
std::string response_words(const SensorResponse& response) {
  const std::string times = fmt::format("window {}, ramp {}, delay {}", time_words(response.window),
                                        time_words(response.ramp), time_words(response.delay));
  if (response.kind == ResponseKind::kExponential) {
    return fmt::format(
        "Nearer to it than any window: it follows with a time constant of {}, another lag of {}, "
        "and is {} late. Sensor and GPU cannot be separated in these.",
        time_words(response.window), time_words(response.ramp), time_words(response.delay));
  }
  if (response.kind == ResponseKind::kNotTold) {
    return "Not distinguishable: boxcar and exponential mean; as a boxcar " + times + ".";
  }
  if (!response.told_apart()) return "Not distinguishable: window and ramp; " + times + ".";
  if (response.misfit) return "Fitted with a ramp, by long and short pulses, 95 %: " + times + ".";
  return "Measured with long and short pulses, 95 %: " + times + ".";
}

}  // namespace

std::vector<std::string> calibration_verdict_words(const SensorCalibration& calibration) {
  const auto ms = [](int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  const SensorModel& sensor = calibration.sensor;
  // The window in the first sentence assumes no ramp.
  const bool about = sensor.ramp_ns > 0 || calibration.response.misfit;
  std::vector<std::string> words = {
      fmt::format("The sensor reports every {:.4g} ms {}the mean over {:.4g} ms, {:.4g} ms late.",
                  ms(sensor.period_ns), about ? "what is about " : "", ms(sensor.window_ns),
                  ms(sensor.delay_ns))};
  words.push_back(response_words(calibration.response));
  if (calibration.response.misfit) {
    words.push_back(
        "Samples next to a switch of the load scatter more than such a sensor explains; the "
        "intervals are wider for it.");
  }
  if (calibration.share_sampled < 0.99) {
    words.push_back(fmt::format("It sees {:.0f} % of the time; what happens in between is missed.",
                                100 * calibration.share_sampled));
  }
  if (sensor.ramp_ns > 0) {
    words.push_back(
        "`power run` gives means and no curve inside a kernel: a curve needs a window without a "
        "ramp.");
    return words;
  }
  words.push_back(fmt::format(
      "Power inside a kernel can be resolved from {:.4g} ms of execution time on; below that only "
      "averages over executions.",
      2 * ms(sensor.window_ns)));
  return words;
}

}  // namespace assay
