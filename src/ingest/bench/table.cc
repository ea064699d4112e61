#include "ingest/bench/table.h"

#include <algorithm>
#include <optional>

#include "base/files.h"
#include "base/utf8.h"
#include "ingest/bench/columns.h"
#include "ingest/bench/concurrency.h"
#include "ingest/bench/csv.h"
#include "ingest/bench/engine_name.h"
#include "ingest/bench/identity.h"
#include "ingest/bench/json.h"
#include "ingest/bench/llama_bench.h"
#include "ingest/bench/measurements.h"
#include "ingest/bench/optimum.h"
#include "ingest/bench/variant.h"
#include "ingest/formats.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/shape.h"

namespace assay {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Splits "a=b,c=d" at commas followed by a known role and '='.
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

Status refuse_repeated(const Pairs& pairs, const char* flag) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto role = bench_role_by_name(pairs[i].first);
    for (size_t k = 0; role && k < i; ++k) {
      if (bench_role_by_name(pairs[k].first) != role) continue;
      return Error{ErrorCode::kInvalidArgument,
                   std::string(flag) + " gives " + std::string(bench_role_name(*role)) +
                       " twice: '" + pairs[k].second + "' and '" + pairs[i].second + "'",
                   "", -1};
    }
  }
  return Ok{};
}

Result<BenchTable> read_format(const std::string& text, const std::string& path,
                               const BenchReadOptions& options) {
  if (begins_json(text)) return bench_table_of_json(text);
  if (is_utf16(text)) {
    return Error{ErrorCode::kUnsupported,
                 "UTF-16 text: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)", "", -1};
  }
  if (is_llama_markdown(text)) {
    return Error{
        ErrorCode::kUnsupported,
        "the Markdown of llama-bench is rounded and incomplete: run it with -o json or -o csv",
        "", -1};
  }
  if (text.find("MLPerf Results Summary") != std::string::npos) {
    return Error{ErrorCode::kUnsupported,
                 "an MLPerf summary lacks GPU, lengths and concurrency. Its samples are not "
                 "tokens: use a CSV (hardware, n, model, ii, oo, bb, requests_per_second)",
                 "", -1};
  }
  const char delimiter = guess_delimiter(text);
  ASSAY_TRY_ASSIGN(std::vector<CsvRecord> records, parse_csv_records(text, path, true, delimiter));
  if (is_llama_csv(records)) return bench_table_of_llama_csv(records);
  if (is_optimum_csv(records)) return bench_table_of_optimum_csv(records);
  if (is_genai_perf_csv(records)) return bench_table_of_genai_perf_csv(records);
  return bench_table_of_csv(std::move(records), delimiter, options);
}

bool is_plain_text(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    constexpr char32_t kReplacement = 0xFFFD;
    if (point.value == kReplacement || is_control(point.value)) return false;
    at += point.bytes;
  }
  return true;
}

// Counts rows without names that every comparison needs and most result files lack.
void note_unknown_names(BenchTable& table) {
  OddityLog log;
  for (const BenchRow& row : table.rows) {
    if (row.hardware.empty()) {
      log.note("hardware_unknown", row.line, false,
               "no GPU is named: --constants hardware=... and n=... say which and how many");
    }
    for (const std::string& name : {row.hardware, row.framework, row.model, row.variant.text()}) {
      if (is_plain_text(name)) continue;
      log.warn("odd_name", row.line, false,
               "a name has control characters or invalid UTF-8: kept as a distinct name that "
               "matches no other row or specification, and shown with replacement marks");
    }
  }
  log.merge_into(table.oddities);
}

void note_speculation(BenchTable& table) {
  OddityLog log;
  for (const BenchRow& row : table.rows) {
    if (!is_speculative(row.variant)) continue;
    log.note("speculative_decoding", row.line, false,
             "tokens were guessed ahead: a variant of its own, not compared with plain runs");
  }
  log.merge_into(table.oddities);
}

bool gives_batch(const BenchReadOptions& options) {
  return std::any_of(options.meta.begin(), options.meta.end(), [](const auto& pair) {
    return bench_role_by_name(pair.first) == BenchRole::kBatch;
  });
}

bool runs_by_client(const BenchTable& table) {
  return table.format == "vllm" || table.format == "sglang" || table.format == "genai-perf" ||
         table.format == "aiperf" || table.format == "inferencemax";
}

// Error text, with the reason, for a table with all rows dropped.
std::string no_row_left(const BenchTable& table) {
  std::string text = "no row can be used";
  for (const BenchOddity& oddity : table.oddities) {
    if (oddity.dropped > 0) text += "; " + oddity.code + ": " + oddity.effect;
  }
  return text;
}

// A last line without an end shows a hand-written or truncated table; its last number may lack
// digits.
void note_open_end(const std::string& text, BenchTable& table) {
  if (begins_json(text) || table.rows.empty() || text.back() == '\n') return;
  table.oddities.push_back({.code = "last_line_open",
                            .rows = 1,
                            .first_line = table.rows.back().line,
                            .effect = "the last line has no line end: if the file was cut off "
                                      "there, its last number may be short"});
}

Result<BenchTable> read_any(const std::string& text, const std::string& path,
                            const BenchReadOptions& options) {
  ASSAY_TRY_ASSIGN(BenchTable table, read_format(text, path, options));
  ASSAY_TRY(apply_meta(options.meta, table));
  const bool runs_of_batches = table.format == "csv" || table.format == "llm-inference-bench" ||
                               table.format == "aiconfigurator" || table.format == "vllm";
  if (gives_batch(options)) {
    // A concurrency given by the user holds for any request rate.
    for (BenchRow& row : table.rows) row.request_rate = std::numeric_limits<double>::quiet_NaN();
  }
  refuse_unstreamed(table);
  if (runs_by_client(table)) {
    settle_concurrency(table);
    if (table.rows.empty()) return Error{ErrorCode::kFormat, no_row_left(table), "", -1};
  }
  if (runs_of_batches) fill_and_check_throughput(table);
  note_unknown_names(table);
  EngineSpellings().unify(table);
  note_speculation(table);
  for (BenchRow& row : table.rows) settle_precision(row);
  settle_measurements(table);
  note_open_end(text, table);
  return table;
}

struct Listed {
  std::string path;
  bool by_folder = false;  // found in a folder, not named as a result
};

Result<std::vector<Listed>> listed_files(const std::vector<std::string>& paths) {
  std::vector<Listed> files;
  for (const std::string& path : paths) {
    if (path == "-" || !is_folder(path)) {
      files.push_back({path, false});
      continue;
    }
    ASSAY_TRY_ASSIGN(const std::vector<std::string> inside, files_in(path));
    if (inside.empty()) return Error{ErrorCode::kIo, "this folder has no files", path, -1};
    for (const std::string& file : inside) files.push_back({file, true});
  }
  return files;
}

void merge_oddities(const std::vector<BenchOddity>& from, const std::string& file,
                    std::vector<BenchOddity>& to) {
  const std::string name = file_name(file);
  for (const BenchOddity& oddity : from) {
    const auto known = std::find_if(to.begin(), to.end(),
                                    [&](const BenchOddity& o) { return o.code == oddity.code; });
    if (known != to.end()) {
      known->rows += oddity.rows;
      known->dropped += oddity.dropped;
      known->weight = std::max(known->weight, oddity.weight);
      continue;
    }
    to.push_back(oddity);
    to.back().first_line = 0;
    to.back().effect +=
        " (first: " + name +
        (oddity.first_line > 0 ? ", line " + std::to_string(oddity.first_line) : "") + ")";
  }
}

// Line numbers are dropped, because rows come from several files.
void append(BenchTable&& from, const std::string& file, BenchTable& to) {
  if (to.rows.empty() && to.format.empty()) to.format = from.format;
  if (to.format != from.format) to.format = "several";
  for (BenchRow& row : from.rows) {
    row.line = 0;
    to.rows.push_back(std::move(row));
  }
  merge_oddities(from.oddities, file, to.oddities);
}

}  // namespace

Result<BenchTable> read_bench_tables(const std::vector<std::string>& paths,
                                     const BenchReadOptions& options) {
  ASSAY_TRY_ASSIGN(const std::vector<Listed> files, listed_files(paths));
  if (files.size() == 1) return read_bench_table(files.front().path, options);
  BenchTable all;
  std::vector<BenchOddity> skipped;
  std::optional<Error> first_problem;
  for (const Listed& file : files) {
    auto table = read_bench_table(file.path, options);
    if (table) {
      append(std::move(*table), file.path, all);
      continue;
    }
    if (!file.by_folder) return table.take_error();
    merge_oddities(
        {{"file_skipped", 1, 0, 0, "no result of a benchmark: " + table.error().message}},
        file.path, skipped);
    if (!first_problem) first_problem = table.take_error();
  }
  if (all.rows.empty() && first_problem) return *std::move(first_problem);
  EngineSpellings().unify(all);
  settle_measurements(all);
  all.oddities.insert(all.oddities.end(), skipped.begin(), skipped.end());
  all.source = paths.front() + " and others: " + std::to_string(files.size()) + " files";
  if (paths.size() == 1)
    all.source = paths.front() + ": " + std::to_string(files.size()) + " files";
  return all;
}

Result<BenchReadOptions> parse_bench_options(const std::vector<std::string>& maps,
                                             const std::vector<std::string>& metas) {
  BenchReadOptions options;
  ASSAY_TRY_ASSIGN(options.columns, parse_pairs(maps, "--columns"));
  ASSAY_TRY_ASSIGN(options.meta, parse_pairs(metas, "--constants"));
  ASSAY_TRY(refuse_repeated(options.columns, "--columns"));
  ASSAY_TRY(refuse_repeated(options.meta, "--constants"));
  return options;
}

Result<BenchTable> read_bench_table(const std::string& path, const BenchReadOptions& options) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  return bench_table_of_text(text, path, options);
}

bool looks_like_bench(const std::string& head) {
  if (begins_json(head)) return looks_like_result(head);
  if (is_utf16(head)) return false;
  const size_t first = head.find_first_not_of("\r\n");
  if (first == std::string::npos) return false;
  const std::string line = head.substr(first, head.find('\n', first) - first);
  const auto records = parse_csv_records(line, "", false, guess_delimiter(line));
  if (!records || records->empty()) return false;
  return is_genai_perf_csv(*records) || is_llama_csv(*records) || is_optimum_csv(*records) ||
         names_throughput(records->front().cells);
}

Result<BenchTable> bench_table_of_text(const std::string& text, const std::string& path,
                                       const BenchReadOptions& options) {
  auto table = read_any(text, path, options);
  if (!table) {
    return explained(table.take_error(), path, FileFamily::kBench);
  }
  table->source = path;
  return table;
}

}  // namespace assay
