#include "ingest/power/json.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/export_file.h"
#include "base/files.h"
#include "base/json_tree.h"
#include "base/numbers.h"

namespace assay {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kPlan = "plan.json";
constexpr int64_t kSchema = 1;
constexpr int64_t kLongest = 1'000'000'000'000;      // ns; no sensor is slower
constexpr int64_t kLongestRun = 86'400 * kSecondNs;  // a day; measurement runs take six hours at
                                                     // most

Result<OrderedJson> read_object(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, file_text(path));
  OrderedJson json = parsed_ordered_json(text);
  if (!json.is_object()) {
    return Error{ErrorCode::kFormat, "is not a JSON object", path, -1};
  }
  return json;
}

Status write_object(const OrderedJson& json, const std::string& path) {
  return export_file(path, json_text(json, 2) + "\n");
}

// An integer in [0, most]; errors name the key.
Result<int64_t> whole(const OrderedJson& json, const char* key, int64_t most,
                      const std::string& path) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_number_integer()) {
    const auto value = found->get<int64_t>();
    if (value >= 0 && value <= most) return value;
  }
  return Error{
      ErrorCode::kFormat,
      std::string("\"") + key + "\" must be a whole number from 0 to " + std::to_string(most), path,
      -1};
}

Result<uint32_t> count(const OrderedJson& json, const char* key, const std::string& path) {
  ASSAY_TRY_ASSIGN(const int64_t value, whole(json, key, UINT32_MAX, path));
  return static_cast<uint32_t>(value);
}

bool flag(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::string text(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double number(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : std::nan("");
}

OrderedJson or_null(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

SensorMode mode_of(const std::string& name) {
  for (const SensorMode mode : {SensorMode::kBoxcar, SensorMode::kInstant,
                                SensorMode::kOneSecondAverage, SensorMode::kEnergyCounter}) {
    if (name == sensor_mode_name(mode)) return mode;
  }
  return SensorMode::kUnknown;
}

Result<ResponseTime> response_time(const OrderedJson& json, const std::string& path) {
  ResponseTime time;
  ASSAY_TRY_ASSIGN(time.ns, whole(json, "value", kLongest, path));
  ASSAY_TRY_ASSIGN(time.low_ns, whole(json, "low", kLongest, path));
  ASSAY_TRY_ASSIGN(time.high_ns, whole(json, "high", kLongest, path));
  return time;
}

Result<SensorResponse> response_of(const OrderedJson& json, const std::string& path) {
  SensorResponse response;
  for (const auto& [key, to] : {std::pair{"window_ns", &response.window},
                                {"ramp_ns", &response.ramp},
                                {"delay_ns", &response.delay}}) {
    const OrderedJson time = json.is_object() ? json.value(key, OrderedJson()) : OrderedJson();
    if (!time.is_object()) {
      return Error{ErrorCode::kFormat,
                   std::string("\"response\" must have \"") + key +
                       "\" with \"value\", \"low\" and \"high\"",
                   path, -1};
    }
    ASSAY_TRY_ASSIGN(*to, response_time(time, path));
  }
  const std::string kind = text(json, "kind");
  for (const ResponseKind one : {ResponseKind::kBoxcar, ResponseKind::kExponential}) {
    if (kind == response_kind_name(one)) response.kind = one;
  }
  response.residual_w = number(json, "residual_w");
  response.misfit = flag(json, "misfit");
  return response;
}

OrderedJson json_of(const SensorResponse& response) {
  OrderedJson json;
  json["kind"] = response_kind_name(response.kind);
  for (const auto& [key, time] : {std::pair{"window_ns", &response.window},
                                  {"ramp_ns", &response.ramp},
                                  {"delay_ns", &response.delay}}) {
    json[key] = {{"value", time->ns}, {"low", time->low_ns}, {"high", time->high_ns}};
  }
  json["residual_w"] = or_null(response.residual_w);
  json["misfit"] = response.misfit;
  return json;
}

// Keeps only letters, digits and dashes, for use in a file name.
std::string plain(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '-' || c == '.';
    result += kept ? c : '_';
  }
  return result;
}

}  // namespace

Result<SensorCalibration> read_sensor_calibration(const std::string& path) {
  ASSAY_TRY_ASSIGN(const OrderedJson json, read_object(path));
  SensorCalibration found;
  found.device = text(json, "device");
  found.driver = text(json, "driver");
  found.uuid = text(json, "uuid");
  found.sensor.mode = mode_of(text(json, "mode"));
  ASSAY_TRY_ASSIGN(found.sensor.window_ns, whole(json, "window_ns", kLongest, path));
  ASSAY_TRY_ASSIGN(found.sensor.period_ns, whole(json, "period_ns", kLongest, path));
  ASSAY_TRY_ASSIGN(found.sensor.delay_ns, whole(json, "delay_ns", kLongest, path));
  // Older files lack these keys.
  if (json.contains("ramp_ns")) {
    ASSAY_TRY_ASSIGN(found.sensor.ramp_ns, whole(json, "ramp_ns", kLongest, path));
  }
  if (json.contains("response")) {
    ASSAY_TRY_ASSIGN(found.response, response_of(json["response"], path));
  }
  if (found.sensor.window_ns == 0 || found.sensor.period_ns == 0) {
    return Error{ErrorCode::kFormat, "window_ns and period_ns must be above 0", path, -1};
  }
  const std::string source = text(json, "source");
  found.sensor.source = source.empty() ? "calibrated" : source;
  found.sensor.reading = text(json, "reading");
  found.sensor.calibrated = true;
  found.share_sampled = number(json, "share_sampled");
  found.idle_w = number(json, "idle_w");
  found.load_w = number(json, "load_w");
  found.residual_w = number(json, "residual_w");
  ASSAY_TRY_ASSIGN(found.updates, count(json, "updates", path));
  ASSAY_TRY_ASSIGN(found.steps, count(json, "steps", path));
  found.linearity_idle = number(json, "linearity_idle");
  found.linearity_load = number(json, "linearity_load");
  return found;
}

Status write_sensor_calibration(const SensorCalibration& calibration, const std::string& path) {
  const std::string folder = folder_of(path);
  if (!folder.empty()) ASSAY_TRY(make_folders(folder));
  OrderedJson json;
  json["schema_version"] = kSchema;
  json["device"] = calibration.device;
  json["driver"] = calibration.driver;
  json["uuid"] = calibration.uuid;
  json["reading"] = calibration.sensor.reading;
  json["mode"] = sensor_mode_name(calibration.sensor.mode);
  json["window_ns"] = calibration.sensor.window_ns;
  json["period_ns"] = calibration.sensor.period_ns;
  json["delay_ns"] = calibration.sensor.delay_ns;
  json["ramp_ns"] = calibration.sensor.ramp_ns;
  json["response"] = json_of(calibration.response);
  json["source"] = calibration.sensor.source;
  json["share_sampled"] = or_null(calibration.share_sampled);
  json["idle_w"] = or_null(calibration.idle_w);
  json["load_w"] = or_null(calibration.load_w);
  json["residual_w"] = or_null(calibration.residual_w);
  json["updates"] = calibration.updates;
  json["steps"] = calibration.steps;
  json["linearity_idle"] = or_null(calibration.linearity_idle);
  json["linearity_load"] = or_null(calibration.linearity_load);
  return write_object(json, path);
}

std::string calibration_path(const std::string& uuid, const std::string& driver,
                             const std::string& reading) {
  const auto folder = user_cache_folder("assay/sensors");
  if (!folder) return {};
  std::string name = plain(uuid) + "_" + plain(driver);
  if (!reading.empty()) name += "_" + plain(reading);
  return joined(*folder, name + ".json");
}

Result<PowerPlan> read_power_plan(const std::string& folder) {
  const std::string path = joined(folder, kPlan);
  ASSAY_TRY_ASSIGN(const OrderedJson json, read_object(path));
  PowerPlan plan;
  ASSAY_TRY_ASSIGN(plan.t_exec_ns, whole(json, "t_exec_ns", kLongest, path));
  ASSAY_TRY_ASSIGN(plan.warm_ups, count(json, "warm_ups", path));
  ASSAY_TRY_ASSIGN(plan.executions_per_run, count(json, "executions_per_run", path));
  ASSAY_TRY_ASSIGN(plan.runs, count(json, "runs", path));
  ASSAY_TRY_ASSIGN(plan.loi_target, count(json, "loi_target", path));
  ASSAY_TRY_ASSIGN(plan.fills_window, count(json, "fills_window", path));
  plan.throttles = flag(json, "throttles");
  plan.mean_only = flag(json, "mean_only");
  if (json.contains("timed_together")) {
    ASSAY_TRY_ASSIGN(plan.timed_together, count(json, "timed_together", path));
  }
  if (plan.executions_per_run == 0 || plan.runs == 0) {
    return Error{ErrorCode::kFormat, "executions_per_run and runs must be above 0", path, -1};
  }
  if (plan.t_exec_ns == 0) {
    return Error{ErrorCode::kFormat, "t_exec_ns must be above 0", path, -1};
  }
  if (plan.executions_per_run > kLongestRun / plan.t_exec_ns) {
    return Error{ErrorCode::kFormat, "executions_per_run times t_exec_ns is more than a day", path,
                 -1};
  }
  return plan;
}

Status write_power_plan(const PowerPlan& plan, const std::string& folder) {
  OrderedJson json;
  json["schema_version"] = kSchema;
  json["t_exec_ns"] = plan.t_exec_ns;
  json["warm_ups"] = plan.warm_ups;
  json["executions_per_run"] = plan.executions_per_run;
  json["runs"] = plan.runs;
  json["loi_target"] = plan.loi_target;
  json["fills_window"] = plan.fills_window;
  json["throttles"] = plan.throttles;
  json["mean_only"] = plan.mean_only;
  json["timed_together"] = plan.timed_together;
  return write_object(json, joined(folder, kPlan));
}

}  // namespace assay
