#pragma once

// Values of the logs of other programs before they become series: each with its time, its device
// and the interval it covers.

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
  kMoment,   // at its time, as the sensor had it
  kMean,     // over the time since the value before
  kCounter,  // joules since some beginning
  kWindow,   // joules starting at its time, for its length
};

struct LogSample {
  uint32_t device = 0;  // into LogSamples::devices
  TelemetryQuantity quantity = TelemetryQuantity::kPower;
  SampleKind kind = SampleKind::kMoment;
  int64_t t_ns = 0;  // or the number of its round, where the log has no times
  int64_t length_ns = 0;
  double value = 0;  // unit: W, J, MHz, %, bytes or degrees Celsius
};

enum class LogTimes : uint8_t {
  kStamps,      // each row has one
  kSinceStart,  // nanoseconds since the log began
  kRounds,      // none: only the order is known
};

struct LogSamples {
  LogTimes times = LogTimes::kStamps;
  LogClock clock = LogClock::kUnknownOrigin;
  std::string column;  // what was read as power, as the log calls it
  std::string scope;   // what that is of, where it is not one GPU
  std::vector<std::string> devices;
  std::vector<LogSample> samples;
  uint64_t rows = 0;
  uint64_t rows_without_power = 0;
  uint64_t rows_cut = 0;
  bool unit_assumed = false;  // unit not in the log: inferred from the size of the numbers

  uint32_t device(std::string_view name);  // its place, added where it is new

 private:
  std::map<std::string, uint32_t, std::less<>> places_;
};

// A name that a log has for a quantity, and what one of its units is in ours.
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

// Everything between blanks and any of `more`.
std::vector<std::string_view> words_of(std::string_view line, std::string_view more = "");

// A number and, in lower case, the unit after it: "30.81 W", "29910mW", "1,234 kWh" without its
// comma. nullopt for N/A, -, [Unknown Error], NaN and empty.
struct LogNumber {
  double value = 0;
  std::string unit;
};
std::optional<LogNumber> log_number(std::string_view text);

// The mean of the known values of the parts of a GPU; nullopt if there is none.
std::optional<double> mean_of_told(const std::vector<double>& values);

// Watts or joules per `unit`; nullopt for other units.
std::optional<double> unit_in_watts(std::string_view unit);
std::optional<double> unit_in_joules(std::string_view unit);
// The unit in brackets after a name, else the one it ends with: "mw" of "power_mw".
std::string unit_in_name(const std::string& name);

// True if a column's name means drawn power: not a limit, nor a share of it.
bool says_drawn_power(std::string_view name);

// For values without a unit: watts, if half of the powers are in the range of devices, else
// milliwatts if they are then in range; else an error that names both.
Status assume_watts(LogSamples& log, const std::string& path);

// Numbers the values of a log without times, by device and column.
class RoundCount {
 public:
  int64_t next(uint32_t device, size_t column = 0) { return seen_[{device, column}]++; }

 private:
  std::map<std::pair<uint32_t, size_t>, int64_t> seen_;
};

// Files a time under the log; fails where it is none, further away than any trace's, or of another
// clock than those before.
Status take_stamp(std::string_view text, const std::string& path, size_t line, LogSamples& log,
                  int64_t& t_ns);

// One line of a text after the other, with its number; the last one may lack its end.
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
