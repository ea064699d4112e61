#include "ingest/bench_table.h"

#include "ingest/bench_columns.h"
#include "ingest/bench_csv.h"
#include "ingest/bench_json.h"
#include "ingest/csv_records.h"
#include "ingest/csv_table.h"

namespace assay {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Splits "a=b,c=d" at commas that a known role and '=' follow.
Result<Pairs> parse_pairs(const std::vector<std::string>& arguments, const char* flag) {
  Pairs pairs;
  for (const std::string& argument : arguments) {
    size_t begin = 0;
    while (begin <= argument.size()) {
      const size_t equals = argument.find('=', begin);
      if (equals == std::string::npos || equals == begin) {
        return Error{ErrorCode::kInvalidArgument,
                     std::string(flag) + " " + argument +
                         ": write it as role=value, with role one "
                         "of " +
                         bench_role_names(),
                     "", -1};
      }
      size_t end = argument.find(',', equals);
      while (end != std::string::npos) {
        const size_t next = argument.find('=', end);
        const bool role_follows = next != std::string::npos &&
                                  bench_role_by_name(argument.substr(end + 1, next - end - 1));
        if (role_follows) break;
        end = argument.find(',', end + 1);
      }
      const size_t stop = std::min(end, argument.size());
      pairs.emplace_back(argument.substr(begin, equals - begin),
                         argument.substr(equals + 1, stop - equals - 1));
      begin = stop + 1;
    }
  }
  return pairs;
}

Result<BenchTable> read_format(const std::string& path, const BenchReadOptions& options) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  if (looks_like_json(text)) return bench_table_of_json(text);
  ASSAY_TRY_ASSIGN(const std::vector<CsvRecord> records, parse_csv_records(text, path, true));
  if (is_genai_perf_csv(records)) return bench_table_of_genai_perf_csv(records);
  return bench_table_of_csv(records, options);
}

// What most result files do not tell and every comparison needs.
void note_unknown_names(BenchTable& table) {
  OddityLog log;
  for (const BenchRow& row : table.rows) {
    if (row.hardware.empty()) {
      log.note("hardware_unknown", row.line, false,
               "no GPU is named: --meta hardware=... and n=... say which and how many");
    }
  }
  log.merge_into(table.oddities);
}

Result<BenchTable> read_any(const std::string& path, const BenchReadOptions& options) {
  ASSAY_TRY_ASSIGN(BenchTable table, read_format(path, options));
  ASSAY_TRY(apply_meta(options.meta, table));
  const bool runs_of_batches = table.format == "csv" || table.format == "llm-inference-bench" ||
                               table.format == "aiconfigurator" || table.format == "vllm";
  if (runs_of_batches) fill_and_check_throughput(table);
  note_unknown_names(table);
  return table;
}

}  // namespace

Result<BenchReadOptions> parse_bench_options(const std::vector<std::string>& maps,
                                             const std::vector<std::string>& metas) {
  BenchReadOptions options;
  ASSAY_TRY_ASSIGN(options.columns, parse_pairs(maps, "--map"));
  ASSAY_TRY_ASSIGN(options.meta, parse_pairs(metas, "--meta"));
  return options;
}

Result<BenchTable> read_bench_table(const std::string& path, const BenchReadOptions& options) {
  auto table = read_any(path, options);
  if (!table) {
    Error error = table.take_error();
    error.file = path;
    return error;
  }
  table->source = path;
  return table;
}

}  // namespace assay
