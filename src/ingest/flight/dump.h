#pragma once

// Dumps of PyTorch's flight recorder, of torchcomms and of torch_npu, as pickles or JSON.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/flight.h"

namespace assay {

// Whether the bytes at the start of a file are those of a dump.
bool is_flight_head(std::string_view head);

// Reads a dump of at most 1 GiB, compressed or not. Nothing of a pickle is run. The rank: the number
// that ends the file's name, unless the groups of the dump exclude it; else the one rank that all
// its groups share; else none. Errors name the file: kUnsupported where a pickle would run code,
// kTruncated, kFormat, kNotATrace for what is no dump.
Result<FlightDump> read_flight_dump(const std::string& path);

// The number that ends a file's name, before its endings.
std::optional<int64_t> rank_in_dump_name(const std::string& path);

}  // namespace assay
