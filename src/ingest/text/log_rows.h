#pragma once

// What the readers of logs share: times as programs write them, headers with units, cells that may
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
// A date with time, a time of day, or a number since 1970 whose unit its size tells; nullopt for
// other texts.
std::optional<LogStamp> log_stamp(std::string_view text);

// Stamps in order of time. Where all are of whole seconds and a second usually has several, those
// of one are spread over it in their order, and how many that are is returned; else nothing
// changes.
uint64_t spread_shared_seconds(std::vector<int64_t>& t_ns);

// Days since 1970 in the banner of an AMDuProf timechart, 0 when they are not there.
int64_t uprof_days(const std::string& text);

// Unit in brackets at the end of a header, in lower case: "w" of "power.draw [W]".
std::string unit_of(const std::string& header);
// The first column whose name begins so, a unit following; -1 when there is none.
int column_starting(const CsvTable& table, std::string_view name);
// The cell, or empty text where the row or the column has none.
const std::string& cell(const CsvTable& table, size_t row, int column);

}  // namespace assay
