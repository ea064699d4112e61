#pragma once

// The report on measured throughput: curves, held-out errors and the fit.

#include <string>
#include <vector>

#include "answers/inputs/listener.h"
#include "base/result.h"
#include "report/document/document.h"
#include "trace/trust.h"

namespace assay {

// True for a benchmark table, a benchmark result or a model file. Detected by the first kilobytes,
// in any compression and under any name. False for pipes, folders and unreadable files.
bool is_throughput_file(const std::string& path);

// Report on several tables combined, or on one model file.
struct TableReport {
  std::string source;
  std::vector<std::string> verdict;
  std::vector<Section> sections;
  TrustNotes trust;
  std::vector<ImportNote> import_log;
};
Result<TableReport> report_tables(const std::vector<std::string>& paths, const Listener& listener);
// Appends the report to the document, after results of traces.
void add_tables(TableReport report, Document& document);

}  // namespace assay
