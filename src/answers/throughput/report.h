#pragma once

// The report of measured throughput: curves, held-out errors and the fit on one page.

#include <string>
#include <vector>

#include "answers/inputs/listener.h"
#include "base/result.h"
#include "report/document/document.h"
#include "trace/trust.h"

namespace assay {

// Whether this is a table, a result or a model file: told by its first kilobytes, in any
// compression and under any name. False for pipes, folders and whatever cannot be read.
bool is_throughput_file(const std::string& path);

// What is said of several tables as one, or of one model file.
struct TableReport {
  std::string source;
  std::vector<std::string> verdict;
  std::vector<Section> sections;
  TrustNotes trust;
  std::vector<ImportNote> import_log;
};
Result<TableReport> report_tables(const std::vector<std::string>& paths, const Listener& listener);
// Puts it behind what the document says of traces, or of nothing yet.
void add_tables(TableReport report, Document& document);

}  // namespace assay
