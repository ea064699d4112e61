#pragma once

// From the event tables of a Nsight Systems export to the rows of a Trace, table by table
// (docs/formats/nsys.md). Every odd cell is counted in the import log; a row is left out only when
// it has no usable time.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/chrome_reader.h"
#include "ingest/nsys_ids.h"
#include "ingest/sqlite_file.h"
#include "trace/builder.h"

namespace assay {

class NsysRows {
 public:
  NsysRows(const SqliteFile& file, TraceBuilder& builder, NsysLanes& lanes, NsysNames& names,
           const ReadOptions& options)
      : file_(file), builder_(builder), lanes_(lanes), names_(names), options_(options) {}

  // All tables. session_end_ns: when recording stopped, from the start of the session; 0 = not
  // told. devices_by_gpu: (process id, CUDA device) to device of the machine, where processes
  // number devices differently; empty otherwise.
  Status read_all(int64_t session_end_ns,
                  const std::map<std::pair<int64_t, int64_t>, int64_t>& devices_by_gpu);

 private:
  struct Span {
    int64_t start_ns = 0;
    int64_t dur_ns = 0;
    bool open = false;
  };
  // A row that waits for the end of the session to be known.
  struct OpenRow {
    const std::vector<int64_t>* start_ns;
    std::vector<int64_t>* dur_ns;
    size_t row;
  };

  Status read_calls();
  Status read_kernels();
  Status read_copies();
  Status read_fills();
  Status read_syncs();
  Status read_graphs();
  Status read_ranges();
  Status read_overheads();
  Status read_other(const char* table, std::string_view category);
  Status read_memory();

  void add_activity(const Span& span, StringId name, ActivityKind kind, const SqliteRows& rows,
                    int first_lane_cell);
  void add_shape(const SqliteRows& rows, int first_cell);
  void add_transfer(const SqliteRows& rows, int cell);
  void add_range(const Span& span, std::string_view text, ThreadId thread);
  void add_push_or_pop(const Span& span, bool push, std::string_view text, ThreadId thread);

  bool read_time(const SqliteRows& rows, int cell, int64_t& time_ns);
  bool read_span(const SqliteRows& rows, int start_cell, int end_cell, Span& span);
  void note_time(int64_t time_ns);
  template <typename Table>
  void note_open(const Span& span, Table& table);
  uint32_t read_correlation(const SqliteRows& rows, int cell, bool is_expected);
  uint32_t read_process(const SqliteRows& rows, int cell);
  ThreadId read_thread(const SqliteRows& rows, int cell);
  StringId read_name(const SqliteRows& rows, int cell, NameForm form);
  std::string_view clean(std::string_view text);
  void count_row();

  void close_open_rows(int64_t session_end_ns);
  void separate_correlations();

  const SqliteFile& file_;
  TraceBuilder& builder_;
  NsysLanes& lanes_;
  NsysNames& names_;
  const ReadOptions& options_;
  std::map<std::pair<int64_t, int64_t>, int64_t> devices_by_gpu_;
  std::vector<uint32_t> call_process_;      // of each row of builder_.api_calls
  std::vector<uint32_t> activity_process_;  // of each row of builder_.activities
  std::vector<OpenRow> open_rows_;
  int64_t latest_end_ns_ = 0;
  uint64_t rows_expected_ = 0;
  std::string scratch_;
  std::string json_scratch_;
};

}  // namespace assay
