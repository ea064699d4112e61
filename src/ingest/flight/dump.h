#pragma once

// Dumps of PyTorch's flight recorder, of torchcomms and of torch_npu, as pickles or JSON.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/flight.h"

namespace assay {

// True for the bytes at the start of a dump.
bool is_flight_head(std::string_view head);

// Reads a dump of at most 1 GiB, compressed or not. Nothing of a pickle is run. The number that ends
// the file's name is the rank, unless the groups of the dump exclude it. Else it is the one rank
// that all its groups share, or unknown. Errors name the file: kUnsupported where a pickle would run
// code, kTruncated, kFormat, kNotATrace for other files.
Result<FlightDump> read_flight_dump(const std::string& path);

// The number that ends a file's name, before its endings.
std::optional<int64_t> rank_in_dump_name(const std::string& path);

}  // namespace assay
