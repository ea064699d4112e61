#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/common.h"
#include "cli/query_inputs.h"
#include "cli/verbs.h"
#include "ingest/load.h"
#include "query/document_relations.h"
#include "query/duckdb.h"
#include "query/table_file.h"
#include "query/trace_relations.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct ExportVerb {
  CommonOptions common;
  ReportRequest request;
  std::string format = "parquet";
  std::string output;
};

// A folder that gets its name when everything is in it. Without finish() nothing is left.
class OutputFolder {
 public:
  static Result<OutputFolder> open(const std::string& path) {
    std::error_code failed;
    if (fs::exists(path, failed) &&
        !(fs::is_directory(path, failed) && fs::is_empty(path, failed))) {
      return Error{ErrorCode::kInvalidArgument,
                   "exists and is no empty folder: an export mixes with nothing; name another one",
                   path, -1};
    }
    std::string target = path;
    while (target.size() > 1 && target.back() == '/') target.pop_back();
    OutputFolder folder(target, target + ".tmp-" + std::to_string(::getpid()));
    if (!fs::create_directories(folder.temporary_, failed)) {
      return Error{ErrorCode::kIo, "cannot create: " + failed.message(), path, -1};
    }
    return folder;
  }
  OutputFolder(OutputFolder&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, "")) {}
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  }

  const std::string& place() const { return temporary_; }
  Status finish() {
    std::error_code failed;
    fs::rename(temporary_, path_, failed);
    if (failed) return Error{ErrorCode::kIo, "cannot write: " + failed.message(), path_, -1};
    temporary_.clear();
    return Ok{};
  }

 private:
  OutputFolder(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string path_;
  std::string temporary_;
};

Status write_parquet(Database& database, const Relation& relation, const std::string& path) {
  std::string columns;
  for (const RelationColumn& column : relation.columns) {
    if (!columns.empty()) columns += ", ";
    columns += sql_identifier(column.name);
  }
  return execute(database, "COPY (SELECT " + columns + " FROM " + sql_identifier(relation.name) +
                               ") TO " + sql_text(path) + " (FORMAT parquet, COMPRESSION zstd)");
}

// All tables of one trace into one folder.
Status write_rank(const Catalog& catalog, const std::string& format, const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{ErrorCode::kIo, "cannot create: " + failed.message(), folder, -1};
  std::unique_ptr<Database> database;
  if (format == "parquet") {
    ASSAY_TRY_ASSIGN(database, Database::open(catalog, {.allow_files = true}));
  }
  for (const Relation& relation : catalog.relations) {
    const std::string path = (fs::path(folder) / (relation.name + "." + format)).string();
    if (database) {
      ASSAY_TRY(write_parquet(*database, relation, path));
    } else {
      ASSAY_TRY(write_table_file(relation, relation.parts[0],
                                 format == "csv" ? TableFormat::kCsv : TableFormat::kJsonLines,
                                 path));
    }
  }
  return Ok{};
}

// The numbers that the folders are called after, from a first look at every trace.
Result<RankNumbers> number_ranks(const std::vector<std::string>& files, const ExportVerb& verb) {
  std::vector<std::optional<int64_t>> told;
  for (const std::string& file : files) {
    if (files.size() == 1) {
      told.emplace_back(std::nullopt);
      break;
    }
    ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(file, verb.common));
    told.push_back(loaded.trace.distributed.rank);
  }
  return RankNumbers(told);
}

// One trace at a time: memory is that of the largest one.
Status export_traces(const ExportVerb& verb, bool& data_lost) {
  if (verb.format == "parquet") ASSAY_TRY(Database::open(Catalog{}, {}));
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(verb.common.inputs));
  ASSAY_TRY_ASSIGN(OutputFolder folder, OutputFolder::open(verb.output));
  ASSAY_TRY_ASSIGN(const RankNumbers ranks, number_ranks(files, verb));
  ReportRequest request = verb.request;
  request.everything = true;
  for (size_t i = 0; i < files.size(); ++i) {
    ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(files[i], verb.common));
    const auto& told = loaded.trace.distributed.rank;
    const int64_t rank = files.size() == 1 ? told.value_or(0) : ranks.of(i);
    Catalog catalog = trace_catalog(loaded.trace, loaded.links, rank);
    ASSAY_TRY_ASSIGN(const Part part, report_part(request, loaded));
    catalog.merge(part_catalog(part, rank, catalog));
    ASSAY_TRY(write_rank(catalog, verb.format, folder.place() + "/rank=" + std::to_string(rank)));
    data_lost |= loaded.trace.log.data_lost();
  }
  return folder.finish();
}

int run(const ExportVerb& verb) {
  bool data_lost = false;
  if (Status status = export_traces(verb, data_lost); !status) return fail(status.error());
  if (data_lost && verb.common.strict) {
    fmt::print(stderr, "assay: data was lost on import (table import_log); --strict\n");
    return kExitDataLost;
  }
  return kExitFine;
}

}  // namespace

void add_export_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<ExportVerb>();
  CLI::App* sub = app.add_subcommand(
      "export", "Write the tables of a trace, and what the rooms say of it, as files");
  sub->add_option("traces", verb->common.inputs, "traces, as the other verbs take them")
      ->required();
  sub->add_option("-o,--output", verb->output, "the folder to make")->type_name("DIR")->required();
  sub->add_option("--format", verb->format, "parquet (needs DuckDB), csv or jsonl")
      ->check(CLI::IsMember({"parquet", "csv", "jsonl"}))
      ->capture_default_str();
  sub->add_option("--threads", verb->common.threads, "threads for reading; 0 = all processors")
      ->check(CLI::Range(0, 1024));
  sub->add_flag("--allow-truncated", verb->common.allow_truncated,
                "read what lies before the cut of a truncated file instead of refusing it");
  sub->add_flag("--strict", verb->common.strict, "leave with 3 when data was lost on import");
  sub->add_option("--floor", verb->request.floor,
                  "launch time of an empty kernel (see assay launch --help)");
  sub->callback([verb, &exit_code] {
    verb->common.keep_op_inputs = true;
    exit_code = run(*verb);
  });
}

}  // namespace assay
