#pragma once

// `--requests`, for verbs that join an inference engine's request log with a trace.

#include <string>

#include "base/result.h"

namespace assay {

class Verb;
struct ReportRequest;

struct RequestsFlags {
  std::string file;
  std::string offset;
};
void add_requests_options(Verb& verb, RequestsFlags& flags);
// Fails if the offset is not a number of seconds.
Status set_requests(const RequestsFlags& flags, ReportRequest& request);

}  // namespace assay
