#pragma once

// Replaces the recorded host by the host of another recording of the same program.

#include <string>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "diff/pace.h"
#include "diff/run.h"
#include "flow/host_pace.h"

namespace assay {

// Host calls of a recording, by iteration and as a whole. The other recording decides which of them
// is compared.
struct HostRecording {
  std::string file;
  bool has_iterations = false;
  DiffRun by_iteration = {};
  DiffRun whole;
};
HostRecording host_recording(const LoadedTrace& loaded);
// path: one trace. The inputs of `traces` are ignored.
Result<HostRecording> read_host_recording(const std::string& path, const TraceRequest& traces);

// The reason why two recordings are of different programs, as a phrase. It is empty if they are of
// one program. `recorded` is the file of the first side, and `what` names the compared calls.
std::string why_other_program(const PaceChange& pace, const std::string& recorded,
                              const std::string& what);

// Errors (invalid argument): the recordings are of different programs.
Result<OtherHost> host_like(const HostRecording& like, const HostRecording& recorded);

}  // namespace assay
