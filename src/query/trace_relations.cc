#include "query/trace_relations.h"

#include <array>
#include <memory>
#include <string>
#include <type_traits>

namespace assay {
namespace {

constexpr std::array<std::string_view, 2> kApiKinds = {"runtime", "driver"};
constexpr std::array<std::string_view, 5> kActivityKinds = {"kernel", "memcpy", "memset", "sync",
                                                            "other"};

constexpr std::array<std::string_view, 5> kWaitKinds = {
    "unknown", "event_sync", "stream_wait_event", "stream_sync", "context_sync"};

template <typename T>
constexpr bool is_row_id =
    std::is_same_v<T, ThreadId> || std::is_same_v<T, StreamId> || std::is_same_v<T, OpId> ||
    std::is_same_v<T, ApiCallId> || std::is_same_v<T, ActivityId>;

template <typename T>
CellType cell_type(std::string_view unit) {
  if (unit == "bool") return CellType::kBool;
  if constexpr (std::is_same_v<T, StringId> || std::is_enum_v<T>) {
    return CellType::kText;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return CellType::kUnsigned;
  } else if constexpr (std::is_floating_point_v<T>) {
    return CellType::kReal;
  } else {
    return CellType::kInteger;
  }
}

template <typename T>
void append_cell(const Trace& trace, const T& value, Cells& out) {
  if constexpr (std::is_same_v<T, StringId>) {
    out.texts.push_back(trace.text(value));
  } else if constexpr (std::is_same_v<T, ApiKind>) {
    out.texts.push_back(kApiKinds[static_cast<size_t>(value)]);
  } else if constexpr (std::is_same_v<T, ActivityKind>) {
    out.texts.push_back(kActivityKinds[static_cast<size_t>(value)]);
  } else if constexpr (std::is_same_v<T, WaitKind>) {
    out.texts.push_back(kWaitKinds[static_cast<size_t>(value)]);
  } else if constexpr (is_row_id<T>) {
    out.integers.push_back(value ? int64_t{value.value} : 0);
    out.missing.push_back(!value);
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    out.bools.push_back(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    out.unsigneds.push_back(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    out.reals.push_back(value);
  } else {
    out.integers.push_back(value);
  }
}

template <typename T>
ReadCells reader(const Trace& trace, const std::vector<T>& column) {
  return [&trace, &column](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) append_cell(trace, column[i], out);
  };
}

ReadCells row_numbers() {
  return [](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) out.integers.push_back(static_cast<int64_t>(i));
  };
}

// Builds a relation of one part, column by column.
class Maker {
 public:
  Maker(std::string name, std::string meaning, int64_t rank, size_t rows)
      : relation_{std::move(name), std::move(meaning), {}, {{rank, rows, {}}}} {
    add({"id", CellType::kInteger, "row", "row of this table"}, row_numbers());
  }
  void add(RelationColumn column, ReadCells read) {
    relation_.columns.push_back(std::move(column));
    relation_.parts[0].columns.push_back(std::move(read));
  }
  // Adds a column with one field of every entry of a list.
  template <typename Entry, typename Field>
  void add(const std::vector<Entry>& entries, Field Entry::* field, const char* name,
           const char* unit, const char* meaning) {
    constexpr bool is_text = std::is_same_v<Field, std::string>;
    add({name, is_text ? CellType::kText : CellType::kInteger, unit, meaning},
        [&entries, field](size_t first, size_t count, Cells& out) {
          for (size_t i = first; i < first + count; ++i) {
            if constexpr (is_text) {
              out.texts.push_back(entries[i].*field);
            } else {
              out.integers.push_back(entries[i].*field);
            }
          }
        });
  }
  Relation take() { return std::move(relation_); }

 private:
  Relation relation_;
};

// Columns of the schema that mark an unknown number with -1: NULL here, so that sums and extremes
// leave it out.
constexpr std::string_view kUnknownMark = "-1 = unknown";

template <typename T>
ReadCells known_reader(const std::vector<T>& column) {
  return [&column](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) {
      out.integers.push_back(static_cast<int64_t>(column[i]));
      out.missing.push_back(column[i] == T(-1));
    }
  };
}

template <typename Table>
Maker table_maker(const Trace& trace, const Table& table, const char* name, const char* meaning,
                  int64_t rank) {
  Maker maker(name, meaning, rank, table.size());
  table.for_each_column(
      [&](std::string_view column, std::string_view unit, std::string_view doc, auto& values) {
        using T = typename std::remove_cvref_t<decltype(values)>::value_type;
        RelationColumn made{std::string(column), cell_type<T>(unit), std::string(unit),
                            std::string(doc)};
        if constexpr (std::is_same_v<T, int64_t>) {
          const size_t mark = doc.find(kUnknownMark);
          if (mark != std::string_view::npos) {
            made.meaning.replace(mark, 2, "NULL");
            return maker.add(std::move(made), known_reader(values));
          }
        }
        maker.add(std::move(made), reader(trace, values));
      });
  return maker;
}

Relation lanes_relation(const Trace& trace, int64_t rank) {
  Maker maker("threads", "host threads", rank, trace.threads.size());
  maker.add(trace.threads, &Thread::pid, "pid", "string", "process as written in the file");
  maker.add(trace.threads, &Thread::tid, "tid", "string", "thread as written in the file");
  maker.add(trace.threads, &Thread::name, "name", "string", "name of the thread; may be empty");
  return maker.take();
}

Relation streams_relation(const Trace& trace, int64_t rank) {
  Maker maker("streams", "queues of devices", rank, trace.streams.size());
  maker.add(trace.streams, &Stream::device, "device", "id", "device index as recorded");
  maker.add(trace.streams, &Stream::stream, "stream", "id", "stream or queue; -1 = none");
  maker.add(trace.streams, &Stream::name, "name", "string", "name of the stream; may be empty");
  return maker.take();
}

Relation devices_relation(const Trace& trace, int64_t rank) {
  Maker maker("devices", "devices of the machine, traced or not", rank, trace.devices.size());
  const auto& devices = trace.devices;
  maker.add(devices, &DeviceProperties::id, "device", "id", "device index");
  maker.add(devices, &DeviceProperties::name, "name", "string", "may be empty on ROCm");
  maker.add(devices, &DeviceProperties::total_memory_bytes, "total_memory_bytes", "bytes",
            "memory");
  maker.add(devices, &DeviceProperties::multiprocessors, "multiprocessors", "count", "SMs or CUs");
  maker.add(devices, &DeviceProperties::warp_size, "warp_size", "threads", "threads of a warp");
  maker.add(devices, &DeviceProperties::compute_major, "compute_major", "id", "capability");
  maker.add(devices, &DeviceProperties::compute_minor, "compute_minor", "id", "capability");
  return maker.take();
}

Relation metadata_relation(const Trace& trace, int64_t rank) {
  Maker maker("metadata", "header entries of the file, and what it says of processes", rank,
              trace.metadata.size());
  maker.add(trace.metadata, &MetadataEntry::key, "key", "string",
            "as written in the file; for processes, for example \"process_name 4711\"");
  maker.add(trace.metadata, &MetadataEntry::value, "value", "string", "as text");
  return maker.take();
}

// Adds a column with the target of each link. Rows and `id` are those of the source table.
template <typename RowId>
void add_link(Maker& maker, const Trace& trace, const std::vector<RowId>& target, const char* name,
              const char* meaning) {
  maker.add({name, CellType::kInteger, "row", meaning}, reader(trace, target));
}

void add_links(Catalog& catalog, const Trace& trace, const Links& links, int64_t rank) {
  Maker activities("activity_links", "what launched an activity; id as in activities", rank,
                   links.activity_call.size());
  add_link(activities, trace, links.activity_call, "api_call", "launch call; NULL = none found");
  add_link(activities, trace, links.activity_op, "op",
           "operator that caused it; NULL = none found");
  catalog.relations.push_back(activities.take());
  Maker calls("call_links", "what made an API call; id as in api_calls", rank,
              links.call_op.size());
  add_link(calls, trace, links.call_op, "op", "innermost enclosing operator; NULL = none");
  catalog.relations.push_back(calls.take());
  Maker ops("op_links", "what called an operator; id as in ops", rank, links.op_parent.size());
  add_link(ops, trace, links.op_parent, "parent", "enclosing operator; NULL = none");
  catalog.relations.push_back(ops.take());
}

using ActivityRows = std::vector<ActivityId>;

// Adds a column with a value of each row's activity. rows: the activity of every row of the table.
template <typename Cell>
void add_activity_column(Maker& maker, const std::shared_ptr<const ActivityRows>& rows,
                         RelationColumn column, Cell cell) {
  maker.add(std::move(column), [rows, cell](size_t first, size_t count, Cells& out) {
    for (size_t i = first; i < first + count; ++i) cell((*rows)[i], out);
  });
}

// Adds when and where the activity of each row ran. Device and stream are the numbers in the file.
void add_activity_columns(Maker& maker, const Trace& trace,
                          const std::shared_ptr<const ActivityRows>& rows) {
  const auto& activities = trace.activities;
  const auto add = [&](RelationColumn column, auto cell) {
    add_activity_column(maker, rows, std::move(column), cell);
  };
  add({"start_ns", CellType::kInteger, "ns", "begin on the device"},
      [&](ActivityId row, Cells& out) {
        out.integers.push_back(activities.start_ns[row.index()]);
      });
  add({"dur_ns", CellType::kInteger, "ns", "duration on the device"},
      [&](ActivityId row, Cells& out) { out.integers.push_back(activities.dur_ns[row.index()]); });
  add({"name", CellType::kText, "string", "as recorded"}, [&](ActivityId row, Cells& out) {
    out.texts.push_back(trace.text(activities.name[row.index()]));
  });
  const auto add_stream_number = [&](const char* name, const char* meaning,
                                     int64_t Stream::* number) {
    add({name, CellType::kInteger, "id", meaning}, [&trace, number](ActivityId row, Cells& out) {
      const StreamId stream = trace.activities.stream[row.index()];
      const int64_t value = stream ? trace.streams[stream.index()].*number : -1;
      out.integers.push_back(value);
      out.missing.push_back(value == -1);
    });
  };
  add_stream_number("device", "device index as recorded; NULL = none", &Stream::device);
  add_stream_number("stream", "stream or queue as recorded; NULL = none", &Stream::stream);
}

// Table of kernels, each with where it ran, and what launched it and when.
Relation kernels_relation(const Trace& trace, const Links& links, int64_t rank) {
  const auto rows = std::make_shared<ActivityRows>();
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    if (trace.activities.kind[i] == ActivityKind::kKernel) rows->push_back(ActivityId(i));
  }
  Maker maker("kernels", "kernels that ran, each with its launch and its operator", rank,
              rows->size());
  const auto add = [&](RelationColumn column, auto cell) {
    add_activity_column(maker, rows, std::move(column), cell);
  };
  add({"activity", CellType::kInteger, "row", "its row in activities"},
      [&trace](ActivityId row, Cells& out) { append_cell(trace, row, out); });
  add_activity_columns(maker, trace, rows);
  add({"op", CellType::kText, "string", "operator that caused it; NULL = none found"},
      [&](ActivityId row, Cells& out) {
        const OpId op = links.activity_op[row.index()];
        out.texts.push_back(op ? trace.text(trace.ops.name[op.index()]) : std::string_view());
        out.missing.push_back(!op);
      });
  add({"launch_ns", CellType::kInteger, "ns", "begin of the call that launched it; NULL = none"},
      [&](ActivityId row, Cells& out) {
        const ApiCallId call = links.activity_call[row.index()];
        out.integers.push_back(call ? trace.api_calls.start_ns[call.index()] : 0);
        out.missing.push_back(!call);
      });
  return maker.take();
}

}  // namespace

Catalog trace_catalog(const Trace& trace, const Links& links, int64_t rank) {
  Catalog catalog;
  const auto add = [&](const auto& table, const char* name, const char* meaning) {
    Maker maker = table_maker(trace, table, name, meaning, rank);
    using Rows = std::remove_cvref_t<decltype(table)>;
    if constexpr (std::is_same_v<Rows, std::remove_cvref_t<decltype(trace.collectives)>> ||
                  std::is_same_v<Rows, std::remove_cvref_t<decltype(trace.transfers)>>) {
      add_activity_columns(maker, trace, std::make_shared<const ActivityRows>(table.activity));
    }
    catalog.relations.push_back(maker.take());
  };
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) add(trace.member, #member, doc);
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
  catalog.relations.push_back(kernels_relation(trace, links, rank));
  catalog.relations.push_back(lanes_relation(trace, rank));
  catalog.relations.push_back(streams_relation(trace, rank));
  catalog.relations.push_back(devices_relation(trace, rank));
  catalog.relations.push_back(metadata_relation(trace, rank));
  add_links(catalog, trace, links, rank);
  return catalog;
}

}  // namespace assay
