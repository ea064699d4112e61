#pragma once

// The launch floor that was asked for, as the rooms take it.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "launch/fuse.h"
#include "records/replay.h"
#include "tax/tax.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

// `--floor` as typed: nanoseconds, the name of a published platform, or a floor file
// (docs/formats/floor.md); absent when empty.
struct FloorChoice {
  std::optional<double> floor_ns;
  std::string source = {};                             // in words
  TaxSource kind = TaxSource::kNone;                   // kUser, kTable or kMeasured
  uint64_t samples = 0;                                // launches behind a measured one
  CollectorTracer tracer = CollectorTracer::kUnknown;  // of a measured one
  TrustNotes notes = {};  // what could not be checked, or does not fit the trace
};
// trace: what the floor is for, nullptr when it is for several. Fails on a floor measured on
// another GPU than the trace's.
Result<FloorChoice> parse_floor(const std::string& text, const Trace* trace);

// The floor as the tax room takes it; absent when none was given.
std::optional<TaxFloor> tax_floor(const FloorChoice& choice);

// The same options, resting on this floor.
FusionOptions with_floor(FusionOptions options, const FloorChoice& floor);

}  // namespace assay
