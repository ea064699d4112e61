#pragma once

// Reads dumps of the flight recorders of PyTorch, torchcomms and torch_npu, as pickles or JSON.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/flight.h"

namespace assay {

// True if a file with this beginning is a dump.
bool is_flight_head(std::string_view head);

// Reads a dump of at most 1 GiB, compressed or not, without executing anything in a pickle. The
// rank is the number at the end of the file's name, unless the groups of the dump exclude it; else
// the only rank that all its groups share; else unknown. Errors name the file: kUnsupported if a
// pickle would execute code, kTruncated, kFormat, kNotATrace for other files.
Result<FlightDump> read_flight_dump(const std::string& path);

// The number at the end of a file's name, before the file name extensions.
std::optional<int64_t> rank_in_dump_name(const std::string& path);

}  // namespace assay
