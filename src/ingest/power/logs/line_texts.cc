// Logs with self-describing lines: Prometheus' exposition, tegrastats, perf stat -I and
// powermetrics.

#include <map>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/numbers.h"
#include "ingest/power/logs/metrics.h"
#include "ingest/power/logs/readers.h"
#include "ingest/text/csv_table.h"

namespace assay {
namespace {

using enum TelemetryQuantity;

// The value of a label in `gpu="0",UUID="GPU-1"`, with its escapes; empty if missing.
std::string_view label_in(std::string_view labels, std::string_view name) {
  for (size_t at = 0; at < labels.size();) {
    const size_t equals = labels.find("=\"", at);
    if (equals == std::string_view::npos) return {};
    const std::string_view key = trimmed(labels.substr(at, equals - at));
    size_t end = equals + 2;
    while (end < labels.size() && labels[end] != '"') end += labels[end] == '\\' ? 2 : 1;
    end = std::min(end, labels.size());
    if (key == name) return labels.substr(equals + 2, end - equals - 2);
    at = std::min(end + 1, labels.size());
    while (at < labels.size() && (labels[at] == ',' || is_space(labels[at]))) ++at;
  }
  return {};
}

// A line `NAME{LABELS} VALUE [MILLISECONDS]`.
struct MetricLine {
  std::string_view name;
  std::string_view labels;
  std::vector<std::string_view> values;
};

std::optional<MetricLine> metric_line(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line.front() == '#') return std::nullopt;
  MetricLine result;
  const size_t open = line.find('{');
  const size_t blank = line.find_first_of(" \t");
  const size_t end = std::min(open, blank);
  if (end == std::string_view::npos) return std::nullopt;
  result.name = line.substr(0, end);
  std::string_view rest = line.substr(end);
  if (end == open) {
    // The first closing brace outside of quotes ends the labels.
    bool quoted = false;
    size_t at = 1;
    for (; at < rest.size() && (quoted || rest[at] != '}'); ++at) {
      if (quoted && rest[at] == '\\') {
        ++at;
      } else if (rest[at] == '"') {
        quoted = !quoted;
      }
    }
    if (at >= rest.size()) return std::nullopt;
    result.labels = rest.substr(1, at - 1);
    rest.remove_prefix(at + 1);
  }
  result.values = words_of(rest);
  if (result.values.empty()) return std::nullopt;
  return result;
}

std::string device_of_labels(std::string_view labels) {
  for (const char* name : kMetricDeviceLabels) {
    const std::string_view found = label_in(labels, name);
    if (!found.empty()) return std::string(found);
  }
  return {};
}

}  // namespace

Result<LogSamples> read_metrics_text(const std::string& text, const std::string& path,
                                     const std::string& wanted) {
  LogSamples log;
  std::optional<PowerMetric> best;
  each_line(text, [&](std::string_view line, size_t, bool) {
    const auto metric = metric_line(line);
    if (metric) take_better(best, power_metric(metric->name, wanted));
  });
  if (!best) return no_metric_of_power(path, wanted);
  log.column = best->name;
  log.scope = best->scope;
  RoundCount rounds;
  bool stamped = false;
  bool unstamped = false;
  Status status = Ok{};
  each_line(text, [&](std::string_view line, size_t number, bool whole) {
    const auto metric = metric_line(line);
    if (!metric || !status) return;
    const std::optional<PowerMetric> power = power_metric(metric->name, wanted);
    const bool chosen = power && power->name == best->name;
    const bool energy = power && power->kind == SampleKind::kCounter;
    const LogField* other = metric_field(metric->name);
    if (!chosen && !energy && other == nullptr) return;
    if (!whole) {
      ++log.rows_cut;
      return;
    }
    const uint32_t device = log.device(device_of_labels(metric->labels));
    const LogField field =
        power ? LogField{"", power->quantity, power->kind, power->factor} : *other;
    ++log.rows;
    const auto value = log_number(metric->values.front());
    int64_t t = 0;
    if (metric->values.size() > 1) {
      stamped = true;
      status = take_stamp(metric->values[1], path, number, log, t);
    } else {
      unstamped = true;
      // Metrics of one scrape have the same round number.
      t = rounds.next(device, std::hash<std::string_view>()(metric->name));
    }
    if (!value) {
      log.rows_without_power += chosen ? 1 : 0;
      return;
    }
    log.samples.push_back({device, field.quantity, field.kind, t, 0, value->value * field.factor});
  });
  ASSAY_TRY(status);
  if (stamped && unstamped) {
    return Error{ErrorCode::kFormat, "some of its lines have a time and others have none", path,
                 -1};
  }
  log.times = stamped ? LogTimes::kStamps : LogTimes::kRounds;
  return log;
}

// ---- tegrastats ----

namespace {

struct Rail {
  std::string_view name;
  double watts = 0;
};

// In "VDD_GPU_SOC 2400mW/2400mW", the first value is current and the second a mean since the start.
// Older versions write no unit and mean milliwatts.
std::vector<Rail> rails_of(const std::vector<std::string_view>& words) {
  std::vector<Rail> rails;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view name = words[i];
    const bool rail = name.starts_with("VDD") || name.starts_with("POM_") ||
                      name.starts_with("VIN") || name.starts_with("CPU_") ||
                      name.starts_with("GPU_");
    const size_t slash = words[i + 1].find('/');
    if (!rail) continue;
    const auto number = log_number(words[i + 1].substr(0, slash));
    if (!number || (number->unit.empty() && slash == std::string_view::npos)) continue;
    const double factor = number->unit.empty() ? 1e-3 : unit_in_watts(number->unit).value_or(0);
    if (factor > 0) rails.push_back({name, number->value * factor});
  }
  return rails;
}

// Preference for a rail as the GPU's power: the less else it supplies, the higher. 1 = the board's
// input.
int rank_of_rail(std::string_view name) {
  if (!contains(name, "GPU")) return contains(name, "IN") ? 1 : 0;
  if (contains(name, "CPU")) return 2;
  return contains(name, "SOC") ? 3 : 4;
}

std::string scope_of_rail(std::string_view name) {
  if (contains(name, "CPU") && contains(name, "GPU"))
    return "the rail of GPU, CPU and accelerators";
  if (contains(name, "GPU") && contains(name, "SOC")) return "the rail of GPU and chip";
  if (contains(name, "GPU")) return "the rail of the GPU";
  return contains(name, "IN") ? "the whole module" : "one rail of the module";
}

// The time of "06-11-2026 14:02:03 RAM ..." with the date in year-month-day order; empty if
// missing.
std::string tegra_time(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words[0].size() != 10 || words[0][2] != '-' || words[0][5] != '-')
    return {};
  const std::string date(words[0]);
  return date.substr(6) + "-" + date.substr(0, 2) + "-" + date.substr(3, 2) + " " +
         std::string(words[1]);
}

}  // namespace

Result<LogSamples> read_tegrastats(const std::string& text, const std::string& path,
                                   const std::string& wanted) {
  LogSamples log;
  std::string rail = wanted;
  int64_t round = 0;
  bool stamped = false;
  bool unstamped = false;
  Status status = Ok{};
  each_line(text, [&](std::string_view line, size_t number, bool whole) {
    const std::vector<std::string_view> words = words_of(line);
    if (!status || words.empty()) return;
    if (!whole) {
      ++log.rows_cut;
      return;
    }
    ++log.rows;
    const std::string stamp = tegra_time(words);
    int64_t t = round++;
    (stamp.empty() ? unstamped : stamped) = true;
    if (!stamp.empty()) status = take_stamp(stamp, path, number, log, t);
    const std::vector<Rail> rails = rails_of(words);
    if (rail.empty() && !rails.empty()) {
      rail = std::max_element(rails.begin(), rails.end(), [](const Rail& a, const Rail& b) {
               return rank_of_rail(a.name) < rank_of_rail(b.name);
             })->name;
    }
    const auto found =
        std::find_if(rails.begin(), rails.end(), [&](const Rail& one) { return one.name == rail; });
    const auto busy = std::find(words.begin(), words.end(), "GR3D_FREQ");
    if (busy != words.end() && busy + 1 != words.end()) {
      const auto percent = log_number(busy[1].substr(0, busy[1].find('%')));
      if (percent)
        log.samples.push_back(
            {log.device(""), kGpuUtil, SampleKind::kMoment, t, 0, percent->value});
    }
    if (found == rails.end()) {
      ++log.rows_without_power;
      return;
    }
    log.samples.push_back({log.device(""), kPower, SampleKind::kMoment, t, 0, found->watts});
  });
  ASSAY_TRY(status);
  if (stamped && unstamped) {
    return Error{ErrorCode::kFormat, "some of its lines have a time and others have none", path,
                 -1};
  }
  log.column = rail;
  log.scope = scope_of_rail(rail);
  log.times = stamped ? LogTimes::kStamps : LogTimes::kRounds;
  return log;
}

// ---- perf stat -I ----

// Lines "     1.000123456   12.34 Joules power/energy-pkg/" or
// "1.000123456,12.34,Joules,power/...", with "S0  1" after the time if sockets are separate. Each
// value covers the time since the previous line.
Result<LogSamples> read_perf_stat(const std::string& text, const std::string& path,
                                  const std::string& wanted) {
  LogSamples log;
  log.times = LogTimes::kSinceStart;
  log.column = wanted.empty() ? "power/energy-pkg/" : wanted;
  log.scope =
      contains(log.column, "gpu") ? "the processor's own graphics" : "the processors' packages";
  const std::string event = log.column.substr(0, log.column.find_last_not_of('/') + 1);
  std::map<uint32_t, int64_t> before;
  Status status = Ok{};
  each_line(text, [&](std::string_view line, size_t number, bool whole) {
    const std::vector<std::string_view> words = words_of(line, ",;");
    const auto name = std::find_if(words.begin(), words.end(),
                                   [&](std::string_view word) { return word.starts_with(event); });
    if (!status || name == words.end() || words.front().starts_with("#")) return;
    if (!whole) {
      ++log.rows_cut;
      return;
    }
    ++log.rows;
    int64_t t = 0;
    DecimalShape shape;
    if (parse_decimal(words.front(), 9, t, shape) != DecimalStatus::kOk || t < 0) {
      status = csv_error_at(path, number,
                            "'" + std::string(words.front()) + "' is not a number of seconds");
      return;
    }
    const bool sockets = words[1].starts_with("S") && words.size() > 2;
    const uint32_t device = log.device(sockets ? words[1] : std::string_view());
    const auto place = static_cast<size_t>(name - words.begin());
    const auto joules = place >= 2 ? log_number(words[place - 2]) : std::nullopt;
    const int64_t since = before.contains(device) ? before[device] : 0;
    before[device] = t;
    if (!joules || t <= since) {
      ++log.rows_without_power;  // <not counted>
      return;
    }
    const double watts = joules->value / (static_cast<double>(t - since) * 1e-9);
    log.samples.push_back({device, kCpuPower, SampleKind::kMean, t, 0, watts});
  });
  ASSAY_TRY(status);
  return log;
}

// ---- powermetrics ----

namespace {

// The time of "*** Sampled system activity (Fri Sep 11 13:41:47 2026 -0700) (1010.09ms elapsed)
// ***".
std::string sampled_at(std::string_view line) {
  const size_t open = line.find('(');
  const size_t close = line.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  const std::vector<std::string_view> words = words_of(line.substr(open + 1, close - open - 1));
  if (words.size() < 5) return {};
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t month = kMonths.find(words[1]);
  if (month == std::string_view::npos || month % 3 != 0 || words[1].size() != 3) return {};
  const auto two = [](const std::string& text) { return text.size() < 2 ? "0" + text : text; };
  return std::string(words[4]) + "-" + two(std::to_string(month / 3 + 1)) + "-" +
         two(std::string(words[2])) + " " + std::string(words[3]);
}

// UTC offset, in nanoseconds, of "... -0700)"; nullopt if there is none.
std::optional<int64_t> zone_in(std::string_view line) {
  const size_t close = line.find(')');
  if (close == std::string_view::npos || close < 5) return std::nullopt;
  const std::string_view zone = line.substr(close - 5, 5);
  int64_t hours = 0;
  int64_t minutes = 0;
  const bool sign = zone[0] == '+' || zone[0] == '-';
  if (!sign || !parse_int64(zone.substr(1, 2), hours) || !parse_int64(zone.substr(3, 2), minutes)) {
    return std::nullopt;
  }
  return (zone[0] == '-' ? -1 : 1) * (hours * 60 + minutes) * 60 * kSecondNs;
}

}  // namespace

Result<LogSamples> read_powermetrics(const std::string& text, const std::string& path,
                                     const std::string& wanted) {
  LogSamples log;
  log.column = wanted.empty() ? "GPU Power" : wanted;
  log.scope = log.column == "GPU Power" ? "the chip's graphics" : "a part of the chip";
  const std::string start = log.column + ":";
  int64_t t = -1;
  Status status = Ok{};
  each_line(text, [&](std::string_view line, size_t number, bool whole) {
    if (!status) return;
    if (contains(line, "Sampled system activity")) {
      ++log.rows;
      status = take_stamp(sampled_at(line), path, number, log, t);
      const auto zone = zone_in(line);
      if (zone) {
        log.clock = LogClock::kLocalTime;  // take_stamp compares the next time with this
        t -= *zone;
      }
      return;
    }
    line = trimmed(line);
    if (t < 0 || !line.starts_with(start)) return;
    const auto number_of = log_number(line.substr(start.size()));
    const auto factor = number_of ? unit_in_watts(number_of->unit) : std::nullopt;
    if (!whole || !factor) {
      (whole ? log.rows_without_power : log.rows_cut) += 1;
      return;
    }
    log.samples.push_back(
        {log.device(""), kPower, SampleKind::kMean, t, 0, number_of->value * *factor});
  });
  ASSAY_TRY(status);
  if (contains(text, "(") && !log.samples.empty() &&
      zone_in(text.substr(text.find("Sampled system")))) {
    log.clock = LogClock::kEpoch;
  }
  return log;
}

}  // namespace assay
