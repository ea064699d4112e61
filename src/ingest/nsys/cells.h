#pragma once

// Converts the cells of a Nsight Systems export to columns of a Trace: times, ids, names, lanes.
// The import log counts every irregular cell. A row is dropped only if it has no usable time.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "ingest/nsys/ids.h"
#include "ingest/sqlite_file.h"
#include "trace/builder.h"

namespace assay {

struct NsysSpan {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  bool open = false;  // no end in the file: finish() sets dur_ns
};

class NsysCells {
 public:
  // rows_expected: of all tables together, to report progress.
  NsysCells(const SqliteFile& file, TraceBuilder& to, NsysLanes& all_lanes, NsysNames& names,
            const ReadOptions& options, uint64_t rows_expected)
      : builder(to),
        lanes(all_lanes),
        keep_op_inputs(options.keep_op_inputs),
        names_(names),
        progress_(options.progress),
        file_bytes_(file.bytes()),
        rows_expected_(rows_expected) {}

  TraceBuilder& builder;
  NsysLanes& lanes;
  const bool keep_op_inputs;
  // Process of each row of builder.api_calls, builder.activities and builder.waits.
  std::vector<uint32_t> call_process;
  std::vector<uint32_t> activity_process;
  std::vector<uint32_t> wait_process;

  // Rows of builder.annotations that are push/pop ranges.
  std::vector<uint32_t> push_pop_rows;

  void count_row();
  // Both return false if the row has no usable time.
  bool read_time(const SqliteRows& rows, int cell, int64_t& time_ns);
  bool read_span(const SqliteRows& rows, int start_cell, int end_cell, NsysSpan& span);
  // is_expected: count a missing id as an irregularity.
  uint32_t read_correlation(const SqliteRows& rows, int cell, bool is_expected);
  uint32_t read_process(const SqliteRows& rows, int cell);
  ThreadId read_thread(const SqliteRows& rows, int cell);
  StringId read_name(const SqliteRows& rows, int cell, NameForm form);
  // Sets `text` to the text of a cell as valid UTF-8, valid until the next call.
  CellRead read_text(const SqliteRows& rows, int cell, std::string_view& text);

  // Call after adding a row to `table` with the span of that row.
  template <typename Table>
  void note_open(const NsysSpan& span, Table& table) {
    if (span.open) open_rows_.push_back({&table.start_ns, &table.dur_ns, table.size() - 1});
  }

  // Completes values that need all rows: ends of open rows, and correlation ids that are distinct
  // per process. session_end_ns: 0 = unknown.
  void finish(int64_t session_end_ns);

 private:
  struct OpenRow {
    const std::vector<int64_t>* start_ns;
    std::vector<int64_t>* dur_ns;
    size_t row;
  };

  void close_open_rows(int64_t session_end_ns);
  void separate_correlations();

  NsysNames& names_;
  ReadProgress* progress_;
  const uint64_t file_bytes_;
  const uint64_t rows_expected_;
  std::vector<OpenRow> open_rows_;
  int64_t latest_end_ns_ = 0;
  std::string scratch_;
};

// The value if it fits 32 bits, else 0.
uint32_t small_or_zero(int64_t value);

}  // namespace assay
