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

// Those of the files named in `captures`, with an error if a file has none. By default, those in
// traces in the request's folders, recognized by name (ingest/load.h).
Result<std::shared_ptr<const std::vector<CapturedGraph>>> recorded_graphs(
    const TraceRequest& request, const std::vector<std::string>& captures);

// Replays of the trace joined to the graphs that it recorded itself, and to `others`, with the
// places of their launches. run: of this trace.
ReplayReport placed_replays(const LoadedTrace& loaded, const FlowRun& run,
                            const std::shared_ptr<const std::vector<CapturedGraph>>& others);

// Reports the used recordings to the listener.
void tell_recordings(const ReplayReport& replays, const Listener& listener);

}  // namespace assay
