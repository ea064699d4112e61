#include "ingest/text/log_rows.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "base/decimal.h"
#include "base/numbers.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

// Parses up to `most` digits at the start of the text.
bool take_number(std::string_view& text, size_t most, int64_t& value) {
  size_t used = 0;
  value = 0;
  while (used < text.size() && used < most && text[used] >= '0' && text[used] <= '9') {
    value = value * 10 + (text[used++] - '0');
  }
  text.remove_prefix(used);
  return used > 0;
}

bool take_one_of(std::string_view& text, std::string_view allowed) {
  if (text.empty() || allowed.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// Parses "07:36:21.246" or "7:40:28:835" to nanoseconds since midnight.
bool take_time_of_day(std::string_view& text, int64_t& ns) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  const bool whole = take_number(text, 2, hour) && take_one_of(text, ":") &&
                     take_number(text, 2, minute) && take_one_of(text, ":") &&
                     take_number(text, 2, second);
  if (!whole || hour > 23 || minute > 59 || second > 60) return false;
  ns = ((hour * 60 + minute) * 60 + second) * kSecondNs;
  if (!take_one_of(text, ".:,")) return true;
  const size_t before = text.size();
  int64_t fraction = 0;
  if (!take_number(text, 9, fraction)) return false;
  for (size_t digits = before - text.size(); digits < 9; ++digits) fraction *= 10;
  ns += fraction;
  return true;
}

// Days since 1970 of a Gregorian date; false for an invalid date.
bool days_of(int64_t year, int64_t month, int64_t day, int64_t& days) {
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1970 || year > 2200) return false;
  days = std::chrono::sys_days(date).time_since_epoch().count();
  return true;
}

bool take_date(std::string_view& text, int64_t& days) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  return take_number(text, 4, year) && take_one_of(text, "/-") && take_number(text, 2, month) &&
         take_one_of(text, "/-") && take_number(text, 2, day) && days_of(year, month, day, days);
}

}  // namespace

std::optional<LogStamp> log_stamp(std::string_view text) {
  LogStamp stamp;
  std::string_view rest = text;
  int64_t days = 0;
  int64_t in_day = 0;
  if (take_date(rest, days) && take_one_of(rest, " T") && take_time_of_day(rest, in_day)) {
    stamp.t_ns = days * kLogDay + in_day;
    stamp.clock = rest == "Z" || rest == "z" ? LogClock::kEpoch : LogClock::kLocalTime;
    return rest.empty() || stamp.clock == LogClock::kEpoch ? std::optional(stamp) : std::nullopt;
  }
  rest = text;
  if (take_time_of_day(rest, in_day) && rest.empty()) {
    return LogStamp{in_day, LogClock::kTimeOfDay};
  }
  // A bare number: its magnitude determines the unit. Callers handle columns named as nanoseconds.
  DecimalShape shape;
  int64_t whole = 0;
  if (parse_decimal(text, 0, whole, shape) != DecimalStatus::kOk) return std::nullopt;
  struct Scale {
    int64_t from;
    int digits;
  };
  for (const Scale scale : {Scale{100'000'000'000'000'000, 0}, Scale{100'000'000'000'000, 3},
                            Scale{100'000'000'000, 6}, Scale{100'000'000, 9}}) {
    if (whole < scale.from) continue;
    if (parse_decimal(text, scale.digits, stamp.t_ns, shape) != DecimalStatus::kOk) {
      return std::nullopt;
    }
    stamp.clock = LogClock::kEpoch;
    return stamp;
  }
  return std::nullopt;
}

// The banner has a line "Profile Start Time:,Apr-02-2024_07-36-21,".
int64_t uprof_days(const std::string& text) {
  constexpr std::string_view kStart = "Profile Start Time:,";
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const size_t at = text.find(kStart);
  if (at == std::string::npos) return 0;
  std::string_view rest = std::string_view(text).substr(at + kStart.size());
  int64_t month = 1;
  for (size_t i = 0; i < kMonths.size(); ++i) {
    if (rest.starts_with(kMonths[i])) month = static_cast<int64_t>(i) + 1;
  }
  rest.remove_prefix(std::min<size_t>(3, rest.size()));
  int64_t day = 0;
  int64_t year = 0;
  int64_t days = 0;
  const bool read = take_one_of(rest, "-") && take_number(rest, 2, day) && take_one_of(rest, "-") &&
                    take_number(rest, 4, year) && days_of(year, month, day, days);
  return read ? days : 0;
}

std::string unit_of(const std::string& header) {
  const size_t open = header.find_last_of("[(");
  if (open == std::string::npos) return {};
  return lower_trimmed(header.substr(open + 1, header.find_first_of("])", open) - open - 1));
}

int column_starting(const CsvTable& table, std::string_view start) {
  for (size_t i = 0; i < table.header.size(); ++i) {
    if (lower_trimmed(table.header[i]).starts_with(start)) return static_cast<int>(i);
  }
  return -1;
}

const std::string& cell(const CsvTable& table, size_t row, int column) {
  static const std::string kNothing;
  const std::vector<std::string>& cells = table.rows[row];
  return column >= 0 && static_cast<size_t>(column) < cells.size()
             ? cells[static_cast<size_t>(column)]
             : kNothing;
}

uint64_t spread_shared_seconds(std::vector<int64_t>& t_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr size_t kFewestSeconds = 3;
  std::vector<size_t> begins;  // of each second, in t_ns
  for (size_t i = 0; i < t_ns.size(); ++i) {
    if (t_ns[i] % kSecond != 0) return 0;
    if (i == 0 || t_ns[i] != t_ns[i - 1]) begins.push_back(i);
  }
  if (begins.size() < kFewestSeconds) return 0;
  begins.push_back(t_ns.size());
  std::vector<size_t> counts;
  for (size_t s = 0; s + 1 < begins.size(); ++s) counts.push_back(begins[s + 1] - begins[s]);
  std::vector<size_t> sorted = counts;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                   sorted.end());
  const size_t usual = sorted[sorted.size() / 2];
  if (usual < 2) return 0;
  for (size_t s = 0; s < counts.size(); ++s) {
    const bool first = s == 0;
    const bool last = s + 1 == counts.size();
    // The log may begin within the first second and end within the last one.
    const size_t places = first || last ? std::max(usual, counts[s]) : counts[s];
    const size_t skipped = first ? places - counts[s] : 0;
    for (size_t i = 0; i < counts[s]; ++i) {
      t_ns[begins[s] + i] +=
          static_cast<int64_t>(2 * (skipped + i) + 1) * kSecond / static_cast<int64_t>(2 * places);
    }
  }
  return t_ns.size();
}

}  // namespace assay
