#include "report/power/section.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/ascii.h"
#include "base/numbers.h"
#include "kernels/name.h"
#include "power/across.h"
#include "report/power/charts.h"
#include "report/run/section.h"
#include "text/units.h"

namespace assay {
namespace {

std::string watts(double value) { return format_value(value, Unit::kWatts); }

std::string interval_words(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "no interval";
  return "95 %: " + watts(low) + " to " + watts(high);
}

// "together with gemv (60 % of the windows)".
std::string together_words(const KernelProfile& kernel) {
  std::string others;
  for (const MixedWith& other : kernel.mixed_with) {
    others += (others.empty() ? "" : ", ") + other.name + " (" + format_share(other.share) +
              " of the windows)";
  }
  return others.empty() ? "with the device idle in between" : "together with " + others;
}

std::string mixed_words(const KernelProfile& kernel) {
  if (!std::isfinite(kernel.unmixed_w)) {
    return watts(kernel.ssp_w) + " were drawn on average while " + kernel.name + " ran " +
           together_words(kernel) + "; its own share is not known.";
  }
  return kernel.name + " draws " + watts(kernel.unmixed_w) + " of its own (" +
         interval_words(kernel.unmixed_low_w, kernel.unmixed_high_w) + "), " +
         format_value(kernel.energy_j, Unit::kJoules) + " per execution of " +
         format_ns(kernel.t_exec_ns) + "; " + together_words(kernel) + " " + watts(kernel.ssp_w) +
         " were drawn.";
}

// "1.3 % off (0.9 % to 1.7 %)"; adds that the difference is not significant if the interval
// contains 0.
std::string sse_words(const KernelProfile& kernel) {
  const std::string off = format_share(kernel.sse_error) + " off";
  if (!std::isfinite(kernel.sse_error_high)) return off;
  if (kernel.sse_error_low <= 0) {
    return "not significantly off (up to " + format_share(kernel.sse_error_high) + ")";
  }
  return off + " (" + format_share(kernel.sse_error_low) + " to " +
         format_share(kernel.sse_error_high) + ")";
}

std::string kernel_words(const KernelProfile& kernel) {
  if (kernel.verdict == PowerVerdict::kMixed) return mixed_words(kernel);
  if (kernel.verdict == PowerVerdict::kRefused) {
    return kernel.name + ": refused, because " +
           (kernel.reasons.empty() ? std::string("nothing was measured") : kernel.reasons.front()) +
           ".";
  }
  std::string text = kernel.name + " draws " + watts(kernel.ssp_w) + " once settled (" +
                     interval_words(kernel.ssp_low_w, kernel.ssp_high_w) + "), " +
                     format_value(kernel.energy_j, Unit::kJoules) + " per execution of " +
                     format_ns(kernel.t_exec_ns);
  if (std::isfinite(kernel.sse_error)) {
    text += "; the first settled execution shows " + watts(kernel.sse_w) + ", " + sse_words(kernel);
  }
  return text + ".";
}

// "; the curves are 5.1 % apart, and samples lie 14 W off theirs instead of 9.2 W"; empty without
// two curves.
std::string curve_words(const ProfileComparison& c) {
  if (!std::isfinite(c.curve_rms_share)) return {};
  return "; the curves are " + format_share(c.curve_rms_share) + " apart, and samples lie " +
         watts(c.other_residual_w) + " off theirs instead of " + watts(c.base_residual_w);
}

std::string comparison_words(const ProfileComparison& c) {
  std::string text = c.name + ", " + c.other + " against " + c.base + ": " + watts(c.base_w) +
                     " to " + watts(c.other_w);
  const bool known = std::isfinite(c.relative_low) && std::isfinite(c.relative_high);
  if (!known) return text + ", without an interval.";
  const std::string change = format_share(std::fabs(c.relative));
  if (!c.differs) return text + ", within the uncertainty" + curve_words(c) + ".";
  return text + ", " + change + (c.relative < 0 ? " less" : " more") + curve_words(c) + ".";
}

Facts sensor_facts(const SensorModel& sensor) {
  const auto known = [](int64_t ns) { return ns > 0 ? Value(ns) : Value(); };
  return {.key = "sensor",
          .title = "Sensor, as it was declared",
          .items = {{"mode", "mode", std::string(sensor_mode_name(sensor.mode)), Unit::kText},
                    {"window_ns", "window", known(sensor.window_ns), Unit::kNanoseconds},
                    {"period_ns", "period", known(sensor.period_ns), Unit::kNanoseconds},
                    {"delay_ns", "delay of a sample", sensor.delay_ns, Unit::kNanoseconds},
                    {"sensor_source", "known from", sensor.source, Unit::kText}}};
}

// The declared sensor, the sensor that each kernel's samples imply, and the one that was used.
Table sensors_table(const PowerReport& report) {
  Table table{
      .key = "sensors",
      .title = "Sensor, declared and as the samples show it",
      .columns = {{.key = "kernel", .title = "kernel", .unit = Unit::kText, .elastic = true},
                  {"known", "is", Unit::kText},
                  {"window_ns", "window", Unit::kNanoseconds},
                  {"window_low_ns", "from", Unit::kNanoseconds},
                  {"window_high_ns", "to", Unit::kNanoseconds},
                  {"ramp_ns", "ramp", Unit::kNanoseconds},
                  {"delay_ns", "delay of a sample", Unit::kNanoseconds},
                  {"settled_w", "settled power", Unit::kWatts},
                  {"used", "used"}}};
  const SensorModel& declared = report.sensor;
  for (const KernelProfile& kernel : report.kernels) {
    const SensorCheck& check = kernel.sensor_check;
    if (check.window_ns <= 0) continue;
    const bool other = check.verdict == SensorVerdict::kOther;
    const bool any = kernel.verdict != PowerVerdict::kRefused;
    table.rows.push_back({kernel.name, "declared", declared.window_ns, Value(), Value(),
                          declared.ramp_ns, declared.delay_ns,
                          other ? Value(check.declared_ssp_w) : Value(), any && !other});
    table.rows.push_back({kernel.name, "found", check.window_ns, check.window_low_ns,
                          check.window_high_ns, check.ramp_ns, declared.delay_ns + check.delay_ns,
                          check.found_ssp_w, any && other});
  }
  if (table.rows.empty()) table.show = Show::kDataOnly;
  return table;
}

std::vector<Item> kernel_items(const KernelProfile& k) {
  const bool any = k.verdict != PowerVerdict::kRefused;
  const bool found = k.sensor_check.window_ns > 0;
  return {
      {"name", "name", k.name, Unit::kText},
      {"verdict", "verdict", std::string(power_verdict_name(k.verdict)), Unit::kText},
      {"t_exec_ns", "execution time", k.t_exec_ns, Unit::kNanoseconds},
      {"runs", "runs", k.runs, Unit::kCount},
      {"golden_runs", "golden runs", k.golden, Unit::kCount},
      {"golden_low_ns", "bin from", k.golden_low_ns, Unit::kNanoseconds},
      {"golden_high_ns", "bin to", k.golden_high_ns, Unit::kNanoseconds},
      {"executions_per_run", "executions per run", k.executions_per_run, Unit::kCount},
      {"lois", "LOIs", k.lois, Unit::kCount},
      {"loi_target", "LOIs wanted", k.loi_target, Unit::kCount},
      {"sse_lois", "LOIs of SSE", k.sse_lois, Unit::kCount},
      {"plateau_samples", "samples in the plateau", k.plateau_samples, Unit::kCount},
      {"w_over_t", "w/T", k.w_over_t, Unit::kRatio},
      {"attenuation", "left of what repeats with T", k.attenuation, Unit::kShare},
      {"window_share", "of window", k.window_share, Unit::kShare},
      {"sse_w", "SSE", k.sse_w, Unit::kWatts},
      {"ssp_w", "SSP", k.ssp_w, Unit::kWatts},
      {"ssp_low_w", "SSP from", k.ssp_low_w, Unit::kWatts},
      {"ssp_high_w", "SSP to", k.ssp_high_w, Unit::kWatts},
      {"ssp_arithmetic_w", "mean of the LOIs", k.ssp_arithmetic_w, Unit::kWatts},
      {"unmixed_w", "its own", k.unmixed_w, Unit::kWatts},
      {"unmixed_low_w", "from", k.unmixed_low_w, Unit::kWatts},
      {"unmixed_high_w", "to", k.unmixed_high_w, Unit::kWatts},
      {"sse_error", "SSE error", k.sse_error, Unit::kShare},
      {"sse_error_low", "from", k.sse_error_low, Unit::kShare, "", Show::kDataOnly},
      {"sse_error_high", "to", k.sse_error_high, Unit::kShare, "", Show::kDataOnly},
      {"energy_j", "energy", k.energy_j, Unit::kJoules},
      {"idle_w", "idle power", k.idle_w, Unit::kWatts},
      {"xcd_w", "XCD", k.components[0].ssp_w, Unit::kWatts},
      {"iod_w", "IOD", k.components[1].ssp_w, Unit::kWatts},
      {"hbm_w", "HBM", k.components[2].ssp_w, Unit::kWatts},
      {"rest_w", "the rest", k.rest_w, Unit::kWatts},
      {"degree", "degree of the fit", any ? Value(k.degree) : Value()},
      {"curve_kind", "curve", k.curve_kind.empty() ? Value() : Value(k.curve_kind), Unit::kText},
      {"residual_w", "scatter around the model", any ? Value(k.residual_w) : Value(), Unit::kWatts},
      {"largest_gap_ns", "widest hole", k.largest_gap_ns, Unit::kNanoseconds},
      {"sensor_verdict", "declared sensor",
       std::string(sensor_verdict_name(k.sensor_check.verdict)), Unit::kText},
      {"found_window_ns", "window found", found ? Value(k.sensor_check.window_ns) : Value(),
       Unit::kNanoseconds},
      {"found_ramp_ns", "ramp found", found ? Value(k.sensor_check.ramp_ns) : Value(),
       Unit::kNanoseconds},
      {"found_delay_ns", "delay found, beyond the declared",
       found ? Value(k.sensor_check.delay_ns) : Value(), Unit::kNanoseconds},
      {"drift_ppm", "clock drift, ppm", k.clock.drift_ppm, Unit::kRatio},
      {"clock_residual_p95_ns", "clocks agree to", whole_ns(k.clock.residual_p95_ns),
       Unit::kNanoseconds},
      {"clock_rtt_floor_ns", "fastest clock read", k.clock.rtt_floor_ns, Unit::kNanoseconds},
      {"clock_probes", "clock reads", k.clock.probes, Unit::kCount},
      {"clock_probes_kept", "kept", k.clock.probes_kept, Unit::kCount},
      {"clock_segments", "straight pieces", k.clock.segments.size(), Unit::kCount},
      {"samples", "samples", k.samples, Unit::kCount},
      {"samples_outside_runs", "outside runs", k.samples_outside_runs, Unit::kCount},
      {"samples_in_gaps", "in gaps", k.samples_in_gaps, Unit::kCount},
      {"samples_repeated", "repeated", k.samples_repeated, Unit::kCount},
      {"reasons", "reasons", Value::List(k.reasons), Unit::kText},
      {"notes", "notes", Value::List(k.notes), Unit::kText}};
}

Table curve_table(std::string key, const std::vector<ProfilePoint>& points) {
  Table table{.key = std::move(key),
              .columns = {{.key = "toi_ns", .title = "TOI", .unit = Unit::kNanoseconds},
                          {.key = "power_w", .title = "power", .unit = Unit::kWatts},
                          {.key = "low_w", .title = "from", .unit = Unit::kWatts},
                          {.key = "high_w", .title = "to", .unit = Unit::kWatts}},
              .show = Show::kDataOnly};
  for (const ProfilePoint& point : points) {
    table.rows.push_back({point.toi_ns, point.power_w, point.low_w, point.high_w});
  }
  return table;
}

Table scatter_table(std::string key, const std::vector<ProfilePoint>& points) {
  Table table{.key = std::move(key),
              .columns = {{.key = "toi_ns", .title = "TOI", .unit = Unit::kNanoseconds},
                          {.key = "power_w", .title = "power", .unit = Unit::kWatts}},
              .show = Show::kDataOnly};
  for (const ProfilePoint& point : points) table.rows.push_back({point.toi_ns, point.power_w});
  return table;
}

Elements kernel_elements(const PowerReport& report) {
  Elements list{.key = "kernels", .elements = {}, .show = Show::kDataOnly};
  for (const KernelProfile& kernel : report.kernels) {
    Section section;
    section.blocks = {Facts{.items = kernel_items(kernel), .show = Show::kDataOnly},
                      curve_table("profile", kernel.curve),
                      scatter_table("scatter", kernel.lois_points),
                      curve_table("sse_profile", kernel.sse_curve),
                      scatter_table("sse_scatter", kernel.sse_points),
                      curve_table("xcd_profile", kernel.components[0].curve),
                      curve_table("iod_profile", kernel.components[1].curve),
                      curve_table("hbm_profile", kernel.components[2].curve)};
    list.elements.push_back({std::move(section)});
  }
  return list;
}

// The columns for comparing kernels (Figure 7), for readers; the data has all columns.
Table side_by_side(const PowerReport& report) {
  constexpr std::array<const char*, 14> kShown = {
      "name",      "ssp_w",    "ssp_low_w", "ssp_high_w", "sse_w",       "sse_error", "energy_j",
      "t_exec_ns", "w_over_t", "lois",      "loi_target", "golden_runs", "runs",      "verdict"};
  Table table{.title = "Kernels", .terminal_limit = 0, .show = Show::kReadersOnly};
  const bool enough = std::all_of(report.kernels.begin(), report.kernels.end(),
                                  [](const KernelProfile& k) { return k.lois >= k.loi_target; });
  // Shown only if needed: wide columns that are uninteresting if all targets were met.
  const auto on_demand = [enough](const std::string& key) {
    return key == "runs" || (enough && key == "loi_target");
  };
  for (const KernelProfile& kernel : report.kernels) {
    const std::vector<Item> items = kernel_items(kernel);
    Row row;
    for (const char* key : kShown) {
      const auto item = std::find_if(items.begin(), items.end(),
                                     [key](const Item& candidate) { return candidate.key == key; });
      if (table.rows.empty()) {
        table.columns.push_back(
            {.key = item->key,
             .title = item->label,
             .unit = item->unit,
             .elastic = item->key == "name",
             .show = on_demand(item->key) ? Show::kDataOnly : Show::kEverywhere});
      }
      row.push_back(item->value);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Maps power to a text row between the plot's minimum and maximum.
class PlotScale {
 public:
  explicit PlotScale(const KernelProfile& kernel) {
    for (const auto* points : {&kernel.curve, &kernel.lois_points, &kernel.sse_curve}) {
      for (const ProfilePoint& p : *points) {
        low_ = std::min(low_, p.power_w);
        high_ = std::max(high_, p.power_w);
      }
    }
    if (high_ <= low_) high_ = low_ + 1;
  }
  std::string title() const { return watts(low_) + " to " + watts(high_); }
  std::string row(const ProfilePoint& point, const std::vector<double>& lois, double sse_w) const {
    std::string line(kWidth, '.');
    if (std::isfinite(point.low_w) && std::isfinite(point.high_w)) {
      for (size_t at = place(point.low_w); at <= place(point.high_w); ++at) line[at] = '-';
    }
    for (const double loi : lois) line[place(loi)] = '+';
    if (std::isfinite(sse_w)) line[place(sse_w)] = 's';
    line[place(point.power_w)] = 'o';
    return line;
  }

 private:
  static constexpr size_t kWidth = 40;
  size_t place(double value) const {
    const double share = std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
    return static_cast<size_t>(std::lround(share * (kWidth - 1)));
  }
  double low_ = INFINITY;
  double high_ = -INFINITY;
};

// The curve as a text plot: o = fit of SSP, - = its band, + = nearby LOIs, s = fit of SSE (Figure
// 8).
Table plot(const KernelProfile& kernel) {
  constexpr size_t kEvery = 4;  // point of the curve
  const PlotScale scale(kernel);
  Table table{.title = kernel.name +
                       ": power over time in the execution (o SSP, - 95 % band, + LOIs, s SSE)",
              .columns = {{.key = "toi", .title = "TOI", .unit = Unit::kNanoseconds},
                          {.key = "power", .title = "power", .unit = Unit::kWatts},
                          {.key = "plot", .title = scale.title(), .unit = Unit::kText}},
              .terminal_limit = 0,
              .show = Show::kTextOnly};
  const double reach = static_cast<double>(kernel.t_exec_ns) * kEvery /
                       static_cast<double>(kernel.curve.size() - 1) / 2;
  for (size_t i = 0; i < kernel.curve.size(); i += kEvery) {
    std::vector<double> lois;
    for (const ProfilePoint& loi : kernel.lois_points) {
      const double off = static_cast<double>(loi.toi_ns - kernel.curve[i].toi_ns);
      if (std::fabs(off) <= reach) lois.push_back(loi.power_w);
    }
    const double sse_w = i < kernel.sse_curve.size() ? kernel.sse_curve[i].power_w : std::nan("");
    table.rows.push_back(
        {kernel.curve[i].toi_ns, kernel.curve[i].power_w, scale.row(kernel.curve[i], lois, sse_w)});
  }
  return table;
}

Table takeaways_table(const PowerReport& report) {
  Table table{
      .key = "takeaways",
      .title = "Power and achieved throughput",
      .columns = {{.key = "name", .title = "name", .unit = Unit::kText, .elastic = true},
                  {.key = "kernel_bound", .title = "bound by", .unit = Unit::kText},
                  {.key = "op_per_byte", .title = "FLOP/B", .unit = Unit::kRatio},
                  {.key = "ridge_op_per_byte", .title = "ridge", .unit = Unit::kRatio},
                  {.key = "achieved_flops", .title = "FLOP/s", .show = Show::kDataOnly},
                  {.key = "achieved_bytes_per_s", .title = "B/s", .show = Show::kDataOnly},
                  {.key = "peak_flops_share", .title = "of peak FLOP/s", .unit = Unit::kShare},
                  {.key = "peak_bandwidth_share", .title = "of bandwidth", .unit = Unit::kShare},
                  {.key = "above_idle_w", .title = "above idle", .unit = Unit::kWatts},
                  {.key = "w_per_tflops", .title = "W per TFLOP/s", .unit = Unit::kRatio},
                  {.key = "pj_per_flop", .title = "pJ/FLOP", .unit = Unit::kRatio},
                  {.key = "pj_per_byte", .title = "pJ/B", .unit = Unit::kRatio}},
      .terminal_limit = 0};
  bool any = false;
  for (const KernelTakeaway& t : report.takeaways) {
    any = any || std::isfinite(t.achieved_flops) || std::isfinite(t.achieved_bytes_per_s);
    table.rows.push_back({t.name, std::string(kernel_bound_name(t.bound)), t.op_per_byte,
                          t.ridge_op_per_byte, t.achieved_flops, t.achieved_bytes_per_s,
                          t.peak_flops_share, t.peak_bandwidth_share, t.above_idle_w,
                          t.w_per_tflops, t.pj_per_flop, t.pj_per_byte});
  }
  if (!any) table.show = Show::kDataOnly;  // work and bytes are unknown
  return table;
}

Table pairs_table(const PowerReport& report) {
  Table table{.key = "complementary",
              .title = "Kernels that load different parts and could run together",
              .columns = {{.key = "compute", .title = "loads compute", .unit = Unit::kText},
                          {.key = "memory", .title = "loads memory", .unit = Unit::kText},
                          {.key = "by", .title = "known by", .unit = Unit::kText},
                          {.key = "together_w", .title = "at most", .unit = Unit::kWatts},
                          {.key = "limit_w", .title = "limit", .unit = Unit::kWatts},
                          {.key = "headroom_w", .title = "headroom", .unit = Unit::kWatts},
                          {.key = "fits", .title = "fits"}}};
  for (const ComplementaryPair& p : report.pairs) {
    table.rows.push_back({p.compute, p.memory, p.by_parts ? "powers of parts" : "FLOP/B",
                          p.together_w, p.limit_w, p.headroom_w,
                          p.fits ? Value(*p.fits) : Value()});
  }
  if (table.rows.empty()) table.show = Show::kDataOnly;
  return table;
}

Table comparisons_table(const PowerReport& report) {
  // With a single kernel, its name is redundant and would take space from the compared values.
  const Show name_shown = of_one_kernel(report.comparisons) ? Show::kDataOnly : Show::kEverywhere;
  Table table{.key = "comparisons",
              .title = "Compared",
              .columns = {{.key = "name", .title = "name", .unit = Unit::kText, .show = name_shown},
                          {.key = "base", .title = "base", .unit = Unit::kText},
                          {.key = "other", .title = "other", .unit = Unit::kText},
                          {.key = "base_w", .title = "base power", .unit = Unit::kWatts},
                          {.key = "other_w", .title = "other SSP", .unit = Unit::kWatts},
                          {.key = "relative", .title = "relative", .unit = Unit::kShare},
                          {.key = "relative_low", .title = "from", .unit = Unit::kShare},
                          {.key = "relative_high", .title = "to", .unit = Unit::kShare},
                          {.key = "differs", .title = "differs"},
                          {.key = "curve_rms_share", .title = "curves apart", .unit = Unit::kShare},
                          {.key = "sse_error_change", .title = "SSE error", .unit = Unit::kShare},
                          {.key = "base_residual_w",
                           .title = "base LOIs off curve",
                           .unit = Unit::kWatts,
                           .show = Show::kDataOnly},
                          {.key = "other_residual_w",
                           .title = "other LOIs off curve",
                           .unit = Unit::kWatts,
                           .show = Show::kDataOnly}}};
  for (const ProfileComparison& c : report.comparisons) {
    table.rows.push_back({c.name, c.base, c.other, c.base_w, c.other_w, c.relative, c.relative_low,
                          c.relative_high, c.differs, c.curve_rms_share, c.sse_error_change,
                          c.base_residual_w, c.other_residual_w});
  }
  if (table.rows.empty()) table.show = Show::kDataOnly;
  return table;
}

Facts campaign_facts(const PowerReport& report) {
  const auto text = [](const std::string& words) { return words.empty() ? Value() : Value(words); };
  Facts facts{.items = {{"device", "device", text(report.device), Unit::kNone},
                        {"workload", "workload", text(report.workload), Unit::kText},
                        {"power_limit_w", "power limit", report.limit_w, Unit::kWatts}}};
  if (report.roofline) {
    facts.items.push_back(
        {"peaks_source", "peaks from", report.roofline->source, Unit::kText, "", Show::kDataOnly});
  }
  return facts;
}

// Components in addition to the whole device: SSP of each kernel, and the remainder.
Table parts_of_device(const PowerReport& report) {
  Table table{
      .key = "components",
      .title = "Parts of the device, settled",
      .columns = {{.key = "kernel", .title = "kernel", .unit = Unit::kText, .elastic = true},
                  {.key = "part", .title = "part", .unit = Unit::kText},
                  {.key = "ssp_w", .title = "SSP", .unit = Unit::kWatts},
                  {.key = "low_w", .title = "from", .unit = Unit::kWatts},
                  {.key = "high_w", .title = "to", .unit = Unit::kWatts},
                  {.key = "whole_share", .title = "of the whole", .unit = Unit::kShare}},
      .terminal_limit = 0};
  for (const KernelProfile& kernel : report.kernels) {
    if (!std::isfinite(kernel.rest_w)) continue;
    for (size_t i = 0; i < kComponentNames.size(); ++i) {
      const ComponentProfile& part = kernel.components[i];
      if (!part.measured()) continue;
      table.rows.push_back(
          {kernel.name, kComponentNames[i], part.ssp_w, part.low_w, part.high_w, part.ssp_w / kernel.ssp_w});
    }
    table.rows.push_back({kernel.name, "in none of them", kernel.rest_w, Value(), Value(),
                          kernel.rest_w / kernel.ssp_w});
  }
  return table;
}

// For AMD GPUs with several dies, which FinGraV measures separately: the source of component power,
// or why it is missing. Empty for devices without such components.
std::string about_parts(const PowerReport& report) {
  const bool amd = contains(report.device, "AMD") || contains(report.device, "Instinct");
  if ((!amd && report.parts.empty()) || report.kernels.empty()) return "";
  const bool measured = std::any_of(report.kernels.begin(), report.kernels.end(),
                                    [](const KernelProfile& k) { return std::isfinite(k.rest_w); });
  if (measured) return report.parts.empty() ? "" : "Powers of parts: " + report.parts + ".";
  return "No power of the GPU's parts (XCD, IOD, HBM) was recorded: " +
         (report.parts.empty()
              ? "AMD SMI reports that of a GPU's whole package alone."
              : "of where it may be from, the recording says \"" + report.parts + "\".");
}

Prose remarks(const PowerReport& report) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  if (std::string parts = about_parts(report); !parts.empty()) {
    prose.paragraphs.push_back(std::move(parts));
  }
  for (const KernelProfile& kernel : report.kernels) {
    for (const std::string& note : kernel.notes) {
      prose.paragraphs.push_back(kernel.name + ": " + note + ".");
    }
  }
  return prose;
}

std::string joules(int64_t microjoules) {
  return format_value(static_cast<double>(microjoules) * 1e-6, Unit::kJoules);
}

std::string_view log_clock_name(LogClock clock) {
  switch (clock) {
    case LogClock::kEpoch:
      return "epoch";
    case LogClock::kLocalTime:
      return "local_time";
    case LogClock::kTimeOfDay:
      return "time_of_day";
    case LogClock::kUnknownOrigin:
      break;
  }
  return "unknown_origin";
}

std::string joules_between(double low_j, double high_j) {
  return format_value(low_j, Unit::kJoules) + " to " + format_value(high_j, Unit::kJoules);
}

// A reason code as text, for example "runs_alike:base".
std::string why_said(const std::string& why) {
  if (why == "does_not_follow") return "the samples do not follow the trace";
  if (why == "lag_window_or_ramp") return "the sensor's lag, window or ramp are not known better";
  if (why == "below_noise") return "what it adds is below the noise of the samples";
  const size_t colon = why.find(':');
  if (colon == std::string::npos) return "it runs alike with others";
  const std::string other = why.substr(colon + 1);
  return other == "base" ? "it hardly ever stops" : "it runs alike with " + describe_kernel(other);
}

// The log's delay relative to the trace, if the samples determine it; empty if the timestamps are
// used unchanged.
std::string lag_words(const EnergyReport& r) {
  constexpr double kSaidAboveNs = 5e6;
  if (r.modes.size() > 1) {
    return "The samples allow several offsets of the log; the intervals hold for all of them.";
  }
  const double least = std::min(std::fabs(r.lag_ns.low), std::fabs(r.lag_ns.high));
  if (r.lag_ns.low <= 0 && r.lag_ns.high >= 0) return "";
  if (r.lag_ns.prior_high <= r.lag_ns.prior_low || least < kSaidAboveNs) return "";
  return "The log is " + format_ns(std::llround(std::fabs(r.lag_ns.value))) +
         (r.lag_ns.value > 0 ? " behind" : " ahead of") +
         " the trace, as its samples show; the energies allow for it.";
}

std::string taken_words(const EnergyPart& part) {
  return describe_kernel(part.name) + ": " + joules(part.energy_uj) + " (" +
         joules_between(part.low_j, part.high_j) + ")";
}

// The kernel with the largest energy that may exceed that of the first; null if the order is
// certain.
const EnergyPart* rival_of(const std::vector<EnergyPart>& kernels) {
  for (size_t i = 1; i < kernels.size(); ++i) {
    if (kernels[i].high_j > kernels.front().low_j) return &kernels[i];
  }
  return nullptr;
}

// Expected values of a meter, for a card with a sensor that was compared with one.
std::string gain_words(const SensorGain& gain) {
  const double more = 1 / gain.value - 1;
  const double least = 1 / gain.high - 1;
  const double most = 1 / gain.low - 1;
  return "A meter would read " + format_share(std::fabs(more)) + (more < 0 ? " less" : " more") +
         " (" + format_share(least) + " to " + format_share(most) +
         "): cards of this model were compared with one.";
}

// With its interval if that is wider than typical sensor errors.
std::string total_words(const EnergyReport& r) {
  constexpr double kWide = 0.05;
  const bool wide = r.total_high_j - r.total_low_j > kWide * static_cast<double>(r.total_uj) * 1e-6;
  return joules(r.total_uj) +
         (wide ? " (" + joules_between(r.total_low_j, r.total_high_j) + ")" : "") + " in " +
         format_ns(r.covered_ns) + ", " + watts(r.mean_w) + " on average";
}

// ": 50 % goes to kernels (…), 48 % is drawn anyway, 2 % is unattributed."
std::string measured_words(const EnergyReport& r) {
  const double left = share(r.unattributed_uj, r.total_uj);
  return ": " + format_share(share(r.kernels_uj, r.total_uj)) + " goes to kernels (" +
         joules_between(r.kernels_low_j, r.kernels_high_j) + "), " +
         format_share(share(r.base_uj, r.total_uj)) + " is drawn anyway, " +
         (left < 0 ? "and the two together are " + format_share(-left) + " more than was measured."
                   : format_share(left) + " is unattributed.");
}

// From the model, because the sum of samples is random for a sensor that covers part of the time.
std::string modelled_words(const EnergyReport& r) {
  const int64_t model_uj = r.base_uj + r.kernels_uj;
  return joules(model_uj) + " (" + joules_between(r.model_low_j, r.model_high_j) + ") in " +
         format_ns(r.covered_ns) + " by the model of the samples, with a plain sum of " +
         joules(r.total_uj) + ": " + format_share(share(r.kernels_uj, model_uj)) +
         " goes to kernels (" + joules_between(r.kernels_low_j, r.kernels_high_j) +
         "), the rest is drawn anyway.";
}

// Results that remain if the log determines only the total.
void keep_total_alone(std::vector<Item>& items) {
  constexpr std::array<std::string_view, 11> kKept = {"total_only",
                                                      "total_j",
                                                      "total_uj",
                                                      "mean_w",
                                                      "readings",
                                                      "energy_per_token_j",
                                                      "energy_per_prompt_token_j",
                                                      "covered_ns",
                                                      "covered_from_ns",
                                                      "covered_until_ns",
                                                      "zone_ns"};
  std::erase_if(items, [&](const Item& item) {
    return std::find(kKept.begin(), kKept.end(), item.key) == kKept.end();
  });
}

// Adds the energy of one kind of token, with its interval.
void add_token_items(std::array<const char*, 3> keys, const char* title, const Joules95& energy,
                     std::vector<Item>& items) {
  const bool known = std::isfinite(energy.value);
  const bool ranged = known && std::isfinite(energy.low) && std::isfinite(energy.high);
  items.push_back({keys[0], title, energy.value, Unit::kJoules,
                   ranged ? "95 %: " + joules_between(energy.low, energy.high) : "",
                   known ? Show::kEverywhere : Show::kDataOnly});
  items.push_back({keys[1], "from", energy.low, Unit::kJoules, "", Show::kDataOnly});
  items.push_back({keys[2], "to", energy.high, Unit::kJoules, "", Show::kDataOnly});
}

std::vector<Item> token_items(const TokenEnergy& energy) {
  std::vector<Item> items;
  add_token_items({"energy_per_token_j", "energy_per_token_low_j", "energy_per_token_high_j"},
                  "per output token", energy.output, items);
  add_token_items({"energy_per_prompt_token_j", "energy_per_prompt_token_low_j",
                   "energy_per_prompt_token_high_j"},
                  "per prompt token in prefill", energy.prompt, items);
  return items;
}

// "P2", as nvidia-smi prints it.
Value state_name(double state) {
  return std::isfinite(state) ? Value("P" + std::to_string(std::lround(state))) : Value();
}

// "MHz; below 90 % of it in 40 % of the samples".
std::string clock_words(const LogClocks& clocks) {
  if (!clocks.falls) return "MHz";
  return "MHz; below 90 % of it in " + format_share(clocks.below_share) + " of the samples";
}

Facts energy_totals(const EnergyReport& r) {
  const auto j = [](int64_t uj) { return Value(static_cast<double>(uj) * 1e-6); };
  // If the samples do not follow the trace, components have only an interval.
  const auto known = [&r](auto value) { return r.follows ? Value(value) : Value(); };
  const auto part = [&](int64_t uj) { return r.follows ? j(uj) : Value(); };
  const auto part_share = [&r](int64_t uj, double low_j, double high_j) {
    return r.follows ? format_share(share(uj, r.total_uj)) : joules_between(low_j, high_j);
  };
  const double covered_s = static_cast<double>(r.covered_ns) * 1e-9;
  const bool total_alone = !r.total_only.empty();
  Facts facts{
      .items = {
          {"total_only", "nothing below it, because", total_alone ? Value(r.total_only) : Value(),
           Unit::kText, "", total_alone ? Show::kEverywhere : Show::kDataOnly},
          {"total_j", "measured", j(r.total_uj), Unit::kJoules,
           total_alone ? "" : "95 %: " + joules_between(r.total_low_j, r.total_high_j)},
          {"total_low_j", "from", r.total_low_j, Unit::kJoules, "", Show::kDataOnly},
          {"total_high_j", "to", r.total_high_j, Unit::kJoules, "", Show::kDataOnly},
          {"base_j", "drawn anyway", part(r.base_uj), Unit::kJoules,
           part_share(r.base_uj, r.base_low_w * covered_s, r.base_high_w * covered_s)},
          {"kernels_j", "by kernels, above it", part(r.kernels_uj), Unit::kJoules,
           part_share(r.kernels_uj, r.kernels_low_j, r.kernels_high_j)},
          {"unattributed_j", "unattributed", part(r.unattributed_uj), Unit::kJoules,
           r.follows ? format_share(share(r.unattributed_uj, r.total_uj)) : ""},
          {"total_uj", "", r.total_uj, Unit::kNone, "", Show::kDataOnly},
          {"base_uj", "", known(r.base_uj), Unit::kNone, "", Show::kDataOnly},
          {"kernels_uj", "", known(r.kernels_uj), Unit::kNone, "", Show::kDataOnly},
          {"unattributed_uj", "", known(r.unattributed_uj), Unit::kNone, "", Show::kDataOnly},
          {"covered_ns", "covered", r.covered_ns, Unit::kNanoseconds},
          {"covered_from_ns", "from", r.begin_ns - r.trace_begin_ns, Unit::kNanoseconds, "",
           Show::kDataOnly},
          {"covered_until_ns", "to", r.end_ns - r.trace_begin_ns, Unit::kNanoseconds, "",
           Show::kDataOnly},
          {"mean_w", "mean power", r.mean_w, Unit::kWatts},
          {"base_w", "base power", known(r.base_w), Unit::kWatts,
           interval_words(r.base_low_w, r.base_high_w)},
          {"base_low_w", "from", r.base_low_w, Unit::kWatts, "", Show::kDataOnly},
          {"base_high_w", "to", r.base_high_w, Unit::kWatts, "", Show::kDataOnly},
          {"idle_mhz", "clock in idle", finite_value(r.clocks.idle_mhz), Unit::kRatio, "MHz",
           std::isfinite(r.clocks.idle_mhz) ? Show::kEverywhere : Show::kDataOnly},
          {"idle_pstate", "P-state in idle", state_name(r.clocks.idle_state), Unit::kText,
           r.clocks.idle_clocks_up ? "clocks are up: not deep idle" : "",
           std::isfinite(r.clocks.idle_state) ? Show::kEverywhere : Show::kDataOnly},
          {"idle_clocks_up", "clocks are up in idle", r.clocks.idle_clocks_up, Unit::kNone, "",
           Show::kDataOnly},
          {"load_high_mhz", "clock under load", finite_value(r.clocks.high_mhz), Unit::kRatio,
           clock_words(r.clocks),
           std::isfinite(r.clocks.high_mhz) ? Show::kEverywhere : Show::kDataOnly},
          {"load_low_mhz", "down to", finite_value(r.clocks.low_mhz), Unit::kRatio, "",
           Show::kDataOnly},
          {"clock_below_share", "samples below 90 % of it", finite_value(r.clocks.below_share),
           Unit::kShare, "", Show::kDataOnly},
          {"clock_falls", "the clock falls under load", r.clocks.falls, Unit::kNone, "",
           Show::kDataOnly},
          {"model_total_j", "by the model", known(r.model_total_j), Unit::kJoules,
           joules_between(r.model_low_j, r.model_high_j)},
          {"model_low_j", "from", r.model_low_j, Unit::kJoules, "", Show::kDataOnly},
          {"model_high_j", "to", r.model_high_j, Unit::kJoules, "", Show::kDataOnly},
          {"kernels_low_j", "from", r.kernels_low_j, Unit::kJoules, "", Show::kDataOnly},
          {"kernels_high_j", "to", r.kernels_high_j, Unit::kJoules, "", Show::kDataOnly},
          {"kernels_true_j", "kernels by a meter", known(r.kernels_true_j), Unit::kJoules,
           joules_between(r.kernels_true_low_j, r.kernels_true_high_j)},
          {"kernels_true_low_j", "from", r.kernels_true_low_j, Unit::kJoules, "", Show::kDataOnly},
          {"kernels_true_high_j", "to", r.kernels_true_high_j, Unit::kJoules, "", Show::kDataOnly},
          {"counter_j", "by the log's counter", r.counter_j, Unit::kJoules,
           r.counter_used ? "used" : "not used: it contradicts the powers",
           std::isfinite(r.counter_j) ? Show::kEverywhere : Show::kDataOnly},
          {"counter_modelled_j", "by the powers in that time", r.counter_modelled_j, Unit::kJoules,
           "", std::isfinite(r.counter_j) ? Show::kEverywhere : Show::kDataOnly},
          {"counter_used", "counter used", r.counter_used, Unit::kNone, "", Show::kDataOnly},
          {"sensor_gain", "sensor shows, of what is drawn", r.gain.value, Unit::kShare,
           r.gain.source.empty() ? "taken from other cards" : "known of this card's model"},
          {"sensor_gain_low", "from", r.gain.low, Unit::kShare, "", Show::kDataOnly},
          {"sensor_gain_high", "to", r.gain.high, Unit::kShare, "", Show::kDataOnly},
          {"sensor_gain_source", "known from", r.gain.source, Unit::kText, "", Show::kDataOnly},
          {"follows", "samples follow the trace", r.follows, Unit::kNone},
          {"explained", "variance explained", r.explained, Unit::kShare},
          {"residual_w", "scatter around the model", r.residual_w, Unit::kWatts},
          {"readings", "updates of the sensor", r.readings, Unit::kCount},
          {"update_period_ns", "time between updates", std::llround(r.period_ns),
           Unit::kNanoseconds},
          {"update_grid", "known from", r.grid, Unit::kText},
          {"kept_share", "an update keeps of the one before", r.kept.value, Unit::kShare,
           format_share(r.kept.low) + " to " + format_share(r.kept.high) +
               (r.kept_told ? "" : ", not distinguishable from none"),
           r.kept.value > 0 ? Show::kEverywhere : Show::kDataOnly},
          {"kept_low_share", "from", r.kept.low, Unit::kShare, "", Show::kDataOnly},
          {"kept_high_share", "to", r.kept.high, Unit::kShare, "", Show::kDataOnly},
          {"usual_sensor", "window and ramp allowed",
           r.usual_sensor.empty() ? Value() : Value(r.usual_sensor), Unit::kText, "",
           r.usual_sensor.empty() ? Show::kDataOnly : Show::kEverywhere},
          {"sensor_unlike", "unlike other cards of its model", r.sensor_unlike, Unit::kNone, "",
           r.sensor_unlike ? Show::kEverywhere : Show::kDataOnly},
          {"zone_ns", "added for a time zone", r.zone_ns, Unit::kNanoseconds, "",
           r.zone_ns != 0 ? Show::kEverywhere : Show::kDataOnly},
          {"drift_ppm", "clock drift, ppm", r.drift_ppm.value, Unit::kRatio, "", Show::kDataOnly},
          {"drift_low_ppm", "from", r.drift_ppm.low, Unit::kRatio, "", Show::kDataOnly},
          {"drift_high_ppm", "to", r.drift_ppm.high, Unit::kRatio, "", Show::kDataOnly}}};
  const std::vector<Item> per_token = token_items(TokenEnergy::of(r));
  const auto after = std::find_if(facts.items.begin(), facts.items.end(),
                                  [](const Item& item) { return item.key == "covered_ns"; });
  facts.items.insert(after, per_token.begin(), per_token.end());
  if (total_alone) keep_total_alone(facts.items);
  return facts;
}

Value rounded(double ns) { return static_cast<int64_t>(std::llround(ns)); }

// Properties of the sensor and its clock that the samples determine.
Table sensor_table(const EnergyReport& r) {
  Table table{
      .key = "sensor",
      .title = "The sensor, as the samples show it",
      .columns = {{.key = "parameter", .title = "of a reading", .unit = Unit::kText},
                  {.key = "value_ns", .title = "value", .unit = Unit::kNanoseconds},
                  {.key = "low_ns", .title = "from", .unit = Unit::kNanoseconds},
                  {.key = "high_ns", .title = "to", .unit = Unit::kNanoseconds},
                  {.key = "prior_low_ns", .title = "may be from", .unit = Unit::kNanoseconds},
                  {.key = "prior_high_ns", .title = "may be to", .unit = Unit::kNanoseconds}},
      .terminal_limit = 0};
  for (const auto& [name, fitted] : {std::pair<const char*, const Fitted*>{"lag", &r.lag_ns},
                                     {"window", &r.window_ns},
                                     {"ramp", &r.ramp_ns}}) {
    table.rows.push_back({std::string(name), rounded(fitted->value), rounded(fitted->low),
                          rounded(fitted->high), rounded(fitted->prior_low),
                          rounded(fitted->prior_high)});
  }
  return table;
}

// Offsets of the log that fit the samples almost equally well.
Table modes_table(const EnergyReport& r) {
  Table table{.key = "modes",
              .title = "Offsets of the log that the samples allow",
              .columns = {{.key = "lag_ns", .title = "lag", .unit = Unit::kNanoseconds},
                          {.key = "worse", .title = "worse than the best (1: the limit)"}},
              .terminal_limit = 0,
              .show = r.modes.size() > 1 ? Show::kEverywhere : Show::kDataOnly};
  for (const EnergyReport::Mode& mode : r.modes) {
    table.rows.push_back({rounded(mode.lag_ns), mode.worse});
  }
  return table;
}

Facts log_facts(const LogSource& source) {
  const PowerLog& log = *source.log;
  const std::string& device = log.series[source.series].device;
  return {.key = "log",
          .title = "Log",
          .items = {{"log_format", "format", log.format, Unit::kText},
                    {"column", "column", log.column, Unit::kText},
                    {"log_device", "device", device.empty() ? Value() : Value(device), Unit::kText},
                    {"log_clock", "times are", std::string(log_clock_name(log.clock)), Unit::kText},
                    {"log_scope", "is of", log.scope.empty() ? Value() : Value(log.scope),
                     Unit::kText, "", log.scope.empty() ? Show::kDataOnly : Show::kEverywhere},
                    {"unit_assumed", "unit by size", log.unit_assumed, Unit::kNone, "",
                     log.unit_assumed ? Show::kEverywhere : Show::kDataOnly},
                    {"timed_by_hand", "times given by hand", log.timed_by_hand, Unit::kNone, "",
                     log.timed_by_hand ? Show::kEverywhere : Show::kDataOnly},
                    {"counter_resets", "counter set back", log.counter_resets, Unit::kCount, "",
                     log.counter_resets > 0 ? Show::kEverywhere : Show::kDataOnly},
                    {"devices_silent", "devices at 0 W", log.devices_silent, Unit::kCount, "",
                     log.devices_silent > 0 ? Show::kEverywhere : Show::kDataOnly},
                    {"rows", "rows", log.rows, Unit::kCount},
                    {"rows_without_power", "without a power", log.rows_without_power, Unit::kCount},
                    {"rows_cut", "cut short", log.rows_cut, Unit::kCount},
                    {"rows_unplaced", "of an unknown GPU", log.rows_unplaced, Unit::kCount},
                    {"stamps_shared", "spread over their second", log.stamps_shared, Unit::kCount,
                     "", log.stamps_shared > 0 ? Show::kEverywhere : Show::kDataOnly},
                    {"rows_out_of_order", "out of order", log.rows_out_of_order, Unit::kCount}}};
}

Table classes_table(const EnergyReport& report) {
  Table table{
      .key = "classes",
      .title = "Power above the base, while running",
      .columns = {{.key = "names", .title = "kernels", .unit = Unit::kText, .elastic = true},
                  {.key = "above_idle_w", .title = "above idle", .unit = Unit::kWatts},
                  {.key = "low_w", .title = "from", .unit = Unit::kWatts},
                  {.key = "high_w", .title = "to", .unit = Unit::kWatts},
                  {.key = "window_share", .title = "of window", .unit = Unit::kShare},
                  {.key = "why", .title = "why so wide", .unit = Unit::kText}},
      .terminal_limit = 0};
  for (const PowerClass& c : report.classes) {
    table.rows.push_back({Value::List(c.names), report.follows ? Value(c.above_idle_w) : Value(),
                          c.low_w, c.high_w, c.window_share, c.why});
  }
  return table;
}

// known: components have a value in addition to an interval.
Table parts_table(std::string key, std::string title, const std::vector<EnergyPart>& parts,
                  int64_t total_uj, size_t top, bool known = true) {
  Table table{.key = std::move(key),
              .title = std::move(title),
              .columns = {{.key = "name", .title = "name", .unit = Unit::kText, .elastic = true},
                          {.key = "energy_j", .title = "energy", .unit = Unit::kJoules},
                          {.key = "low_j", .title = "from", .unit = Unit::kJoules},
                          {.key = "high_j", .title = "to", .unit = Unit::kJoules},
                          {.key = "energy_share", .title = "of all", .unit = Unit::kShare},
                          {.key = "busy_ns", .title = "busy", .unit = Unit::kNanoseconds},
                          {.key = "count", .title = "count", .unit = Unit::kCount},
                          {.key = "alone", .title = "told apart"},
                          {.key = "why",
                           .title = "why so wide",
                           .unit = Unit::kText,
                           .show = Show::kDataOnly},
                          {.key = "energy_uj", .title = "", .show = Show::kDataOnly}},
              .terminal_limit = top};
  for (const EnergyPart& p : parts) {
    const auto value = [known](auto number) { return known ? Value(number) : Value(); };
    table.rows.push_back({p.name, value(static_cast<double>(p.energy_uj) * 1e-6), p.low_j, p.high_j,
                          value(share(p.energy_uj, total_uj)), p.busy_ns, p.count, p.alone, p.why,
                          value(p.energy_uj)});
  }
  // A table with everything in "(none)" is uninformative.
  const bool uncut = parts.size() == 1 && parts.front().name.starts_with("(no");
  if (parts.empty() || uncut) table.show = Show::kDataOnly;
  return table;
}

// ---- several kernels (Figures 7 and 10, Table II) ----

Table across_table(const PowerReport& across) {
  Table table{
      .key = "across",
      .title = "Kernels next to each other (FinGraV, Figures 7 and 10)",
      .columns =
          {{.key = "name", .title = "name", .unit = Unit::kText, .elastic = true},
           {.key = "kernel_bound", .title = "bound by", .unit = Unit::kText},
           {.key = "sse_w", .title = "SSE", .unit = Unit::kWatts},
           {.key = "ssp_w", .title = "SSP", .unit = Unit::kWatts},
           {.key = "ssp_low_w", .title = "SSP from", .unit = Unit::kWatts, .show = Show::kDataOnly},
           {.key = "ssp_high_w", .title = "SSP to", .unit = Unit::kWatts, .show = Show::kDataOnly},
           {.key = "sse_error", .title = "SSE error", .unit = Unit::kShare},
           {.key = "w_over_t", .title = "w/T", .unit = Unit::kRatio},
           {.key = "energy_j", .title = "energy", .unit = Unit::kJoules},
           {.key = "highest_share", .title = "of highest", .unit = Unit::kShare},
           {.key = "leads", .title = "leads", .unit = Unit::kText},
           {.key = "leads_share", .title = "with", .unit = Unit::kShare}},
      .terminal_limit = 0};
  double highest_w = 0;
  bool parts = false;
  for (const KernelProfile& kernel : across.kernels) {
    if (kernel.own_w() > highest_w) highest_w = kernel.own_w();
    parts = parts || leading_part(kernel);
  }
  for (size_t i = 0; i < across.kernels.size(); ++i) {
    const KernelProfile& kernel = across.kernels[i];
    const std::optional<size_t> leads = leading_part(kernel);
    table.rows.push_back({kernel.name, std::string(kernel_bound_name(across.takeaways[i].bound)),
                          kernel.sse_w, kernel.ssp_w, kernel.ssp_low_w, kernel.ssp_high_w,
                          kernel.sse_error, kernel.w_over_t, kernel.energy_j,
                          kernel.own_w() / highest_w, leads ? Value(kComponentNames[*leads]) : Value(),
                          leads ? Value(kernel.components[*leads].ssp_w / kernel.ssp_w) : Value()});
  }
  if (!parts) table.columns[10].show = table.columns[11].show = Show::kDataOnly;
  return table;
}

std::string_view rule_name(TakeawayRule rule) {
  switch (rule) {
    case TakeawayRule::kFirstDiffers:
      return "The first settled execution (SSE) draws another power than later ones (SSP)";
    case TakeawayRule::kComputeDrawsMore:
      return "Compute-bound kernels draw more than memory-bound ones";
    case TakeawayRule::kXcdLeads:
      return "Compute-bound kernels draw most in the compute dies (XCD)";
    case TakeawayRule::kPowerDoesNotFollow:
      return "Compute-bound kernels with fewer FLOP/s draw about the same power";
    case TakeawayRule::kNeighboursCount:
      return "Only kernels shorter than the sensor's window show the power of those before them";
    case TakeawayRule::kPairsFit:
      break;
  }
  return "Kernels that load different parts stay within the power limit together";
}

std::string_view rule_source(TakeawayRule rule) {
  constexpr std::array<std::string_view, 6> kSources = {
      "FinGraV, takeaway 1", "FinGraV, takeaway 2", "FinGraV, takeaway 3",
      "FinGraV, takeaway 4", "FinGraV, takeaway 5", "FinGraV, recommendation 1"};
  return kSources[static_cast<size_t>(rule)];
}

// The data that a takeaway rule lacks.
std::string_view rule_needs(TakeawayRule rule) {
  switch (rule) {
    case TakeawayRule::kFirstDiffers:
      return "no kernel has both powers with an interval";
    case TakeawayRule::kComputeDrawsMore:
      return "this needs a compute-bound and a memory-bound kernel with known powers";
    case TakeawayRule::kXcdLeads:
      return "this needs the powers of parts of a compute-bound kernel";
    case TakeawayRule::kPowerDoesNotFollow:
      return "this needs two compute-bound kernels, one with under 75 % of the other's FLOP/s";
    case TakeawayRule::kNeighboursCount:
      return "this needs a kernel that was recorded alone and after other kernels";
    case TakeawayRule::kPairsFit:
      break;
  }
  return "this needs two kernels that load different parts, and the power limit";
}

std::string rule_measured(const RuleFinding& f) {
  if (!f.holds) return std::string(rule_needs(f.rule));
  switch (f.rule) {
    case TakeawayRule::kFirstDiffers:
      return "by up to " + format_share(f.value) + ", in " + f.kernel +
             "; the sensor's window is " + format_value(f.other_value, Unit::kRatio) +
             " of its executions long";
    case TakeawayRule::kComputeDrawsMore:
      return f.kernel + " draws " + watts(f.value) + ", " + f.other + " " + watts(f.other_value);
    case TakeawayRule::kXcdLeads:
      return "at least " + format_share(f.value) + " of the whole, in " + f.kernel;
    case TakeawayRule::kPowerDoesNotFollow:
      return f.kernel + " has " + format_share(f.value) + " of the FLOP/s of " + f.other + " and " +
             format_share(f.other_value) + " of its " + (f.of_parts ? "XCD power" : "power");
    case TakeawayRule::kNeighboursCount:
      return f.kernel + " draws " + format_share(std::fabs(f.value)) +
             (f.value < 0 ? " less" : " more") + "; the window is " +
             format_value(f.other_value, Unit::kRatio) + " of its executions long";
    case TakeawayRule::kPairsFit:
      break;
  }
  return f.kernel + " with " + f.other + ": at most " + watts(f.value) + " of " +
         watts(f.other_value);
}

Prose rules_prose(const std::vector<RuleFinding>& rules) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  for (const RuleFinding& finding : rules) {
    const char* holds = !finding.holds ? "Not known" : *finding.holds ? "Yes" : "No";
    prose.paragraphs.push_back(std::string(rule_name(finding.rule)) + "? " + holds + ": " +
                               rule_measured(finding) + " (" +
                               std::string(rule_source(finding.rule)) + ").");
  }
  return prose;
}

Table rules_table(const std::vector<RuleFinding>& rules) {
  Table table{.key = "takeaway_rules",
              .title = "Takeaways (FinGraV, Table II)",
              .columns = {{.key = "rule", .title = "rule", .unit = Unit::kText},
                          {.key = "holds", .title = "holds"},
                          {.key = "measured", .title = "measured", .unit = Unit::kText},
                          {.key = "source", .title = "source", .unit = Unit::kText}},
              .show = Show::kDataOnly};
  for (const RuleFinding& finding : rules) {
    table.rows.push_back({std::string(rule_name(finding.rule)),
                          finding.holds ? Value(*finding.holds) : Value(), rule_measured(finding),
                          std::string(rule_source(finding.rule))});
  }
  return table;
}

void add_across(const PowerReport& across, Section& section) {
  const std::vector<RuleFinding> rules = takeaway_rules(across);
  section.blocks.push_back(across_table(across));
  section.blocks.push_back(rules_prose(rules));
  section.blocks.push_back(rules_table(rules));
}

}  // namespace

std::vector<std::string> power_verdict_words(const PowerReport& report) {
  std::vector<std::string> words;
  for (const KernelProfile& kernel : report.kernels) {
    words.push_back(kernel_words(kernel));
    const bool refused = kernel.verdict == PowerVerdict::kRefused;
    for (size_t i = refused ? 1 : 0; i < kernel.reasons.size(); ++i) {
      words.push_back(kernel.name + ": " + kernel.reasons[i] + ".");
    }
  }
  for (const ProfileComparison& c : report.comparisons) words.push_back(comparison_words(c));
  if (words.empty()) words.push_back("No kernel in this recording.");
  return words;
}

std::vector<std::string> energy_verdict_words(const EnergyReport& r) {
  std::vector<std::string> words;
  const std::string total = total_words(r);
  if (!r.total_only.empty()) {
    words.push_back(total + ". Which kernels took it is not known: " + r.total_only + ".");
    if (!r.gain.source.empty()) words.push_back(gain_words(r.gain));
    return words;
  }
  if (!r.separates) {
    return {
        total +
            ". Base and kernels cannot be separated: no sample shows the GPU without work. Kernels "
            "took anything from nothing to all of it.",
        "A log of 5 s before and after the work, with the GPU idle, separates the two."};
  }
  if (!r.follows) {
    const bool part = r.kernels_high_j * 1e6 < static_cast<double>(r.total_uj);
    return {total + ". The samples do not follow the trace: kernels took anything from " +
                (part ? "0 to " + format_value(r.kernels_high_j, Unit::kJoules) + " of it."
                      : "nothing to all of it."),
            "The log may be of another device or time: --gpu and --offset choose."};
  }
  words.push_back(r.aliased ? modelled_words(r) : total + measured_words(r));
  if (r.kernels.empty()) return words;
  const EnergyPart& first = r.kernels.front();
  const bool known = first.low_j > 0 && first.high_j < 2 * first.low_j;
  if (known) {
    const EnergyPart* rival = rival_of(r.kernels);
    words.push_back((rival == nullptr ? "The largest part goes to " : "The largest parts go to ") +
                    taken_words(first) + (rival == nullptr ? "" : " and " + taken_words(*rival)) +
                    ".");
  } else {
    words.push_back("Which kernel takes most is not known: " + describe_kernel(first.name) +
                    " takes " + joules_between(first.low_j, first.high_j) +
                    (first.why.empty() ? "." : ", because " + why_said(first.why) + "."));
  }
  if (r.clocks.falls) {
    words.push_back("Throttled: the clock falls from " + number_text(r.clocks.high_mhz) + " to " +
                    number_text(r.clocks.low_mhz) + " MHz under load.");
  }
  if (!r.gain.source.empty()) words.push_back(gain_words(r.gain));
  const std::string lag = lag_words(r);
  if (!lag.empty()) words.push_back(lag);
  return words;
}

std::vector<ImportNote> power_log_notes(const PowerLog& log) {
  std::vector<ImportNote> notes;
  if (const uint64_t cut = log.rows_cut + (log.truncated ? 1 : 0); cut > 0) {
    const ImportCodeInfo& info = import_code_info(ImportCode::kTruncated);
    notes.push_back({.code = std::string(info.key),
                     .severity = std::string(severity_name(info.severity)),
                     .count = cut,
                     .meaning = "the power log ends in the middle of a line or of its compressed "
                                "stream; only whole lines before the cut were read"});
  }
  if (log.counter_resets > 0) {
    notes.push_back(
        {.code = "counter_resets",
         .severity = std::string(severity_name(Severity::kRepaired)),
         .count = log.counter_resets,
         .meaning = "an energy counter of the log went back (overflow or reset). Its energy over "
                    "that step is not known, and taken to be as in the time after"});
  }
  return notes;
}

std::vector<Section> energy_sections(const EnergyReport& report, const LogSource& source,
                                     size_t top) {
  Section section{.key = "energy", .title = "Energy"};
  section.blocks.push_back(energy_totals(report));
  if (!report.total_only.empty()) {
    section.blocks.push_back(log_facts(source));
    return {std::move(section), trust_section(report.trust)};
  }
  add_energy_charts(report, section);
  section.blocks.push_back(sensor_table(report));
  section.blocks.push_back(modes_table(report));
  section.blocks.push_back(classes_table(report));
  section.blocks.push_back(parts_table("kernels", "By kernel, above the base", report.kernels,
                                       report.total_uj, top, report.follows));
  section.blocks.push_back(parts_table("operators", "By operator, above the base", report.operators,
                                       report.total_uj, top, report.follows));
  for (const EnergyGrouping& grouping : report.groupings) {
    section.blocks.push_back(parts_table(grouping.key, grouping.title + ", above the base",
                                         grouping.parts, report.total_uj, top, report.follows));
  }
  section.blocks.push_back(parts_table("iterations", "By iteration, base included",
                                       report.iterations, report.total_uj, top));
  section.blocks.push_back(
      parts_table("phases", "By phase, base included", report.phases, report.total_uj, top));
  section.blocks.push_back(parts_table("idle", "The base, by what the device was doing",
                                       report.idle, report.total_uj, top, report.follows));
  section.blocks.push_back(log_facts(source));
  return {std::move(section), trust_section(report.trust)};
}

void add_token_energy(const TokenEnergy& energy, Section& section) {
  Facts facts{.key = "serving_energy", .title = "Energy per token", .items = token_items(energy)};
  const bool unknown = !energy.unknown.empty();
  facts.items.push_back({"energy_unknown", "not known, because",
                         unknown ? Value(energy.unknown) : Value(), Unit::kText, "",
                         unknown ? Show::kEverywhere : Show::kDataOnly});
  const auto serving =
      std::find_if(section.blocks.begin(), section.blocks.end(), [](const Block& block) {
        const Facts* one = std::get_if<Facts>(&block);
        return one != nullptr && one->key == "serving";
      });
  section.blocks.insert(serving == section.blocks.end() ? serving : serving + 1, std::move(facts));
}

std::string token_energy_words(const TokenEnergy& energy) {
  std::string parts;
  const auto add = [&parts](const Joules95& one, const char* token) {
    if (!one.known()) return;
    parts += (parts.empty() ? "" : ", ") + format_value(one.value, Unit::kJoules) + " per " +
             token + " (" + joules_between(one.low, one.high) + ")";
  };
  add(energy.output, "output token");
  add(energy.prompt, "prompt token in prefill");
  return parts.empty() ? parts : "Energy: " + parts + ".";
}

Section across_section(const PowerReport& across) {
  Section section{.key = "power", .title = "All kernels"};
  add_across(across, section);
  section.blocks.push_back(pairs_table(across));
  section.blocks.push_back(comparisons_table(across));
  add_across_charts(across, section);
  return section;
}

std::vector<Section> power_sections(const PowerReport& report) {
  Section section{.key = "power", .title = "Power"};
  section.blocks.push_back(side_by_side(report));
  for (const KernelProfile& kernel : report.kernels) {
    if (!kernel.curve.empty()) section.blocks.push_back(plot(kernel));
  }
  section.blocks.push_back(parts_of_device(report));
  if (Prose prose = remarks(report); !prose.paragraphs.empty()) {
    section.blocks.push_back(std::move(prose));
  }
  section.blocks.push_back(campaign_facts(report));
  section.blocks.push_back(sensor_facts(report.sensor));
  section.blocks.push_back(sensors_table(report));
  section.blocks.push_back(kernel_elements(report));
  section.blocks.push_back(takeaways_table(report));
  if (report.kernels.size() > 1) add_across(report, section);
  section.blocks.push_back(pairs_table(report));
  section.blocks.push_back(comparisons_table(report));
  add_power_charts(report, section);
  return {std::move(section), trust_section(report.trust)};
}

}  // namespace assay
