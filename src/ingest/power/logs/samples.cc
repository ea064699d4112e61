#include "ingest/power/logs/samples.h"

#include <cmath>
#include <numeric>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/latest_time.h"
#include "ingest/text/csv_table.h"

namespace assay {

uint32_t LogSamples::device(std::string_view name) {
  const auto found = places_.find(name);
  if (found != places_.end()) return found->second;
  const auto place = static_cast<uint32_t>(devices.size());
  devices.emplace_back(name);
  places_.emplace(name, place);
  return place;
}

const LogField* field_named(const LogField* begin, const LogField* end, std::string_view name) {
  const LogField* found =
      std::find_if(begin, end, [name](const LogField& one) { return one.name == name; });
  return found == end ? nullptr : found;
}

std::vector<std::string_view> words_of(std::string_view line, std::string_view more) {
  const auto between = [more](char c) { return is_space(c) || contains(more, {&c, 1}); };
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    while (at < line.size() && between(line[at])) ++at;
    const size_t begin = at;
    while (at < line.size() && !between(line[at])) ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

namespace {

// True for DCGM's values for "no data" (dcgm_structs.h: DCGM_INT64_BLANK, DCGM_FP64_BLANK, and up
// to fifteen above each for the reason). No energy or power of a device is that large.
bool is_blank(double value) {
  constexpr double kInt64Blank = 9223372036854775792.0;
  constexpr double kFp64Blank = 140737488355328.0;
  return value >= kInt64Blank || (value >= kFp64Blank && value < kFp64Blank + 16);
}

}  // namespace

std::optional<LogNumber> log_number(std::string_view text) {
  text = trimmed(text);
  size_t digits = 0;
  while (digits < text.size()) {
    const char c = text[digits];
    // "e" of an exponent, not of a unit.
    const bool exponent =
        lower(c) == 'e' && digits > 0 && digits + 1 < text.size() &&
        (is_digit(text[digits + 1]) || contains("+-", text.substr(digits + 1, 1)));
    if (!is_digit(c) && c != '.' && c != '+' && c != '-' && !exponent) break;
    ++digits;
  }
  LogNumber number;
  if (!parse_double(text.substr(0, digits), number.value) || !std::isfinite(number.value)) {
    return std::nullopt;
  }
  if (is_blank(number.value)) return std::nullopt;
  // "1,234" is 1234 or 1.234, depending on the locale of its writer.
  const std::string_view rest = text.substr(digits);
  if (rest.size() > 1 && rest[0] == ',' && is_digit(rest[1])) return std::nullopt;
  number.unit = lower(trimmed(text.substr(digits)));
  return number;
}

std::optional<double> mean_of_told(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> unit_in_watts(std::string_view unit) {
  if (unit == "w" || unit == "watt" || unit == "watts") return 1;
  if (unit == "mw" || unit == "milliwatt" || unit == "milliwatts") return 1e-3;
  if (unit == "uw" || unit == "microwatt" || unit == "microwatts") return 1e-6;
  if (unit == "kw") return 1e3;
  return std::nullopt;
}

std::optional<double> unit_in_joules(std::string_view unit) {
  if (unit == "j" || unit == "joule" || unit == "joules") return 1;
  if (unit == "mj" || unit == "millijoules") return 1e-3;
  if (unit == "uj" || unit == "microjoules") return 1e-6;
  if (unit == "kj") return 1e3;
  if (unit == "wh") return 3600;
  if (unit == "kwh") return 3.6e6;
  return std::nullopt;
}

std::string unit_in_name(const std::string& name) {
  std::string bracketed = unit_of(name);
  if (!bracketed.empty()) return bracketed;
  const std::string text = lower(trimmed(name));
  const size_t last = text.find_last_of("_. /");
  const std::string end = last == std::string::npos ? std::string() : text.substr(last + 1);
  return unit_in_watts(end) || unit_in_joules(end) ? end : std::string();
}

bool says_drawn_power(std::string_view name) {
  const std::string text = lower(name);
  if (!contains_any(text, {"power", "watt"})) return false;
  if (contains_any(text, {"limit", "percent", "cap", "budget", "target", "throttl", "%"}))
    return false;
  for (const std::string_view word : words_of(text, "_./-()[]")) {
    if (word == "pct" || word == "util" || word == "max") return false;
  }
  return true;
}

Status assume_watts(LogSamples& log, const std::string& path) {
  constexpr double kLeast = 2;
  constexpr double kMost = 1500;
  std::vector<double> powers;
  for (const LogSample& one : log.samples) {
    if (one.quantity == TelemetryQuantity::kPower && one.value > 0) powers.push_back(one.value);
  }
  if (powers.empty()) return Ok{};
  std::nth_element(powers.begin(), powers.begin() + static_cast<std::ptrdiff_t>(powers.size() / 2),
                   powers.end());
  const double middle = powers[powers.size() / 2];
  if (middle >= kLeast && middle <= kMost) return Ok{};
  log.unit_assumed = true;
  if (middle * 1e-3 < kLeast || middle * 1e-3 > kMost) {
    return Error{
        ErrorCode::kFormat,
        "half of the powers are above " + shortest_text(middle) +
            ", and no unit is given: no device draws so many watts, nor so many milliwatts",
        path, -1};
  }
  for (LogSample& one : log.samples) {
    if (one.quantity == TelemetryQuantity::kPower) one.value *= 1e-3;
  }
  return Ok{};
}

Status take_stamp(std::string_view text, const std::string& path, size_t line, LogSamples& log,
                  int64_t& t_ns) {
  const auto stamp = log_stamp(trimmed(text));
  if (!stamp) return csv_error_at(path, line, "'" + std::string(text) + "' is not a time");
  if (log.clock != LogClock::kUnknownOrigin && log.clock != stamp->clock) {
    return csv_error_at(path, line,
                        "'" + std::string(text) + "' is a time of another kind than those before");
  }
  if (stamp->t_ns > kLatestNs) {
    return csv_error_at(path, line, "'" + std::string(text) + "' is further away than any trace");
  }
  log.clock = stamp->clock;
  t_ns = stamp->t_ns;
  return Ok{};
}

}  // namespace assay
