#include "answers/job/tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "answers/job/second_reading.h"
#include "base/files.h"
#include "query/duckdb.h"
#include "query/parquet_file.h"
#include "query/relation.h"

namespace assay {
namespace {

// Complete records in memory at once. All files are read once per batch of this size.
constexpr size_t kRanksAtOnce = 8192;

// The rows of one table, with columns as functions of a row.
template <typename Row>
class RowTable {
 public:
  RowTable(std::string name, int64_t rank, std::vector<Row> rows)
      : rows_(std::make_shared<const std::vector<Row>>(std::move(rows))) {
    relation_.name = std::move(name);
    relation_.parts.push_back({rank, rows_->size(), {}});
  }

  // cell: returns an integer, a real, a text owned by the row, or an optional number.
  template <typename Cell>
  RowTable& add(const std::string& name, Cell cell) {
    using Told = std::decay_t<std::invoke_result_t<Cell, const Row&>>;
    relation_.columns.push_back({.name = name, .type = type_of<Told>()});
    relation_.parts[0].columns.push_back(
        [rows = rows_, cell](size_t first, size_t count, Cells& out) {
          for (size_t i = first; i < first + count; ++i) append(std::invoke(cell, (*rows)[i]), out);
        });
    return *this;
  }
  Relation relation() && { return std::move(relation_); }

 private:
  template <typename Told>
  static constexpr CellType type_of() {
    if constexpr (std::is_same_v<Told, std::string_view>) return CellType::kText;
    if constexpr (std::is_same_v<Told, bool>) return CellType::kBool;
    if constexpr (std::is_same_v<Told, std::optional<double>>) return CellType::kReal;
    if constexpr (std::is_same_v<Told, uint64_t>) return CellType::kUnsigned;
    return CellType::kInteger;
  }
  static void append(std::string_view text, Cells& out) { out.texts.push_back(text); }
  static void append(bool value, Cells& out) { out.bools.push_back(value ? 1 : 0); }
  static void append(int64_t value, Cells& out) { out.integers.push_back(value); }
  static void append(uint64_t value, Cells& out) { out.unsigneds.push_back(value); }
  static void append(std::optional<int64_t> value, Cells& out) {
    out.integers.push_back(value.value_or(0));
    out.missing.push_back(value ? 0 : 1);
  }
  static void append(std::optional<double> value, Cells& out) {
    out.reals.push_back(value.value_or(0));
    out.missing.push_back(value ? 0 : 1);
  }

  std::shared_ptr<const std::vector<Row>> rows_;
  Relation relation_;
};

struct WholeRecord {
  uint32_t place = 0;  // index in FleetJob::ranks
  int64_t rank = 0;
  RankRecord record;
};

// A table with one row per element of a list in a record.
template <typename Item>
RowTable<const Item*> table_of(const std::string& name, int64_t rank,
                               const std::vector<Item>& items) {
  std::vector<const Item*> rows;
  for (const Item& item : items) rows.push_back(&item);
  return {name, rank, std::move(rows)};
}

std::optional<int64_t> told(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}
int64_t whole(uint64_t count) { return static_cast<int64_t>(count); }

Relation ranks_table(const FleetFindings& found, const WholeRecord& one) {
  using Row = const WholeRecord*;
  RowTable<Row> table("ranks", one.rank, {&one});
  const auto real = [](float value) -> std::optional<double> {
    if (std::isnan(value)) return std::nullopt;
    return static_cast<double>(value);
  };
  table.add("file", [](Row row) { return std::string_view(row->record.stamp.path); })
      .add("host", [](Row row) { return std::string_view(row->record.host); })
      .add("world_size", [](Row row) { return row->record.world_size; })
      .add("devices", [](Row row) { return whole(row->record.device_count); })
      .add("device",
           [](Row row) {
             const auto& names = row->record.devices;
             return names.empty() ? std::string_view() : std::string_view(names.front());
           })
      .add("data_lost", [](Row row) { return row->record.data_lost; })
      .add("collectives_cut", [](Row row) { return whole(row->record.cuts.arrivals); })
      .add("operations_cut", [](Row row) { return whole(row->record.cuts.operations); })
      .add("kernels_cut", [](Row row) { return whole(row->record.cuts.kernels); })
      .add("window_ns", [](Row row) { return row->record.causes.window_ns; })
      .add("above_usual",
           [&found, real](Row row) { return real(found.solution.scores[row->place]); })
      .add("peers", [&found](Row row) { return int64_t{found.solution.peers[row->place]}; })
      .add("excess_ns", [&found](Row row) { return found.rank_excess_ns(row->place); });
  return std::move(table).relation();
}

struct StateTime {
  std::string_view state;
  int64_t ns = 0;
};

Relation parts_of_rank(const WholeRecord& one) {
  const RecordCauses& causes = one.record.causes;
  std::vector<StateTime> rows = {{"compute", causes.compute_ns},
                                {"collective", causes.collective_ns},
                                {"copy", causes.copy_ns}};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    rows.push_back({flow_cause_name(static_cast<FlowCause>(c)), causes.idle_ns[c]});
  }
  RowTable<StateTime> table("parts", one.rank, std::move(rows));
  table.add("state", &StateTime::state).add("ns", &StateTime::ns);
  return std::move(table).relation();
}

Relation iterations_of_rank(const WholeRecord& one) {
  using Row = const RecordIteration*;
  auto table = table_of("iterations", one.rank, one.record.iterations);
  table.add("iter", [](Row row) { return int64_t{row->number}; })
      .add("start_ns", [](Row row) { return row->start_ns; })
      .add("span_ns", [](Row row) { return row->span_ns; })
      .add("kernel_ns", [](Row row) { return row->kernel_ns; })
      .add("launch_ns", [](Row row) { return row->launch_ns; })
      .add("comm_wait_ns", [](Row row) { return row->comm_wait_ns; })
      .add("copy_ns", [](Row row) { return row->copy_ns; })
      .add("exposed_comm_ns", [](Row row) { return row->exposed_comm_ns; })
      .add("tokens", [](Row row) { return told(row->tokens); })
      .add("collectives", [](Row row) { return whole(row->collectives); });
  return std::move(table).relation();
}

Relation collectives_of_rank(const WholeRecord& one) {
  using Row = const RecordArrival*;
  const auto group = [&one](Row row) -> const RecordGroup& {
    return one.record.groups[row->group];
  };
  auto table = table_of("collectives", one.rank, one.record.arrivals);
  table
      .add("iter",
           [](Row row) -> std::optional<int64_t> {
             if (row->iteration == kNoRecordIteration) return std::nullopt;
             return row->iteration;
           })
      .add("collective", [group](Row row) { return std::string_view(group(row).kind); })
      .add("process_group", [group](Row row) { return std::string_view(group(row).name); })
      .add("group_size", [group](Row row) { return told(group(row).size); })
      .add("seq", [](Row row) { return told(row->seq); })
      .add("start_ns", [](Row row) { return row->start_ns; })
      .add("end_ns", [](Row row) { return row->end_ns; })
      .add("work_ns", [](Row row) { return told(row->work_ns); });
  return std::move(table).relation();
}

Relation groups_of_rank(const WholeRecord& one) {
  using Row = const RecordGroup*;
  auto table = table_of("groups", one.rank, one.record.groups);
  table.add("process_group", [](Row row) { return std::string_view(row->name); })
      .add("collective", [](Row row) { return std::string_view(row->kind); })
      .add("group_size", [](Row row) { return told(row->size); })
      .add("members", [](Row row) { return std::string_view(row->members); })
      .add("waits", [](Row row) { return row->waits; });
  return std::move(table).relation();
}

Relation operations_of_rank(const WholeRecord& one) {
  using Row = const RecordOperation*;
  auto table = table_of("operations", one.rank, one.record.operations);
  table.add("name", [](Row row) { return std::string_view(row->name); })
      .add("kernels", [](Row row) { return whole(row->kernels); })
      .add("kernel_ns", [](Row row) { return row->kernel_ns; })
      .add("launch_ns", [](Row row) { return row->launch_ns; })
      .add("comm_wait_ns", [](Row row) { return row->comm_wait_ns; })
      .add("copy_ns", [](Row row) { return row->copy_ns; })
      .add("p50_ns", [](Row row) { return row->durations.quantile(0.5); })
      .add("p95_ns", [](Row row) { return row->durations.quantile(0.95); });
  return std::move(table).relation();
}

Relation kernels_of_rank(const WholeRecord& one) {
  using Row = const RecordKernel*;
  auto table = table_of("kernels", one.rank, one.record.kernels);
  table.add("name", [](Row row) { return std::string_view(row->name); })
      .add("name_hash", [](Row row) { return row->hash; })
      .add("count", [](Row row) { return whole(row->count); })
      .add("dur_ns", [](Row row) { return row->dur_ns; })
      .add("p50_ns", [](Row row) { return row->durations.quantile(0.5); })
      .add("p95_ns", [](Row row) { return row->durations.quantile(0.95); });
  return std::move(table).relation();
}

Relation notes_of_rank(const WholeRecord& one) {
  using Row = const RecordNote*;
  auto table = table_of("notes", one.rank, one.record.notes);
  table.add("what", [](Row row) { return std::string_view(row->what); }).add("count", [](Row row) {
    return whole(row->count);
  });
  return std::move(table).relation();
}

class TableWriter {
 public:
  TableWriter(const FleetJob& job, const FleetFindings& found, std::string folder)
      : job_(job),
        found_(found),
        folder_(std::move(folder)),
        buckets_(job.ranks.size() > kMostRankFolders) {}

  // The folder that contains a rank's rows.
  std::string place_of(int64_t rank) const {
    return buckets_ ? "bucket=" + std::to_string(rank / kRanksOfBucket)
                    : "rank=" + std::to_string(rank);
  }

  // records: all ranks of one folder, sorted by number.
  Status write(const std::vector<WholeRecord>& records) {
    Catalog catalog;
    for (const WholeRecord& one : records) {
      Catalog own;
      own.relations = {ranks_table(found_, one), parts_of_rank(one),  iterations_of_rank(one),
                       collectives_of_rank(one),       groups_of_rank(one), operations_of_rank(one),
                       kernels_of_rank(one),           notes_of_rank(one)};
      catalog.merge(std::move(own));
    }
    ASSAY_TRY_ASSIGN(const std::unique_ptr<Database> database,
                     Database::open(catalog, {.allow_files = true}));
    const std::string folder = joined(folder_, place_of(records.front().rank));
    ASSAY_TRY(make_folders(folder));
    for (const Relation& relation : catalog.relations) {
      ASSAY_TRY(write_parquet_file(*database, relation, buckets_,
                                   joined(folder, relation.name + ".parquet")));
    }
    return Ok{};
  }

 private:
  const FleetJob& job_;
  const FleetFindings& found_;
  std::string folder_;
  bool buckets_;
};

// Copies of the complete records of ranks [first, end).
Result<std::vector<std::string>> payloads_of(const FleetJob& job,
                                             const std::vector<std::string>& files, size_t first,
                                             size_t end) {
  std::vector<std::string> payloads(end - first);
  ASSAY_TRY(each_used_record(job, files, [&](const UsedRecord& used) {
    if (used.rank >= first && used.rank < end) payloads[used.rank - first] = used.found.payload;
  }));
  return payloads;
}

}  // namespace

Result<ExportFolder> open_fleet_tables(const std::string& folder) {
  ASSAY_TRY(Database::open(Catalog{}, {}));
  return ExportFolder::open(folder);
}

Status write_fleet_tables(const FleetJob& job, const FleetFindings& found,
                          const std::vector<std::string>& files, ExportFolder& folder) {
  TableWriter writer(job, found, folder.place());
  size_t first = 0;
  std::vector<std::string> payloads;
  std::vector<WholeRecord> records;
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    if (r == first + payloads.size()) {
      first = r;
      ASSAY_TRY_ASSIGN(payloads, payloads_of(job, files, first,
                                             std::min(first + kRanksAtOnce, job.ranks.size())));
    }
    const FleetRank& rank = job.ranks[r];
    if (!records.empty() && writer.place_of(records.back().rank) != writer.place_of(rank.number)) {
      ASSAY_TRY(writer.write(records));
      records.clear();
    }
    ASSAY_TRY_ASSIGN(RankRecord record, read_record({.payload = payloads[r - first]}));
    record.stamp.path = rank.path;
    records.push_back({r, rank.number, std::move(record)});
  }
  ASSAY_TRY(writer.write(records));
  return folder.finish();
}

}  // namespace assay
