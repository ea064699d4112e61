#include <algorithm>
#include <string>
#include <string_view>

#include "ingest/nsys/rows.h"
#include "ingest/nvtx_ranges.h"
#include "trace/page_faults.h"
#include "trace/system_calls.h"

namespace assay {
namespace {

constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";
constexpr const char* kOverheads = "PROFILER_OVERHEAD";

// Tables of host calls that are not operators, and their category in other_events.
struct OtherTable {
  const char* table;
  std::string_view category;
};
constexpr OtherTable kOtherTables[] = {
    {"OSRT_API", kSystemCallCategory}, {"CUBLAS_EVENTS", "cublas"}, {"CUDNN_EVENTS", "cudnn"}};

// Page faults of managed memory. CPU faults have only a start.
constexpr const char* kCpuFaults = "CUDA_UM_CPU_PAGE_FAULT_EVENTS";
constexpr const char* kGpuFaults = "CUDA_UM_GPU_PAGE_FAULT_EVENTS";

// ENUM_NSYS_EVENT_TYPE. The nvtxt ones come from text files that were merged into the report.
enum NvtxType : int64_t {
  kNvtxMark = 34,
  kNvtxPush = 35,
  kNvtxPop = 36,
  kNvtxStart = 37,
  kNvtxEnd = 38,
  kNvtxPushPopRange = 59,
  kNvtxStartEndRange = 60,
  kNvtxtMark = 65,
  kNvtxtPushPopRange = 70,
  kNvtxtStartEndRange = 71,
};

class HostRows {
 public:
  HostRows(const SqliteFile& file, NsysCells& cells) : file_(file), cells_(cells) {}

  Status read_calls();
  Status read_ranges();
  Status read_overheads();
  Status read_other(const char* table, std::string_view category);
  Status read_faults(const char* table, const char* end, std::string_view name);

 private:
  void add_range(const NsysSpan& span, std::string_view text, ThreadId thread);
  void add_push_or_pop(const NsysSpan& span, bool push, std::string_view text, ThreadId thread);

  const SqliteFile& file_;
  NsysCells& cells_;
};

Status HostRows::read_calls() {
  enum { kStart, kEnd, kClass, kThread, kCorrelation, kName };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kCalls, {"start", "end", "eventClass", "globalTid",
                                                        "correlationId", "nameId"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, kEnd, span)) continue;
    const StringId name = cells_.read_name(rows, kName, NameForm::kApi);
    // TRACE_PROCESS_EVENT_CUDA_RUNTIME and _DRIVER of ENUM_NSYS_EVENT_CLASS; else by name.
    const int64_t event_class = rows.integer_or(kClass, -1);
    const bool runtime_name = cells_.builder.strings.view(name).substr(0, 4) == "cuda";
    const bool is_runtime = event_class == 0 || (event_class != 1 && runtime_name);
    cells_.builder.api_calls.push_back({span.start_ns, span.dur_ns, name,
                                        cells_.read_thread(rows, kThread),
                                        cells_.read_correlation(rows, kCorrelation, false), 0,
                                        is_runtime ? ApiKind::kRuntime : ApiKind::kDriver});
    cells_.call_process.push_back(cells_.read_process(rows, kThread));
    cells_.note_open(span, cells_.builder.api_calls);
  }
  return rows.status();
}

void HostRows::add_range(const NsysSpan& span, std::string_view text, ThreadId thread) {
  const RangeRow row = add_nvtx_range(cells_.builder, {span.start_ns, span.dur_ns, thread}, text,
                                      cells_.keep_op_inputs);
  if (row.is_operator) return cells_.note_open(span, cells_.builder.ops);
  cells_.push_pop_rows.push_back(row.annotation);
  cells_.note_open(span, cells_.builder.annotations);
}

void HostRows::add_push_or_pop(const NsysSpan& span, bool push, std::string_view text,
                               ThreadId thread) {
  SpanMark mark;
  mark.begin = push;
  mark.time_ns = span.start_ns;
  mark.thread = thread;
  mark.name = cells_.builder.text(text);
  mark.category = cells_.builder.text("user_annotation");
  cells_.builder.marks.push_back(mark);
}

Status HostRows::read_ranges() {
  enum { kStart, kEnd, kType, kText, kTextId, kThread };
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kRanges, {"start", "end", "eventType", "text",
                                                         "textId", "globalTid"}));
  while (rows.next()) {
    cells_.count_row();
    const int64_t type = rows.integer_or(kType, kNvtxPushPopRange);
    const bool push_or_pop = type == kNvtxPush || type == kNvtxPop;
    const bool push_pop_range = type == kNvtxPushPopRange || type == kNvtxtPushPopRange;
    const bool start_end_range = type == kNvtxStartEndRange || type == kNvtxtStartEndRange;
    if (!push_or_pop && !push_pop_range && !start_end_range) {
      const bool mark = type == kNvtxMark || type == kNvtxtMark;
      const bool half = type == kNvtxStart || type == kNvtxEnd;
      if (half) cells_.builder.log.add(ImportCode::kUnknownPhase);
      if (!half) ++(mark ? cells_.builder.counts.instants : cells_.builder.counts.metadata);
      continue;
    }
    NsysSpan span;
    if (!cells_.read_span(rows, kStart, push_or_pop ? kStart : kEnd, span)) continue;
    std::string_view text;
    const bool has_text = cells_.read_text(rows, kText, text) == CellRead::kValue;
    if (!has_text && type != kNvtxPop) {
      text = cells_.builder.strings.view(cells_.read_name(rows, kTextId, NameForm::kPlain));
    }
    const ThreadId thread = cells_.read_thread(rows, kThread);
    if (push_or_pop) {
      add_push_or_pop(span, type == kNvtxPush, text, thread);
    } else if (push_pop_range) {
      add_range(span, text, thread);
    } else {
      cells_.builder.annotations.push_back(
          {span.start_ns, span.dur_ns, cells_.builder.text(text), thread, 0});
      cells_.note_open(span, cells_.builder.annotations);
    }
  }
  return rows.status();
}

Status HostRows::read_overheads() {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(kOverheads, {"start", "end", "nameId"}));
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, 0, 1, span)) continue;
    cells_.builder.overheads.push_back(
        {span.start_ns, span.dur_ns, cells_.read_name(rows, 2, NameForm::kPlain)});
    cells_.note_open(span, cells_.builder.overheads);
  }
  return rows.status();
}

Status HostRows::read_other(const char* table, std::string_view category) {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(table, {"start", "end", "nameId", "globalTid"}));
  const StringId category_id = cells_.builder.text(category);
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, 0, 1, span)) continue;
    // Operating system calls explain host waits; other tables here are in no number.
    if (category != kSystemCallCategory) cells_.builder.log.add(ImportCode::kUnknownCategory);
    cells_.builder.other_events.push_back({span.start_ns, span.dur_ns,
                                           cells_.read_name(rows, 2, NameForm::kPlain), category_id,
                                           cells_.read_thread(rows, 3)});
    cells_.note_open(span, cells_.builder.other_events);
  }
  return rows.status();
}

Status HostRows::read_faults(const char* table, const char* end, std::string_view name) {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows(table, {"start", end}));
  const StringId name_id = cells_.builder.text(name);
  const StringId category_id = cells_.builder.text(kPageFaultCategory);
  while (rows.next()) {
    cells_.count_row();
    NsysSpan span;
    if (!cells_.read_span(rows, 0, 1, span)) continue;
    cells_.builder.other_events.push_back(
        {span.start_ns, span.dur_ns, name_id, category_id, ThreadId()});
    cells_.note_open(span, cells_.builder.other_events);
  }
  return rows.status();
}

}  // namespace

Status read_host_rows(const SqliteFile& file, NsysCells& cells) {
  HostRows rows(file, cells);
  ASSAY_TRY(rows.read_calls());
  ASSAY_TRY(rows.read_ranges());
  ASSAY_TRY(rows.read_overheads());
  for (const OtherTable& other : kOtherTables) {
    ASSAY_TRY(rows.read_other(other.table, other.category));
  }
  ASSAY_TRY(rows.read_faults(kCpuFaults, "start", kCpuPageFault));
  return rows.read_faults(kGpuFaults, "end", kGpuPageFault);
}

uint64_t expected_rows(const SqliteFile& file) {
  uint64_t rows = 0;
  for (const char* table : {kCalls, kRanges, kOverheads, kCpuFaults, kGpuFaults,
                            "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                            "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"}) {
    rows += file.last_row(table);
  }
  for (const OtherTable& other : kOtherTables) rows += file.last_row(other.table);
  return rows;
}

}  // namespace assay
