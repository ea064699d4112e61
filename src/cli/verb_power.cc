#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "answers/energy.h"
#include "base/decimal.h"
#include "cli/common.h"
#include "cli/facts_option.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct ProfileVerb : ProfileRequest {
  bool declared_sensor = false;
  CommonOptions common;
  std::optional<double> outlier_us;
  std::optional<double> margin;
};

int run_profile(ProfileVerb& verb) {
  verb.options.margin = verb.margin;
  verb.options.check_sensor = !verb.declared_sensor;
  if (verb.outlier_us) verb.options.outlier_ns = std::llround(*verb.outlier_us * 1000);
  return write_answer(answer_profile(verb), verb.common);
}

void add_profile_verb(Verb& power, int& exit_code) {
  auto verb = std::make_shared<ProfileVerb>();
  Verb& sub = power.verb("profile",
                         "From recorded runs to power over time in a kernel, with its error");
  sub.example("assay power profile runs/ -o power.html");
  add_common_options(sub, verb->common, false);
  add_figure_option(sub, verb->common);
  sub.input("recordings", verb->folders,
            "folders with samples.csv, execs.csv, sync.csv and meta.json; the first one is "
            "what others are compared with")
      .required();
  sub.option("--kernel", verb->kernels,
             "profile this kernel; default: every kernel that ends a run")
      .called("NAME");
  sub.option("--runs", verb->runs,
             "also from the first N runs only, and compare (FinGraV, Figure 5c)")
      .between(1, 1'000'000'000);
  sub.flag("--unsynced", verb->without_sync,
           "also with the clocks tied by one read, delay and drift ignored, and compare (FinGraV, "
           "Figure 5a)");
  sub.flag("--unbinned", verb->without_bins,
           "also of all runs, whatever time they took, and compare (FinGraV, Figure 5b)");
  sub.option("--bin-center", verb->outlier_us,
             "centre the bin on this execution time, in us, instead of the fullest one")
      .more_than_zero();
  sub.option("--bin-width", verb->margin, "width of the bin of golden runs; default: Table I")
      .between(0.0001, 1.0);
  sub.flag("--strict-windows", verb->options.strict,
           "only samples with this kernel in their whole window");
  sub.flag("--force", verb->options.force, "profile kernels under 25 us as well");
  sub.flag("--rescale", verb->options.rescale_toi,
           "stretch every run to the median execution time");
  sub.flag("--trust-sensor-spec", verb->declared_sensor,
           "take the sensor as declared, and do not hold it against the recording");
  sub.flag("--quartic", verb->options.polynomial,
           "draw the curve as the paper does, a polynomial of degree four, instead of a spline");
  add_facts_option(sub, verb->facts);
  sub.option("--calibration", verb->calibration,
             "of the sensor, for recordings made without one; default: what `assay power "
             "calibrate` kept for that GPU and driver")
      .called("FILE");
  sub.option("--seed", verb->options.seed, "of the bootstrap").shows_default();
  sub.option("--bootstrap", verb->options.bootstrap,
             "resamples for the 95 % interval, and for the band of --quartic")
      .between(0, 1'000'000)
      .shows_default();
  sub.run([verb, &exit_code] { exit_code = run_profile(*verb); });
}

struct AttributeVerb : AttributeRequest {
  CommonOptions common;
  std::string offset = "0";
  double within_s = -1;
  std::string window_ms;
  std::string ramp_ms;
  double delay_ms = 0;
  std::string log_start;
  double log_interval_s = 0;
};

// Parses --offset: seconds, or "start" if the log starts with the trace.
Status read_offset(AttributeVerb& verb) {
  verb.at_start = verb.offset == "start";
  if (verb.within_s >= 0) verb.options.sensor.offset_within_ns = std::llround(verb.within_s * 1e9);
  DecimalShape shape;
  if (verb.at_start ||
      parse_decimal(verb.offset, 9, verb.options.sensor.offset_ns, shape) == DecimalStatus::kOk) {
    return Ok{};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("--offset {}: seconds, or the word start", verb.offset), "", -1};
}

// Start and sampling interval of a log without timestamps.
Status read_timing(AttributeVerb& verb) {
  verb.timing.interval_ns = std::llround(verb.log_interval_s * 1e9);
  if (verb.log_start.empty()) return Ok{};
  const auto start = log_stamp(verb.log_start);
  if (!start || start->clock == LogClock::kTimeOfDay) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--log-start {}: a date with a time (2026-05-04T12:00:00Z), or seconds "
                    "since 1970",
                    verb.log_start),
        "", -1};
  }
  verb.timing.start = *start;
  verb.timing.started = true;
  return Ok{};
}

// Parses A or A:B in milliseconds. A alone means within 15 %, or exactly A if `hold`.
Status read_range(const char* option, const std::string& text, bool hold, int64_t& low_ns,
                  int64_t& high_ns) {
  constexpr double kMostMs = 1e6;
  if (text.empty()) return Ok{};
  const size_t colon = text.find(':');
  double low = 0;
  double high = 0;
  const bool pair = colon != std::string::npos;
  const bool read = parse_double(text.substr(0, colon), low) &&
                    parse_double(pair ? text.substr(colon + 1) : text, high);
  if (!read || low < 0 || high < low || high > kMostMs) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} {}: milliseconds, or a range of them as 20:30", option, text), "",
                 -1};
  }
  const double near = pair || hold ? 0 : 0.15;
  low_ns = std::llround(low * (1 - near) * 1e6);
  high_ns = std::llround(high * (1 + near) * 1e6);
  return Ok{};
}

int run_attribute(AttributeVerb& verb) {
  SensorPrior& sensor = verb.options.sensor;
  if (Status status = read_offset(verb); !status) return fail(status.error());
  if (Status status = read_timing(verb); !status) return fail(status.error());
  if (Status status = read_range("--window-ms", verb.window_ms, sensor.hold, sensor.window_low_ns,
                                 sensor.window_high_ns);
      !status) {
    return fail(status.error());
  }
  if (Status status = read_range("--ramp-ms", verb.ramp_ms, sensor.hold, sensor.ramp_low_ns,
                                 sensor.ramp_high_ns);
      !status) {
    return fail(status.error());
  }
  if (sensor.hold && sensor.window_low_ns <= 0) {
    return fail(Error{ErrorCode::kInvalidArgument, "--fixed-sensor needs --window-ms to hold", "", -1});
  }
  sensor.delay_ns = std::llround(verb.delay_ms * 1e6);
  verb.traces = traces_of(verb.common);
  return write_answer(answer_attribution(verb), verb.common);
}

void add_attribute_verb(Verb& power, int& exit_code) {
  auto verb = std::make_shared<AttributeVerb>();
  Verb& sub = power.verb(
      "attribute",
      "Joules per kernel, operator, layer, phase and iteration, from a trace and a power log");
  sub.example("assay power attribute trace.json.gz --samples power.csv");
  sub.example("assay power attribute traces/ --samples power.csv --offset start");
  add_common_options(sub, verb->common, true);
  add_figure_option(sub, verb->common);
  sub.option("--samples", verb->samples,
             // language: allow too_many_commas
             "power log of Assay, nvidia-smi, dcgmi, dcgm-exporter, amd-smi, rocm-smi, Zeus, "
             "tegrastats, turbostat and others (docs/formats/power_log.md)")
      .required()
      .called("FILE");
  sub.option("--column", verb->column, "column, metric or rail of the log to read, e.g. power.draw")
      .called("NAME");
  sub.option("--gpu", verb->gpu, "device of the log, where it has several").called("DEVICE");
  sub.option("--interleaved-gpus", verb->gpus,
             "that wrote the log in turn, where no column says which row is of which; default: "
             "found from the rows")
      .between(1, 64);
  sub.option("--device", verb->options.device,
             "only kernels of this device of the trace; default: all");
  sub.option("--offset", verb->offset,
             "seconds from the log's times to the trace's; or start: the log begins with the "
             "first GPU activity, give or take 2 s. Samples determine the rest: up to 0.15 s "
             "early and 0.25 s late")
      .shows_default()
      .called("SECONDS");
  sub.option("--offset-search", verb->within_s,
             "uncertainty of the offset, either way, in seconds; 0: exact")
      .unit("s")
      .between(0.0, 3600.0)
      .called("SECONDS");
  sub.option("--log-start", verb->log_start,
             "of a log without times: when it was begun, as 2026-05-04T12:00:00Z or in seconds "
             "since 1970, give or take 2 s")
      .called("TIME");
  sub.option("--log-interval", verb->log_interval_s,
             "of a log without times: interval between its rows of one GPU")
      .unit("s")
      .between(0.0, 3600.0)
      .called("SECONDS");
  sub.option("--window-ms", verb->window_ms,
             "the sensor's averaging window: A within 15 %, or a range A:B. Default: meta.json "
             "next to the log, else 0.5 to 1200, fitted to the samples")
      .called("A[:B]");
  sub.option("--ramp-ms", verb->ramp_ms,
             "time constant of sensor or device, as --window-ms; default: 0 to 250, fitted to the "
             "samples")
      .called("A[:B]");
  sub.option("--delay-ms", verb->delay_ms,
             "delay of the samples; changes the possible offsets")
      .unit("ms")
      .between(0.0, 1e6);
  sub.flag("--fixed-sensor", verb->options.sensor.hold,
           "fit nothing but powers: offset, delay and window as given");
  sub.option("--kernel-groups", verb->options.classes, "kernel names with a power of their own")
      .between(1, 200)
      .shows_default();
  sub.option("--tokens", verb->options.tokens, "made during the trace: energy per token. Default: output tokens by the labels of a serving engine")
      .more_than_zero();
  sub.option("--top", verb->top, "rows shown; 0 = all").at_least_zero().shows_default();
  sub.option("--seed", verb->options.seed, "of the search").shows_default();
  sub.run([verb, &exit_code] { exit_code = run_attribute(*verb); });
}

}  // namespace

void add_power_verb(Verb& app, int& exit_code) {
  Verb& power = app.verb(
      "power", "Watts inside a kernel, joules per anything, and what the sensor cannot see");
  power.example("assay power attribute trace.json.gz --samples power.csv", "joules per kernel");
  power.example("assay power run --workload gemm:4096 -o gemm.html", "inside one kernel");
  power.needs_a_verb();
  add_profile_verb(power, exit_code);
  add_attribute_verb(power, exit_code);
  add_power_sweep_verb(power, exit_code);
  add_power_run_verbs(power, exit_code);
}

}  // namespace assay
