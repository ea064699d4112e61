#pragma once

// Measured iterations of programs without a recorder: `--untraced`.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/untraced_time.h"

namespace assay {

// "6.11ms" in s, ms or us. Errors: no number above 0, no unit.
Result<UntracedTime> parse_untraced_time(std::string_view text);

// The time of a trace in a file: lines of runs.jsonl (docs/formats/torch_runs.md), or a table with the columns trace,
// untraced_ms and perhaps untraced_low_ms, untraced_high_ms. Several lines are repeats: their median. Errors: the trace
// is not in the file, or has several lines in runs.jsonl that are not marked as repeats.
Result<UntracedTime> read_untraced_time(const std::string& file, const std::string& trace);

// The runs.jsonl in the folder of a trace; empty if there is none.
std::string runs_beside(const std::string& trace);

}  // namespace assay
