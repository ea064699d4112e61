#pragma once

// Shared by the readers of logs: times in various forms, headers with units, missing cells.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/text/csv_table.h"
#include "records/power_log.h"

namespace assay {

constexpr int64_t kLogDay = 86'400'000'000'000;

struct LogStamp {
  int64_t t_ns = 0;
  LogClock clock = LogClock::kUnknownOrigin;
};
// Parses a date with time, a time of day, or a number since 1970 in a unit inferred from its
// magnitude; nullopt for other texts.
std::optional<LogStamp> log_stamp(std::string_view text);

// t_ns: sorted. If all times are whole seconds and a second typically occurs several times, spreads
// the times of each second evenly over it, keeping their order, and returns the number of times.
// Else changes nothing and returns 0.
uint64_t spread_shared_seconds(std::vector<int64_t>& t_ns);

// Days since 1970 in the banner of an AMDuProf timechart; 0 if missing.
int64_t uprof_days(const std::string& text);

// Unit in brackets at the end of a header, in lower case: "w" of "power.draw [W]".
std::string unit_of(const std::string& header);
// The first column with name prefix `name`, which is in lower case; -1 if there is none.
int column_starting(const CsvTable& table, std::string_view name);
// The cell; empty text if the row or the column is missing.
const std::string& cell(const CsvTable& table, size_t row, int column);

}  // namespace assay
