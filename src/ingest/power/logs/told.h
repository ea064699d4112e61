#pragma once

// Identifies by content the program that wrote a log; the rows of ingest/formats.cc use the same
// functions.

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
// nullptr if none of these programs wrote it. text: the log or its beginning.
const ForeignLog* foreign_log_of(std::string_view text);

}  // namespace assay
