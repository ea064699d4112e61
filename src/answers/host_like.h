#pragma once

// The host of another recording of the same program, in place of the recorded one.

#include <string>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "diff/run.h"
#include "flow/host_pace.h"

namespace assay {

// Host calls of a recording, by iterations and as a whole: which one is compared depends on the
// other recording.
struct HostRecording {
  std::string file;
  bool has_iterations = false;
  DiffRun by_iteration;
  DiffRun whole;
};
HostRecording host_recording(const LoadedTrace& loaded);
// path: one trace. The inputs of `traces` are ignored.
Result<HostRecording> read_host_recording(const std::string& path, const TraceRequest& traces);

// Error (invalid argument) if the recordings are not of one program.
Result<OtherHost> host_like(const HostRecording& like, const HostRecording& recorded);

}  // namespace assay
