#pragma once

// Values of the logs of other programs before they become series: each has a time, a device and the
// interval that it covers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/text/log_rows.h"
#include "records/telemetry.h"

namespace assay {

inline constexpr double kMebibyte = 1048576;

enum class SampleKind : uint8_t {
  kMoment,   // at its time, as the sensor reports it
  kMean,     // mean over the time since the previous value
  kCounter,  // joules since an unknown start
  kWindow,   // joules in the length_ns after its time
};

struct LogSample {
  uint32_t device = 0;  // into LogSamples::devices
  TelemetryQuantity quantity = TelemetryQuantity::kPower;
  SampleKind kind = SampleKind::kMoment;
  int64_t t_ns = 0;  // or the number of its round, if the log has no times
  int64_t length_ns = 0;
  double value = 0;  // unit: W, J, MHz, %, bytes or degrees Celsius
};

enum class LogTimes : uint8_t {
  kStamps,      // every row has a time
  kSinceStart,  // nanoseconds since the log began
  kRounds,      // no times: only the order is known
};

struct LogSamples {
  LogTimes times = LogTimes::kStamps;
  LogClock clock = LogClock::kUnknownOrigin;
  std::string column;  // column or metric that was read as power
  std::string scope;   // what the power is of, if not one GPU
  std::vector<std::string> devices;
  std::vector<LogSample> samples;
  uint64_t rows = 0;
  uint64_t rows_without_power = 0;
  uint64_t rows_cut = 0;
  bool unit_assumed = false;  // no unit in the log: read as milliwatts by their magnitude

  uint32_t device(std::string_view name);  // index into `devices`; adds new names

 private:
  std::map<std::string, uint32_t, std::less<>> places_;
};

// A log's name for a quantity, and the factor from its unit to ours.
struct LogField {
  std::string_view name;  // in lower case
  TelemetryQuantity quantity;
  SampleKind kind = SampleKind::kMoment;
  double factor = 1;
};
const LogField* field_named(const LogField* begin, const LogField* end, std::string_view name);
template <size_t N>
const LogField* field_named(const LogField (&fields)[N], std::string_view name) {
  return field_named(fields, fields + N, name);
}

// Splits a line at white space and at the characters in `more`.
std::vector<std::string_view> words_of(std::string_view line, std::string_view more = "");

// A number and, in lower case, the unit after it: "30.81 W", "29910mW". nullopt for N/A, -,
// [Unknown Error], NaN and empty.
struct LogNumber {
  double value = 0;
  std::string unit;
};
std::optional<LogNumber> log_number(std::string_view text);

// The mean of the values, those of the dies of a GPU that the log has; nullopt if there are none.
std::optional<double> mean_of_told(const std::vector<double>& values);

// Watts or joules per `unit`, which is in lower case; nullopt for other units.
std::optional<double> unit_in_watts(std::string_view unit);
std::optional<double> unit_in_joules(std::string_view unit);
// The unit in brackets after a name, else the one at its end: "mw" of "power_mw".
std::string unit_in_name(const std::string& name);

// True if a column's name means drawn power, not a limit or a percentage.
bool says_drawn_power(std::string_view name);

// For powers without a unit: keeps watts if the median is plausible for a device (2 to 1500 W),
// else converts from milliwatts if that is plausible, else fails with an error that names both.
Status assume_watts(LogSamples& log, const std::string& path);

// Numbers the values of a log without times per device and column: the number of the round.
class RoundCount {
 public:
  int64_t next(uint32_t device, size_t column = 0) { return seen_[{device, column}]++; }

 private:
  std::map<std::pair<uint32_t, size_t>, int64_t> seen_;
};

// Parses a time and sets the log's clock. Fails if the text is no time, is later than any trace, or
// is of another clock than earlier times of the log.
Status take_stamp(std::string_view text, const std::string& path, size_t line, LogSamples& log,
                  int64_t& t_ns);

// Calls use(line without its end, line number from 1, whether the line has an end) for each line.
template <typename Use>
void each_line(std::string_view text, const Use& use) {
  for (size_t line = 1, at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view words = text.substr(at, end - at);
    if (!words.empty() && words.back() == '\r') words.remove_suffix(1);
    use(words, line, end < text.size());
    at = end + 1;
  }
}

}  // namespace assay
