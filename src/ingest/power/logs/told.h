#pragma once

// Which program wrote a log, by its content; the rows of ingest/formats.cc ask the same.

#include <string>
#include <string_view>

#include "ingest/power/logs/samples.h"
#include "ingest/recognise.h"

namespace assay {

struct ForeignLog {
  std::string_view key;  // of its row in ingest/formats.cc
  FormatMatch (*match)(const FileHead&) = nullptr;
  Result<LogSamples> (*read)(const std::string& text, const std::string& path,
                             const std::string& wanted) = nullptr;
};
// nullptr if it is from none of these programs. text: all of the log, or its beginning.
const ForeignLog* foreign_log_of(std::string_view text);

}  // namespace assay
