#pragma once

// `--requests`, for verbs that join the log of an engine's requests with a trace.

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
// Errors: the offset is not a number of seconds.
Status set_requests(const RequestsFlags& flags, ReportRequest& request);

}  // namespace assay
