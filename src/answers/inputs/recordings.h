#pragma once

// CUDA graphs captured in traces other than the analyzed one. An engine captures its graphs at
// startup, long before anybody traces a replay.

#include <memory>
#include <string>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/replays.h"

namespace assay {

// The graphs of the files in `captures`; a file without any is an error. If `captures` is empty,
// those of traces in the request's folders, recognized by name (ingest/load.h).
Result<std::shared_ptr<const std::vector<CapturedGraph>>> recorded_graphs(
    const TraceRequest& request, const std::vector<std::string>& captures);

// Replays in the trace, joined to the graphs captured in it and to `others`, with the places of
// their launches. run: of this trace.
ReplayReport placed_replays(const LoadedTrace& loaded, const FlowRun& run,
                            const std::shared_ptr<const std::vector<CapturedGraph>>& others);

// Notifies the listener of the captures that were used.
void tell_recordings(const ReplayReport& replays, const Listener& listener);

}  // namespace assay
