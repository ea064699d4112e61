#pragma once

// Writes traces with Assay's results as one Chrome-trace JSON file for ui.perfetto.dev. Every row
// of a trace becomes an event. Overlapping events are put on separate tracks, so that the importer
// drops none (docs/formats/perfetto.md). Assay reads the file of a single trace back as the same
// trace.

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

// Numbers of written items.
struct PerfettoCounts {
  uint64_t bytes = 0;        // of JSON
  uint64_t slices = 0;       // rows of the traces
  uint64_t annotations = 0;  // slices of Assay's results
  uint64_t counters = 0;     // samples, including those of Assay's results
  uint64_t instants = 0;     // allocator events
  uint64_t arrows = 0;       // from calls to activities, from forward to backward
  uint64_t extra_lanes = 0;  // tracks beyond the first of a thread, stream or Assay track
  // Arrows that cannot be drawn: the activity starts before its call, or a link has one end.
  uint64_t arrows_left_out = 0;
  uint64_t values_left_out = 0;  // non-finite counter samples
  uint64_t moved_traces = 0;     // traces with a clock that matches no other, aligned to the start
                                 // of the first
};

class PerfettoWriter {
 public:
  // Receives the file in pieces of about a megabyte.
  using Sink = std::function<Status(std::string_view)>;

  // traces: number of traces to add. Above 1, process names contain the rank.
  PerfettoWriter(Sink sink, size_t traces);
  ~PerfettoWriter();

  // Writes one trace with its annotations; keeps no reference to them.
  Status add(const Trace& trace, const Links& links, const Timeline& timeline);
  // Writes the end of the file.
  Status finish();
  const PerfettoCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
