#pragma once

// Reads iteration times measured without a recorder: `--untraced`.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/untraced_time.h"

namespace assay {

// Parses a duration such as "6.11ms", in s, ms or us. Fails if it is not above 0 or has no unit.
Result<UntracedTime> parse_untraced_time(std::string_view text);

// Reads the time of a trace from a file: lines of runs.jsonl (docs/formats/torch_runs.md), or a
// table with the columns trace, untraced_ms and optionally untraced_low_ms, untraced_high_ms.
// Returns the median of repeated lines. Fails if the trace is missing, or if runs.jsonl has several
// lines of it that are not marked as repeats.
Result<UntracedTime> read_untraced_time(const std::string& file, const std::string& trace);

// Path of the runs.jsonl in the folder of a trace; empty if there is none.
std::string runs_beside(const std::string& trace);

}  // namespace assay
