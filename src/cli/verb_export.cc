#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "answers/tables.h"
#include "base/export_file.h"
#include "base/export_folder.h"
#include "base/files.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/output_format.h"
#include "cli/verbs.h"
#include "ingest/load.h"
#include "query/columns_file.h"
#include "query/document_relations.h"
#include "query/duckdb.h"
#include "query/parquet_file.h"
#include "query/table_file.h"
#include "query/workbook.h"

namespace assay {
namespace {

struct ExportVerb {
  CommonOptions common;
  ReportRequest request;
  std::string format;
  std::string output;
};

// Writes all tables of one trace into a folder.
Status write_input(const Catalog& catalog, const std::string& format, const std::string& folder) {
  ASSAY_TRY(make_folders(folder));
  std::unique_ptr<Database> database;
  if (format == "parquet") {
    ASSAY_TRY_ASSIGN(database, Database::open(catalog, {.allow_files = true}));
  }
  for (const Relation& relation : catalog.relations) {
    const std::string path = joined(folder, relation.name + "." + format);
    if (database) {
      ASSAY_TRY(write_parquet_file(*database, relation, false, path));
    } else if (format == "columns") {
      ASSAY_TRY(write_columns_file(relation, relation.parts[0], path));
    } else {
      ASSAY_TRY(write_table_file(relation, relation.parts[0],
                                 format == "csv" ? TableFormat::kCsv : TableFormat::kJsonLines,
                                 path));
    }
  }
  return Ok{};
}

// Renames the inputs' folders; their names are known only after all inputs were read.
Status name_folders(const std::string& place, const std::vector<std::optional<int64_t>>& told) {
  const RankNumbers ranks(told);
  for (size_t i = 0; i < told.size(); ++i) {
    const std::string target = joined(place, "rank=" + std::to_string(ranks.of(i)));
    ASSAY_TRY(rename_file(joined(place, std::to_string(i)), target));
  }
  return Ok{};
}

// Reads one trace at a time, so memory use is that of the largest one.
Status export_folder(const ExportVerb& verb, const std::string& format, bool& data_lost) {
  if (format == "parquet") ASSAY_TRY(Database::open(Catalog{}, {}));
  ASSAY_TRY_ASSIGN(ExportFolder folder, ExportFolder::open(verb.output));
  std::vector<std::optional<int64_t>> told;
  const auto write = [&](const LoadedTrace& loaded, const Catalog& catalog) -> Status {
    data_lost |= loaded.trace.log.data_lost();
    ASSAY_TRY(write_input(catalog, format, folder.place() + "/" + std::to_string(told.size())));
    told.push_back(loaded.trace.distributed.rank);
    return Ok{};
  };
  ASSAY_TRY(each_catalog(verb.request, write));
  ASSAY_TRY(name_folders(folder.place(), told));
  return folder.finish();
}

// Reads all traces: every table becomes one sheet.
Status export_workbook(const ExportVerb& verb, bool& data_lost) {
  ASSAY_TRY(check_workbooks());
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(verb.common.inputs));
  ASSAY_TRY(check_export(verb.output, files));
  ASSAY_TRY_ASSIGN(QueryInputs inputs, QueryInputs::load(verb.common));
  data_lost = inputs.data_lost();
  ASSAY_TRY_ASSIGN(const Catalog* catalog, inputs.everything(verb.request));
  const Document report = inputs.report();
  WorkbookContent content{.head = report};
  // Put the results of the analyses before the tables of the trace.
  Catalog tables = *catalog;
  const auto of_traces = static_cast<std::ptrdiff_t>(inputs.trace_tables().relations.size());
  std::rotate(tables.relations.begin(), tables.relations.begin() + of_traces,
              tables.relations.end());
  if (files.size() == 1) {
    content.whole = std::move(tables);
  } else {
    content.whole = document_catalog(report);
    content.by_input = std::move(tables);
    content.input_column = "rank";
  }
  return export_file_with(verb.output, [&content](const std::string& temporary) {
    return write_workbook(content, temporary);
  });
}

Status export_traces(const ExportVerb& verb, bool& data_lost) {
  const bool workbook_name = output_extension(verb.output) == ".xlsx";
  std::string format = verb.format;
  if (format.empty()) format = workbook_name ? "xlsx" : "parquet";
  if (format == "xlsx") return export_workbook(verb, data_lost);
  if (workbook_name) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--format {} makes a folder, and the name is a workbook's", format),
                 verb.output, -1};
  }
  return export_folder(verb, format, data_lost);
}

int run(const ExportVerb& verb) {
  bool data_lost = false;
  if (Status status = export_traces(verb, data_lost); !status) return fail(status.error());
  return exit_code_of_loss(data_lost, verb.common, "table import_log");
}

}  // namespace

void add_export_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<ExportVerb>();
  Verb& sub =
      app.verb("export", "Write the tables of a trace and of its analyses as files");
  sub.example("assay export trace.json.gz -o tables", "Parquet");
  sub.example("assay export trace.json.gz -o tables.xlsx", "a workbook");
  sub.input("traces", verb->common.inputs, "traces, as the other verbs take them").required();
  sub.option("-o,--output", verb->output, "the folder to make; the file for xlsx")
      .called("PATH")
      .required();
  sub.option(
         "--format", verb->format,
         "parquet (needs DuckDB), csv, jsonl, columns (to be mapped: what `import assay` reads) "
         "or xlsx; without it xlsx where the output's name ends so, else parquet")
      .one_of({"parquet", "csv", "jsonl", "columns", "xlsx"});
  add_reading_options(sub, verb->common);
  sub.option("--floor", verb->request.floor,
             "launch time of an empty kernel (see assay launch --help)")
      .called("FLOOR");
  sub.run([verb, &exit_code] {
    verb->request.traces = verb->common;
    exit_code = run(*verb);
  });
}

}  // namespace assay
