#include "ingest/bench_table.h"

#include "ingest/bench_columns.h"
#include "ingest/bench_csv.h"
#include "ingest/csv_records.h"

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

Result<BenchTable> read_any(const std::string& path, const BenchReadOptions& options) {
  ASSAY_TRY_ASSIGN(const std::vector<CsvRecord> records, read_csv_records(path, true));
  ASSAY_TRY_ASSIGN(BenchTable table, bench_table_of_csv(records, options));
  ASSAY_TRY(apply_meta(options.meta, table));
  check_throughput_identity(table);
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
