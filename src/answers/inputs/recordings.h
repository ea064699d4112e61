#pragma once

// Graphs that were recorded in other traces than the one asked about: an engine records them at its
// start, long before somebody traces a replay.

#include <memory>
#include <string>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/replays.h"

namespace assay {

// Those of the files named in `captures`, an error where a file has none; without names, those in
// traces beside the request's files whose names say so (ingest/load.h).
Result<std::shared_ptr<const std::vector<CapturedGraph>>> recorded_graphs(
    const TraceRequest& request, const std::vector<std::string>& captures);

// Replays of the trace joined to the graphs that it recorded itself, and to `others`, with the
// places of their launches. run: of this trace.
ReplayReport placed_replays(const LoadedTrace& loaded, const FlowRun& run,
                            const std::shared_ptr<const std::vector<CapturedGraph>>& others);

// Tells the listener whose recordings were used.
void tell_recordings(const ReplayReport& replays, const Listener& listener);

}  // namespace assay
