#pragma once

// Common to the readers of logs: times as programs write them, headers with units, cells that may
// be missing.

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
// A date with time, a time of day, or a number since 1970 with a unit inferred from its size;
// nullopt for other texts.
std::optional<LogStamp> log_stamp(std::string_view text);

// Stamps in order of time. If all are whole seconds and several typically share a second, spreads
// those of one second over it in order, and returns their number; else changes nothing.
uint64_t spread_shared_seconds(std::vector<int64_t>& t_ns);

// Days since 1970 in the banner of an AMDuProf timechart, 0 when they are not there.
int64_t uprof_days(const std::string& text);

// Unit in brackets at the end of a header, in lower case: "w" of "power.draw [W]".
std::string unit_of(const std::string& header);
// The first column with a name that begins with `name`, followed by a unit; -1 if there is none.
int column_starting(const CsvTable& table, std::string_view name);
// The cell, or empty text where the row or the column has none.
const std::string& cell(const CsvTable& table, size_t row, int column);

}  // namespace assay
