// Logs in JSON. Output of Prometheus, amd-smi and rocm-smi is one value, or several in a row as
// from a loop; events of W&B are one per line.

#include <cmath>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/json_tree.h"
#include "ingest/power/logs/metrics.h"
#include "ingest/power/logs/readers.h"
#include "ingest/text/csv_table.h"

namespace assay {
namespace {

using enum TelemetryQuantity;
using Json = nlohmann::json;

// Calls use(value, line) for every JSON value of a text. Counts an incomplete last value.
template <typename Use>
Status each_value(const std::string& text, const std::string& path, LogSamples& log, Use&& use) {
  size_t line = 1;
  size_t begin = std::string::npos;
  size_t begin_line = 1;
  int depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    line += c == '\n' ? 1 : 0;
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '{' || c == '[') {
      if (depth++ == 0) {
        begin = at;
        begin_line = line;
      }
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      const std::string one = text.substr(begin, at + 1 - begin);
      const Json value = parsed_json(one);
      if (value.is_discarded()) return csv_error_at(path, begin_line, "is no JSON");
      ASSAY_TRY(use(value, begin_line));
    }
  }
  log.rows_cut += depth > 0 ? 1 : 0;
  return Ok{};
}

// A number, possibly written as text.
std::optional<LogNumber> number_in(const Json& value) {
  if (value.is_number()) {
    const auto number = value.get<double>();
    return std::isfinite(number) ? std::optional(LogNumber{number, ""}) : std::nullopt;
  }
  return value.is_string() ? log_number(value.get_ref<const std::string&>()) : std::nullopt;
}

std::string text_in(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? json_text(value) : std::string();
}

const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

// ---- Prometheus ----

std::string device_of_metric(const Json& metric) {
  for (const char* name : kMetricDeviceLabels) {
    const std::string found = text_in(member(metric, name));
    if (!found.empty()) return found;
  }
  return {};
}

// Adds the samples of one series: "values" of a range query, or "value" of an instant query.
Status add_series(const Json& series, const PowerMetric& metric, const std::string& path,
                  LogSamples& log) {
  const uint32_t device = log.device(device_of_metric(member(series, "metric")));
  const Json& many = member(series, "values");
  const Json& one = member(series, "value");
  const Json points = many.is_array() ? many : Json::array({one});
  for (const Json& point : points) {
    if (!point.is_array() || point.size() != 2) {
      return Error{ErrorCode::kFormat, "one of its samples is not a pair of time and value", path,
                   -1};
    }
    ++log.rows;
    int64_t t = 0;
    ASSAY_TRY(take_stamp(text_in(point[0]), path, 1, log, t));
    const auto value = number_in(point[1]);
    if (!value) {
      ++log.rows_without_power;
      continue;
    }
    log.samples.push_back(
        {device, metric.quantity, metric.kind, t, 0, value->value * metric.factor});
  }
  return Ok{};
}

}  // namespace

Result<LogSamples> read_prometheus_json(const std::string& text, const std::string& path,
                                        const std::string& wanted) {
  LogSamples log;
  std::vector<Json> all;
  bool moments = false;
  Status status = each_value(text, path, log, [&](const Json& value, size_t) -> Status {
    moments = moments || text_in(member(member(value, "data"), "resultType")) == "vector";
    for (const Json& series : member(member(value, "data"), "result")) all.push_back(series);
    return Ok{};
  });
  ASSAY_TRY(status);
  std::optional<PowerMetric> best;
  bool unnamed = false;
  for (const Json& series : all) {
    const std::string name = text_in(member(member(series, "metric"), "__name__"));
    unnamed = unnamed || name.empty();
    take_better(best, power_metric(name, wanted));
  }
  // A series without a name is the result of a function, and only the magnitude of its values shows
  // the quantity.
  if (!best && unnamed) best = PowerMetric{.name = "", .scope = "what its query computed"};
  if (!best) return no_metric_of_power(path, wanted);
  log.column = best->name;
  log.scope = best->scope;
  for (const Json& series : all) {
    const std::string name = text_in(member(member(series, "metric"), "__name__"));
    const auto power = power_metric(name, wanted);
    const bool energy = power && power->kind == SampleKind::kCounter;
    if (name != best->name && !energy) continue;
    ASSAY_TRY(add_series(series, power.value_or(*best), path, log));
  }
  if (moments && log.samples.size() <= log.devices.size()) {
    return Error{
        ErrorCode::kFormat,
        "is the answer to a query of one moment, with one value a series: ask for a range, "
        "as /api/v1/query_range?query=...&start=...&end=...&step=1s",
        path, -1};
  }
  if (best->name.empty()) ASSAY_TRY(assume_watts(log, path));
  return log;
}

// ---- amd-smi ----

namespace {

// Watts or joules of {"value": 129, "unit": "W"}, of a number, or of its text.
std::optional<double> with_unit(const Json& value, bool joules) {
  const bool object = value.is_object();
  auto number = number_in(object ? member(value, "value") : value);
  if (!number) return std::nullopt;
  const std::string unit = object ? lower(text_in(member(value, "unit"))) : number->unit;
  const auto factor = unit.empty() ? std::optional(1.0)
                      : joules     ? unit_in_joules(unit)
                                   : unit_in_watts(unit);
  return factor ? std::optional(number->value * *factor) : std::nullopt;
}

// The GPU objects of a document: a list, "gpu_data", or a single object.
std::vector<Json> gpus_of(const Json& document) {
  const Json& data =
      member(document, "gpu_data").is_array() ? member(document, "gpu_data") : document;
  std::vector<Json> gpus;
  if (data.is_object()) gpus.push_back(data);
  if (!data.is_array()) return gpus;
  for (const Json& one : data) {
    if (member(one, "gpu_data").is_array()) {
      for (const Json& inner : member(one, "gpu_data")) gpus.push_back(inner);
    } else if (one.is_array()) {
      for (const Json& inner : one) gpus.push_back(inner);
    } else {
      gpus.push_back(one);
    }
  }
  return gpus;
}

std::optional<double> socket_power(const Json& gpu) {
  const Json& power = member(gpu, "power");
  if (!power.is_object()) return with_unit(member(gpu, "power_usage"), false);
  for (const char* key : {"socket_power", "current_socket_power", "average_socket_power"}) {
    const auto watts = with_unit(member(power, key), false);
    if (watts) return watts;
  }
  return std::nullopt;
}

// The number of {"value": 95, "unit": "%"} or of a plain value; nullopt for "N/A".
std::optional<double> plain_value(const Json& value) {
  const auto number = number_in(value.is_object() ? member(value, "value") : value);
  return number ? std::optional(number->value) : std::nullopt;
}

// The mean clock of a GPU's compute dies with a value, in {"gfx_0": {"clk": ...}, "mem_0": ...}.
std::optional<double> die_clock(const Json& clocks) {
  std::vector<double> told;
  if (!clocks.is_object()) return std::nullopt;
  for (const auto& [name, clock] : clocks.items()) {
    if (!name.starts_with("gfx_")) continue;
    if (const auto mhz = plain_value(member(clock, "clk"))) told.push_back(*mhz);
  }
  return mean_of_told(told);
}

// The mean load of the dies of all partitions, in {"xcp_0": [{"value": 95, "unit": "%"}, "N/A"],
// "xcp_1": ...}.
std::optional<double> die_activity(const Json& busy) {
  std::vector<double> told;
  if (!busy.is_object()) return std::nullopt;
  for (const auto& [partition, dies] : busy.items()) {
    if (!dies.is_array()) continue;
    for (const Json& die : dies) {
      if (const auto percent = plain_value(die)) told.push_back(*percent);
    }
  }
  return mean_of_told(told);
}

// Adds the state of a GPU other than power. The load of the GPU has priority over that of its dies.
void add_state(const Json& gpu, uint32_t device, int64_t t, LogSamples& log) {
  const Json& usage = member(gpu, "usage");
  const Json& clocks = member(gpu, "clock");
  const auto load = plain_value(member(usage, "gfx_activity"));
  const auto used = plain_value(member(member(gpu, "mem_usage"), "used_vram"));
  const std::pair<TelemetryQuantity, std::optional<double>> values[] = {
      {kGpuUtil, load ? load : die_activity(member(usage, "gfx_busy_inst"))},
      {kMemoryUtil, plain_value(member(usage, "umc_activity"))},
      {kSmClock, die_clock(clocks)},
      {kMemoryClock, plain_value(member(member(clocks, "mem_0"), "clk"))},
      {kTemperature, plain_value(member(member(gpu, "temperature"), "hotspot"))},
      {kMemoryUsed, used ? std::optional(*used * kMebibyte) : std::nullopt}};
  for (const auto& [quantity, value] : values) {
    if (value) log.samples.push_back({device, quantity, SampleKind::kMoment, t, 0, *value});
  }
}

}  // namespace

Result<LogSamples> read_amd_smi_json(const std::string& text, const std::string& path,
                                     const std::string&) {
  LogSamples log;
  log.column = "socket_power";
  RoundCount rounds;
  bool stamped = false;
  bool unstamped = false;
  Status status = each_value(text, path, log, [&](const Json& document, size_t line) -> Status {
    for (const Json& gpu : gpus_of(document)) {
      const std::string name = text_in(member(gpu, "gpu"));
      if (name.empty()) continue;
      ++log.rows;
      const uint32_t device = log.device(name);
      const std::string stamp = text_in(member(gpu, "timestamp"));
      int64_t t = rounds.next(device);
      (stamp.empty() ? unstamped : stamped) = true;
      if (!stamp.empty()) ASSAY_TRY(take_stamp(stamp, path, line, log, t));
      const auto watts = socket_power(gpu);
      const auto joules =
          with_unit(member(member(gpu, "energy"), "total_energy_consumption"), true);
      log.rows_without_power += watts || joules ? 0 : 1;
      if (watts) log.samples.push_back({device, kPower, SampleKind::kMoment, t, 0, *watts});
      if (joules) log.samples.push_back({device, kPower, SampleKind::kCounter, t, 0, *joules});
      add_state(gpu, device, t, log);
    }
    return Ok{};
  });
  ASSAY_TRY(status);
  if (stamped && unstamped) {
    return Error{ErrorCode::kFormat, "some of its rows have a time and others have none", path, -1};
  }
  log.times = stamped ? LogTimes::kStamps : LogTimes::kRounds;
  return log;
}

// ---- rocm-smi ----

Result<LogSamples> read_rocm_smi_json(const std::string& text, const std::string& path,
                                      const std::string& wanted) {
  LogSamples log;
  log.times = LogTimes::kRounds;
  RoundCount rounds;
  Status status = each_value(text, path, log, [&](const Json& document, size_t) -> Status {
    if (!document.is_object()) return Ok{};
    for (const auto& [card, values] : document.items()) {
      if (!card.starts_with("card") || !values.is_object()) continue;
      ++log.rows;
      const uint32_t device = log.device(card);
      const int64_t round = rounds.next(device);
      bool any = false;
      for (const auto& [key, value] : values.items()) {
        const std::string name = lower(key);
        const bool power = wanted.empty() ? contains(name, "graphics package power") &&
                                                unit_in_watts(unit_in_name(key)).has_value()
                                          : key == wanted;
        const bool energy = contains(name, "accumulated energy");
        const auto number = power || energy ? number_in(value) : std::nullopt;
        if (!number) continue;
        const std::string unit = number->unit.empty() ? unit_in_name(key) : number->unit;
        if (energy) {
          const double factor = unit_in_joules(unit).value_or(1e-6);
          log.samples.push_back(
              {device, kPower, SampleKind::kCounter, round, 0, number->value * factor});
        } else if (!any) {
          any = true;
          log.column = key;
          const double factor = unit_in_watts(unit).value_or(1);
          log.samples.push_back(
              {device, kPower, SampleKind::kMoment, round, 0, number->value * factor});
        }
      }
      log.rows_without_power += any ? 0 : 1;
    }
    return Ok{};
  });
  ASSAY_TRY(status);
  return log;
}

// ---- W&B ----

namespace {

// The device of a key that ends with `end`: "0" for "system.gpu.0.powerWatts"; empty for other
// keys.
std::string wandb_device(std::string_view key, std::string_view end) {
  const size_t gpu = key.find("gpu.");
  if (gpu == std::string_view::npos || !key.ends_with(end) || contains(key, "process.")) return {};
  const std::string_view device = key.substr(gpu + 4, key.size() - gpu - 4 - end.size());
  int64_t index = 0;
  return parse_int64(device, index) ? std::string(device) : std::string();
}

constexpr LogField kWandbFields[] = {
    {".powerwatts", kPower, SampleKind::kMean}, {".gpu", kGpuUtil, SampleKind::kMean},
    {".smclock", kSmClock, SampleKind::kMean},  {".memoryclock", kMemoryClock, SampleKind::kMean},
    {".temp", kTemperature, SampleKind::kMean},
};

}  // namespace

Result<LogSamples> read_wandb(const std::string& text, const std::string& path,
                              const std::string&) {
  LogSamples log;
  log.column = "system.gpu.N.powerWatts";
  Status status = each_value(text, path, log, [&](const Json& event, size_t line) -> Status {
    const std::string stamp = text_in(member(event, "_timestamp"));
    if (stamp.empty() || !event.is_object()) return Ok{};
    ++log.rows;
    int64_t t = 0;
    ASSAY_TRY(take_stamp(stamp, path, line, log, t));
    bool power = false;
    for (const auto& [key, value] : event.items()) {
      const std::string name = lower(key);
      const size_t last = name.find_last_of('.');
      const LogField* field =
          last == std::string::npos ? nullptr : field_named(kWandbFields, name.substr(last));
      const std::string device = field == nullptr ? "" : wandb_device(name, field->name);
      const auto number = device.empty() ? std::nullopt : number_in(value);
      if (!number) continue;
      power = power || field->quantity == kPower;
      log.samples.push_back(
          {log.device(device), field->quantity, field->kind, t, 0, number->value});
    }
    log.rows_without_power += power ? 0 : 1;
    return Ok{};
  });
  ASSAY_TRY(status);
  return log;
}

}  // namespace assay
