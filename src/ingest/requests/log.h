#pragma once

// Reads request logs (docs/formats/request_log.md); the format is detected by content.

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/request_log.h"

namespace assay {

// The log is one JSON document or one JSON value per line. Fails if it is unreadable, or without a
// request of a known form.
Result<RequestLog> read_request_log(const std::string& path);
Result<RequestLog> parse_request_log(std::string_view text, const std::string& path);

}  // namespace assay
