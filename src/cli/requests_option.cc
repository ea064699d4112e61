#include "cli/requests_option.h"

#include "answers/report.h"
#include "base/decimal.h"
#include "base/latest_time.h"
#include "cli/options.h"

namespace assay {

void add_requests_options(Verb& verb, RequestsFlags& flags) {
  verb.option("--requests", flags.file,
              "log of a serving engine's requests, to join with its steps: OTLP JSON, SGLang's request metrics, or a "
              "detailed benchmark result (docs/formats/request_log.md)")
      .called("FILE");
  verb.option("--requests-offset", flags.offset,
              "seconds to add to the times of that log, if its clock is not the trace's and none "
              "is found")
      .called("SECONDS")
      .needs({"--requests"});
}

Status set_requests(const RequestsFlags& flags, ReportRequest& request) {
  request.requests = flags.file;
  if (flags.offset.empty()) return Ok{};
  int64_t offset_ns = 0;
  DecimalShape shape;
  if (parse_decimal(flags.offset, 9, offset_ns, shape) != DecimalStatus::kOk || offset_ns > kLatestNs ||
      offset_ns < -kLatestNs) {
    return Error{ErrorCode::kInvalidArgument, "--requests-offset " + flags.offset + ": seconds", "", -1};
  }
  request.request_options.offset_ns = offset_ns;
  return Ok{};
}

}  // namespace assay
