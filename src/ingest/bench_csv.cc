#include "ingest/bench_csv.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ingest/bench_columns.h"

namespace assay {
namespace {

using Columns = std::array<BenchColumn, kBenchRoles>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// LLM-Inference-Bench writes avg_power in milliwatts; no accelerator draws this many watts.
constexpr double kMoreThanAnyBoardW = 5000;
constexpr double kIdentityTolerance = 1e-3;

BenchColumn& at(Columns& columns, BenchRole role) { return columns[static_cast<size_t>(role)]; }

const BenchColumn& at(const Columns& columns, BenchRole role) {
  return columns[static_cast<size_t>(role)];
}

std::string quoted_titles(const std::vector<std::string>& header) {
  std::string text;
  for (const std::string& title : header) {
    if (text.size() > 300) return text + ", ...";
    text += (text.empty() ? "'" : ", '") + title + "'";
  }
  return text;
}

Status map_by_hand(const std::vector<std::string>& header, const BenchReadOptions& options,
                   Columns& columns) {
  for (const auto& column : options.columns) {
    const std::string& name = column.first;
    const std::string& title = column.second;
    const auto role = bench_role_by_name(name);
    if (!role) {
      return Error{ErrorCode::kInvalidArgument,
                   "--map " + name + ": no such role; there are " + bench_role_names(), "", -1};
    }
    const auto found = std::find_if(header.begin(), header.end(), [&](const std::string& have) {
      return lower_trimmed(have) == lower_trimmed(title);
    });
    if (found == header.end()) {
      return Error{
          ErrorCode::kInvalidArgument,
          "--map " + name + "=" + title + ": no such column; there are " + quoted_titles(header),
          "", -1};
    }
    at(columns, *role) = {static_cast<int>(found - header.begin()), unit_of_title(*role, title)};
  }
  return Ok{};
}

// Columns by their titles where the user said nothing; of several with one meaning the first.
void map_by_title(const std::vector<std::string>& header, Columns& columns, OddityLog& log) {
  std::set<int> taken;
  for (const BenchColumn& column : columns) taken.insert(column.column);
  for (size_t i = 0; i < header.size(); ++i) {
    const int place = static_cast<int>(i);
    const auto meaning = meaning_of_title(header[i]);
    if (!meaning || taken.count(place) != 0) continue;
    BenchColumn& column = at(columns, meaning->role);
    if (column.column < 0) {
      column = {place, meaning->factor};
    } else {
      log.note("ambiguous_column", 1, false,
               "a second column with the meaning of an earlier one is not read; --map chooses");
    }
  }
}

// Tables of Vidur and of request traces carry no throughput of a configuration, whatever --map
// says.
Status refuse_other_tables(const std::vector<std::string>& header) {
  const auto has = [&](const char* title) {
    return std::any_of(header.begin(), header.end(),
                       [&](const std::string& have) { return lower_trimmed(have) == title; });
  };
  const bool operator_times = std::any_of(header.begin(), header.end(), [](const std::string& t) {
    return t.rfind("time_stats.", 0) == 0;
  });
  if (operator_times) {
    return Error{ErrorCode::kUnsupported,
                 has("collective")
                     ? "a Vidur profile of one collective: times of messages, not the throughput "
                       "of a configuration"
                     : "a Vidur profile of single operators: times per layer, not the throughput "
                       "of a configuration",
                 "", -1};
  }
  if (has("contexttokens") && has("generatedtokens")) {
    return Error{ErrorCode::kUnsupported,
                 "a trace of requests (arrival, prompt and output length): it holds no measured "
                 "throughput",
                 "", -1};
  }
  return Ok{};
}

std::optional<size_t> column_titled(const std::vector<std::string>& header, const char* wanted) {
  for (size_t i = 0; i < header.size(); ++i) {
    if (lower_trimmed(header[i]) == wanted) return i;
  }
  return std::nullopt;
}

// Which GPUs and how many sequences a row of AIConfigurator's measurements ran on: its batch size
// is that of one attention replica. Rows of disaggregated serving have two engines of different
// shape: no single batch size or device count says what they are.
bool complete_silicon_row(const std::vector<std::string>& header,
                          const std::vector<std::string>& cells, BenchRow& row) {
  double replicas = 1;
  double stages = 1;
  for (const auto& [title, value] :
       {std::pair{"attention_dp_size", &replicas}, std::pair{"pp_size", &stages}}) {
    const auto column = column_titled(header, title);
    const auto cell = column ? parse_cell(cells[*column], BenchRole::kDevices, 1) : std::nullopt;
    if (cell) *value = std::max(1.0, cell->value);
  }
  if (!std::isfinite(row.batch)) return false;
  row.batch *= replicas;
  row.devices *= replicas * stages;
  return true;
}

bool given(const Columns& columns, const BenchReadOptions& options, BenchRole role) {
  if (at(columns, role).column >= 0) return true;
  return std::any_of(options.meta.begin(), options.meta.end(),
                     [role](const auto& pair) { return bench_role_by_name(pair.first) == role; });
}

Status check_needed(const std::vector<std::string>& header, const Columns& columns,
                    const BenchReadOptions& options) {
  std::string missing;
  const auto need = [&](bool there, const char* what) {
    if (!there) missing += (missing.empty() ? "" : ", ") + std::string(what);
  };
  const bool length = given(columns, options, BenchRole::kLength);
  need(length || given(columns, options, BenchRole::kInLen), "ii (input length)");
  need(length || given(columns, options, BenchRole::kOutLen), "oo (output length)");
  need(given(columns, options, BenchRole::kBatch), "bb (batch size)");
  need(at(columns, BenchRole::kThroughput).column >= 0 ||
           at(columns, BenchRole::kOutThroughput).column >= 0 ||
           at(columns, BenchRole::kLatency).column >= 0 ||
           (at(columns, BenchRole::kTtft).column >= 0 && at(columns, BenchRole::kTpot).column >= 0),
       "throughput or latency");
  if (missing.empty()) return Ok{};
  return Error{ErrorCode::kFormat,
               "no column for " + missing +
                   "; say --map 'bb=<title>' for a column or --meta "
                   "bb=8 for what all rows share. Columns: " +
                   quoted_titles(header),
               "", -1};
}

// One record with as many cells as the header has. Surplus cells come from a comma without quotes
// in a text: they are joined where exactly one place makes every number readable again.
class RowAligner {
 public:
  RowAligner(const Columns& columns, size_t width) : width_(width), number_(width, false) {
    for (size_t i = 0; i < kBenchRoles; ++i) {
      const int place = columns[i].column;
      if (place >= 0 && !is_text_role(static_cast<BenchRole>(i))) {
        number_[static_cast<size_t>(place)] = true;
      }
    }
  }

  std::optional<std::vector<std::string>> joined(const std::vector<std::string>& cells) const {
    std::optional<std::vector<std::string>> fit;
    for (size_t place = 0; place < width_; ++place) {
      if (number_[place]) continue;
      std::vector<std::string> tried = join_at(cells, place);
      if (!numbers_readable(tried)) continue;
      if (fit) return std::nullopt;
      fit = std::move(tried);
    }
    return fit;
  }

 private:
  std::vector<std::string> join_at(const std::vector<std::string>& cells, size_t place) const {
    const size_t surplus = cells.size() - width_;
    std::vector<std::string> out(cells.begin(), cells.begin() + static_cast<long>(place));
    std::string text = cells[place];
    for (size_t i = 1; i <= surplus; ++i) text += ", " + cells[place + i];
    out.push_back(std::move(text));
    out.insert(out.end(), cells.begin() + static_cast<long>(place + surplus + 1), cells.end());
    return out;
  }

  // A text column that holds a bare number is as wrong as a number column that holds a text.
  bool numbers_readable(const std::vector<std::string>& cells) const {
    for (size_t i = 0; i < width_; ++i) {
      if (number_[i] && !parse_cell(cells[i], BenchRole::kBatch, 1)) return false;
    }
    return true;
  }

  size_t width_;
  std::vector<bool> number_;
};

BenchRow row_of(const std::vector<std::string>& cells, const Columns& columns, int64_t line,
                OddityLog& log) {
  BenchRow row;
  row.line = line;
  for (size_t i = 0; i < kBenchRoles; ++i) {
    const auto role = static_cast<BenchRole>(i);
    const BenchColumn column = columns[i];
    if (column.column < 0) continue;
    const std::string& cell = cells[static_cast<size_t>(column.column)];
    if (is_text_role(role)) {
      set_text(row, role, cell);
      continue;
    }
    const auto number = parse_cell(cell, role, column.factor);
    set_number(row, role, number ? number->value : kNan);
    if (!number && cell.empty()) {
      log.note("missing_cell", line, false, "taken as unknown");
    } else if (!number) {
      log.note("text_in_number", line, false,
               "text where a number belongs is taken as unknown, never as 0");
    } else if (number->had_unit) {
      log.note("unit_in_cell", line, false, "read with the unit in the cell");
    }
  }
  return row;
}

void read_rows(const std::vector<CsvRecord>& records, size_t header_at, const Columns& columns,
               BenchTable& table, OddityLog& log) {
  const std::vector<std::string>& header = records[header_at].cells;
  const RowAligner aligner(columns, header.size());
  for (size_t i = header_at + 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    const bool blank = std::all_of(record.cells.begin(), record.cells.end(),
                                   [](const std::string& cell) { return cell.empty(); });
    if (blank) {
      log.note("blank_line", record.line, false, "skipped");
      continue;
    }
    std::vector<std::string> cells = record.cells;
    if (cells == header) {
      log.note("repeated_header", record.line, false, "skipped");
      continue;
    }
    if (cells.size() > header.size()) {
      auto joined = aligner.joined(cells);
      log.note(joined ? "unquoted_comma" : "surplus_cells", record.line, !joined,
               joined ? "cells of a text with a comma were joined, as every number then fits"
                      : "more cells than titles and no single way to read them");
      if (!joined) continue;
      cells = std::move(*joined);
    }
    cells.resize(header.size());
    BenchRow row = row_of(cells, columns, record.line, log);
    if (table.format == "aiconfigurator" && !complete_silicon_row(header, cells, row)) {
      log.note("disaggregated", record.line, true,
               "dropped: prefill and decode ran on engines of their own shape");
      continue;
    }
    table.rows.push_back(std::move(row));
  }
}

void read_milliwatts(const std::string& title, BenchTable& table, OddityLog& log) {
  if (unit_of_title(BenchRole::kPower, title) != 1) return;
  for (BenchRow& row : table.rows) {
    if (!(row.power_w > kMoreThanAnyBoardW * std::max(1.0, row.devices))) continue;
    row.power_w *= 1e-3;
    log.note("power_in_milliwatts", row.line, false,
             "more watts than any board draws: read as milliwatts");
  }
}

bool near(double a, double b) { return std::fabs(a / b - 1) <= kIdentityTolerance; }

void check_row(BenchRow& row, OddityLog& log) {
  if (std::isnan(row.tokens_per_s) && std::isnan(row.latency_s) && std::isfinite(row.ttft_ms) &&
      std::isfinite(row.tpot_ms)) {
    row.latency_s = (row.ttft_ms + (row.out_len - 1) * row.tpot_ms) / 1000;
    log.note("latency_from_ttft_tpot", row.line, false,
             "no latency in the table: TTFT + (oo - 1) x TPOT");
  }
  const double tokens = row.in_len + row.out_len;
  const double from_latency = tokens * row.batch / row.latency_s;
  if (std::isnan(row.tokens_per_s) && std::isfinite(from_latency)) {
    row.tokens_per_s = from_latency;
    log.note("throughput_from_latency", row.line, false,
             "no throughput in the table: (ii + oo) x bb / latency");
    return;
  }
  if (std::isnan(row.tokens_per_s) && std::isfinite(row.output_tokens_per_s)) {
    row.tokens_per_s = row.output_tokens_per_s * tokens / row.out_len;
    log.note("throughput_from_output", row.line, false,
             "only output tokens were counted: scaled by (ii + oo) / oo");
    return;
  }
  if (!std::isfinite(from_latency) || !(row.tokens_per_s > 0) || row.latency_s <= 0) return;
  if (near(row.tokens_per_s, from_latency)) return;
  if (near(row.tokens_per_s, from_latency * 1e3)) {
    row.latency_s *= 1e-3;
    log.note("latency_in_milliseconds", row.line, false,
             "latency x throughput is 1000 times the tokens: latency read as milliseconds");
  } else if (near(row.tokens_per_s, from_latency / row.batch)) {
    log.note("one_sequence_identity", row.line, false,
             "throughput is that of one sequence, so the batch size is no number of sequences "
             "(llama.cpp's logical batch); kept as measured");
  } else if (near(row.tokens_per_s, row.out_len * row.batch / row.latency_s)) {
    row.output_tokens_per_s = row.tokens_per_s;
    row.tokens_per_s = from_latency;
    log.note("output_tokens_only", row.line, false,
             "throughput counts output tokens only: input tokens were added");
  } else {
    log.note("identity_failed", row.line, false,
             "throughput is not (ii + oo) x bb / latency: kept as measured, one of the three "
             "columns means something else");
  }
}

}  // namespace

void fill_and_check_throughput(BenchTable& table) {
  OddityLog log;
  const bool client = table.format == "vllm";
  for (BenchRow& row : table.rows) {
    if (!client || std::isnan(row.tokens_per_s)) check_row(row, log);
  }
  log.merge_into(table.oddities);
}

Result<BenchTable> bench_table_of_csv(const std::vector<CsvRecord>& records,
                                      const BenchReadOptions& options) {
  const auto first = std::find_if(records.begin(), records.end(),
                                  [](const CsvRecord& r) { return !r.cells.empty(); });
  if (first == records.end()) return Error{ErrorCode::kFormat, "the table is empty", "", -1};
  const std::vector<std::string>& header = first->cells;
  OddityLog log;
  Columns columns;
  ASSAY_TRY(refuse_other_tables(header));
  ASSAY_TRY(map_by_hand(header, options, columns));
  map_by_title(header, columns, log);
  ASSAY_TRY(check_needed(header, columns, options));
  BenchTable table;
  const bool argonne = std::any_of(header.begin(), header.end(), [](const std::string& title) {
    return lower_trimmed(title) == "input output length";
  });
  const bool silicon = std::any_of(header.begin(), header.end(), [](const std::string& title) {
    return lower_trimmed(title) == "silicon_ttft_ms";
  });
  table.format = argonne ? "llm-inference-bench" : silicon ? "aiconfigurator" : "csv";
  read_rows(records, static_cast<size_t>(first - records.begin()), columns, table, log);
  if (const int power = at(columns, BenchRole::kPower).column; power >= 0) {
    read_milliwatts(header[static_cast<size_t>(power)], table, log);
  }
  log.merge_into(table.oddities);
  if (table.rows.empty()) {
    return Error{ErrorCode::kFormat, "the table has a header and no rows that can be read", "", -1};
  }
  return table;
}

}  // namespace assay
