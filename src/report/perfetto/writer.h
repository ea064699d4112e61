#pragma once

// Traces with Assay's results as one Chrome-trace JSON file for ui.perfetto.dev. Every row of the
// trace is an event. Overlapping ones are on separate lanes, so that the importer drops none
// (docs/formats/perfetto.md). Assay reads the file of one trace back as the same trace.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/document/timeline.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Number of written items.
struct PerfettoCounts {
  uint64_t bytes = 0;        // of JSON
  uint64_t slices = 0;       // rows of the traces
  uint64_t annotations = 0;  // slices of Assay's own
  uint64_t counters = 0;     // samples, Assay's own included
  uint64_t instants = 0;     // allocator events
  uint64_t arrows = 0;       // from calls to their work, from forward to backward
  uint64_t extra_lanes = 0;  // lanes beyond the first of a thread, stream or track
  // Work that starts before its own call, and links with one end: no arrow can be drawn.
  uint64_t arrows_left_out = 0;
  uint64_t values_left_out = 0;  // counter samples that are not finite
  uint64_t moved_traces = 0;     // traces with a clock that matches no other: aligned at the first
                                 // one's start
};

class PerfettoWriter {
 public:
  // Takes the file piece by piece, about a megabyte each.
  using Sink = std::function<Status(std::string_view)>;

  // traces: number of traces to add; with several, the names of processes contain their rank.
  PerfettoWriter(Sink sink, size_t traces);
  ~PerfettoWriter();

  // One trace with its annotations; nothing of it is kept.
  Status add(const Trace& trace, const Links& links, const Timeline& timeline);
  // The end of the file.
  Status finish();
  const PerfettoCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
