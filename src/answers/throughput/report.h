#pragma once

// The report of measured throughput: curves, held-out errors and the fit on one page.

#include <string>
#include <vector>

#include "answers/inputs/listener.h"
#include "base/result.h"
#include "report/document/document.h"
#include "trace/trust.h"

namespace assay {

// True for a table, a result or a model file, by its first kilobytes, in any compression and under
// any name. False for pipes, folders and whatever cannot be read.
bool is_throughput_file(const std::string& path);

// Report on several tables as one, or on one model file.
struct TableReport {
  std::string source;
  std::vector<std::string> verdict;
  std::vector<Section> sections;
  TrustNotes trust;
  std::vector<ImportNote> import_log;
};
Result<TableReport> report_tables(const std::vector<std::string>& paths, const Listener& listener);
// Appends it to the document after the results of traces, if any.
void add_tables(TableReport report, Document& document);

}  // namespace assay
