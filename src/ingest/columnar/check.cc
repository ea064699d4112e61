#include "ingest/columnar/layout.h"

namespace assay::columnar {
namespace {

// Limit of times, so that the sum of two does not overflow.
constexpr int64_t kFarthestNs = int64_t{1} << 62;

Error impossible(std::string_view table, std::string_view column) {
  return Error{ErrorCode::kFormat,
               "damaged: impossible values in " + std::string(table) + "." + std::string(column) +
                   "; make the file again from its source",
               "", -1};
}

// Valid ids and enums per type. Unknown texts have no id, but a name always has one, because
// modules index their data by it.
struct Limits {
  const Trace& trace;

  bool holds(StringId id) const { return !id || id.index() < trace.strings.size(); }
  bool holds(ThreadId id) const { return id && id.index() < trace.threads.size(); }
  bool holds(StreamId id) const { return id && id.index() < trace.streams.size(); }
  bool holds(OpId id) const { return id && id.index() < trace.ops.size(); }
  bool holds(ApiCallId id) const { return id && id.index() < trace.api_calls.size(); }
  bool holds(ActivityId id) const { return id && id.index() < trace.activities.size(); }
  bool holds(ApiKind kind) const { return kind <= ApiKind::kDriver; }
  bool holds(ActivityKind kind) const { return kind <= ActivityKind::kOther; }
  bool holds(WaitKind kind) const { return kind <= WaitKind::kContextSync; }
  template <typename T>
    requires std::is_arithmetic_v<T>
  bool holds(T) const {
    return true;
  }
};

template <typename T>
bool told(std::string_view column, T id) {
  if constexpr (std::is_same_v<T, StringId>) return column != kNameColumn || id;
  return true;
}

bool sane_time(std::string_view column, int64_t value) {
  if (column == "dur_ns") return value >= 0 && value < kFarthestNs;
  return value > -kFarthestNs && value < kFarthestNs;
}

template <typename Table>
bool in_order(const Table& table, size_t row) {
  const size_t before = row - 1;
  if constexpr (requires {
                  table.start_ns;
                  table.thread;
                }) {
    if (table.thread[before] != table.thread[row]) return table.thread[before] < table.thread[row];
  } else if constexpr (requires {
                         table.start_ns;
                         table.stream;
                       }) {
    if (table.stream[before] != table.stream[row]) return table.stream[before] < table.stream[row];
  }
  if constexpr (
      requires {
        table.start_ns;
        table.thread;
      } ||
      requires {
        table.start_ns;
        table.stream;
      }) {
    if (table.start_ns[before] == table.start_ns[row]) {
      return table.dur_ns[before] >= table.dur_ns[row];
    }
  }
  if constexpr (requires { table.start_ns; }) return table.start_ns[before] <= table.start_ns[row];
  if constexpr (requires { table.time_ns; }) return table.time_ns[before] <= table.time_ns[row];
  if constexpr (requires { table.activity; }) return table.activity[before] <= table.activity[row];
  if constexpr (requires { table.op; }) return table.op[before] <= table.op[row];
  if constexpr (requires { table.call; }) return table.call[before] <= table.call[row];
  return true;
}

template <typename Table>
Status check_table(const Trace& trace, std::string_view name, const Table& table) {
  const Limits limits{trace};
  Status status = Ok{};
  const size_t rows = table.size();
  table.for_each_column([&](std::string_view column, auto, auto, const auto& values) {
    if (!status) return;
    bool good = values.size() == rows && rows < UINT32_MAX;
    for (size_t i = 0; i < values.size() && good; ++i) {
      good = limits.holds(values[i]) && told(column, values[i]);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(values[i])>, int64_t>) {
        if (column.ends_with("_ns")) good = good && sane_time(column, values[i]);
      }
    }
    if (!good) status = impossible(name, column);
  });
  ASSAY_TRY(status);
  for (size_t row = 1; row < rows; ++row) {
    if (!in_order(table, row)) return impossible(name, "order of rows");
  }
  return Ok{};
}

}  // namespace

Status check_trace(const Trace& trace) {
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) \
  ASSAY_TRY(check_table(trace, #member, trace.member));
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
  return Ok{};
}

}  // namespace assay::columnar
