#include "ingest/bench/csv.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/numbers.h"
#include "ingest/bench/columns.h"
#include "ingest/bench/silicon.h"
#include "ingest/bench/variant.h"

namespace assay {
namespace {

using Columns = std::array<BenchColumn, kBenchRoles>;

// LLM-Inference-Bench writes avg_power in milliwatts; no accelerator draws this many watts.
constexpr double kMoreThanAnyBoardW = 5000;
// Nearly all published runs are faster than this.
constexpr double kSlowestTokenS = 1;
constexpr double kLongestRunS = 3600;

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
                   "--columns " + name + ": no such role; there are " + bench_role_names(), "", -1};
    }
    const auto found = std::find_if(header.begin(), header.end(), [&](const std::string& have) {
      return lower_trimmed(have) == lower_trimmed(title);
    });
    if (found == header.end()) {
      return Error{
          ErrorCode::kInvalidArgument,
          "--columns " + name + "=" + title + ": no such column; there are " + quoted_titles(header),
          "", -1};
    }
    ASSAY_TRY_ASSIGN(const MappedColumn mapped, mapped_column(*role, title));
    at(columns, mapped.role) = mapped.column;
    at(columns, mapped.role).column = static_cast<int>(found - header.begin());
  }
  return Ok{};
}

// Assigns roles by title to columns without one from the user; of several with one role, the first.
void map_by_title(const std::vector<std::string>& header, Columns& columns, OddityLog& log) {
  std::set<int> taken;
  for (const BenchColumn& column : columns) taken.insert(column.column);
  for (size_t i = 0; i < header.size(); ++i) {
    const int place = static_cast<int>(i);
    const auto meaning = meaning_of_title(header[i]);
    if (!meaning || taken.count(place) != 0 || variant_part(header[i])) continue;
    BenchColumn& column = at(columns, meaning->role);
    if (column.column < 0) {
      column = {place, meaning->factor, meaning->per_device};
    } else {
      log.note("ambiguous_column", 1, false,
               "a second column with the meaning of an earlier one is not read; --columns chooses");
    }
  }
}

// Rejects tables of Vidur and of request traces, which contain no throughput of a configuration,
// whatever --columns says.
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

// The columns that determine a row's variant.
struct VariantColumns {
  std::vector<std::pair<size_t, VariantPart>> parts;
  bool devices = false;  // only the layout has the number of devices
};

VariantColumns variant_columns(const std::vector<std::string>& header, const Columns& columns,
                               const BenchReadOptions& options) {
  VariantColumns out;
  std::set<int> taken;
  for (const BenchColumn& column : columns) taken.insert(column.column);
  for (size_t i = 0; i < header.size(); ++i) {
    const auto part = variant_part(header[i]);
    if (part && taken.count(static_cast<int>(i)) == 0) out.parts.emplace_back(i, *part);
  }
  out.devices =
      at(columns, BenchRole::kDevices).column < 0 &&
      std::none_of(
          options.meta.begin(), options.meta.end(),
          [](const auto& pair) { return bench_role_by_name(pair.first) == BenchRole::kDevices; });
  return out;
}

// Sets precision, layout and version. If only the layout has the number of devices, uses that.
void complete_variant(const VariantColumns& columns, const std::vector<std::string>& cells,
                      BenchRow& row) {
  VariantParts parts;
  if (!row.variant.empty()) parts.add(VariantPart::kPlain, row.variant.text());
  for (const auto& [column, part] : columns.parts) parts.add(part, cells[column]);
  const std::optional<ParallelLayout>& layout = parts.layout();
  if (columns.devices && layout) row.devices = layout->devices();
  row.variant = parts.variant(row.devices);
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
           at(columns, BenchRole::kRequests).column >= 0 ||
           at(columns, BenchRole::kLatency).column >= 0 ||
           (at(columns, BenchRole::kTtft).column >= 0 && at(columns, BenchRole::kTpot).column >= 0),
       "throughput or latency");
  if (missing.empty()) return Ok{};
  return Error{ErrorCode::kFormat,
               "no column for " + missing +
                   "; say --columns 'bb=<title>' for a column or --constants "
                   "bb=8 for what all rows share. Columns: " +
                   quoted_titles(header),
               "", -1};
}

// The number given by --constants for a role, or NaN.
double meta_number(const BenchReadOptions& options, BenchRole role) {
  for (const auto& [name, text] : options.meta) {
    if (bench_role_by_name(name) != role) continue;
    const auto number = parse_cell(text, role, 1);
    return number ? number->value : kNan;
  }
  return kNan;
}

// Fails if a throughput per device lacks the number of devices. The batch size is required anyway.
Status check_per_device(const std::vector<std::string>& header, const Columns& columns,
                        const VariantColumns& variant, const BenchReadOptions& options) {
  const bool told = given(columns, options, BenchRole::kDevices) ||
                    std::any_of(variant.parts.begin(), variant.parts.end(), [](const auto& part) {
                      return part.second == VariantPart::kTensor;
                    });
  for (const BenchColumn& column : columns) {
    if (column.column < 0 || !column.per_device || told) continue;
    return Error{ErrorCode::kFormat,
                 "'" + header[static_cast<size_t>(column.column)] +
                     "' is per device, and nothing says how many there are: --columns n=<title> or "
                     "--constants n=8",
                 "", -1};
  }
  return Ok{};
}

// Converts throughput per device or sequence to the total.
class Shares {
 public:
  Shares(const Columns& columns, const BenchReadOptions& options)
      : columns_(columns),
        devices_(meta_number(options, BenchRole::kDevices)),
        batch_(meta_number(options, BenchRole::kBatch)) {}

  void multiply(BenchRow& row) const {
    row.tokens_per_s *= parts(BenchRole::kThroughput, row);
    row.output_tokens_per_s *= parts(BenchRole::kOutThroughput, row);
    row.requests_per_s *= parts(BenchRole::kRequests, row);
  }

 private:
  double parts(BenchRole role, const BenchRow& row) const {
    const BenchColumn& column = at(columns_, role);
    double many = 1;
    if (column.per_device) many *= std::isnan(devices_) ? row.devices : devices_;
    if (column.per_sequence) many *= std::isnan(batch_) ? row.batch : batch_;
    return many;
  }

  const Columns& columns_;
  double devices_;
  double batch_;
};

// Makes a record as wide as the header. Surplus cells come from an unquoted comma in a text: joins
// them if exactly one position makes every number readable.
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

  // False also if a text column contains a bare number, which shows misaligned cells.
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
               const VariantColumns& variant, const Shares& shares, BenchTable& table,
               OddityLog& log) {
  const std::vector<std::string>& header = records[header_at].cells;
  const RowAligner aligner(columns, header.size());
  const SiliconColumns silicon = silicon_columns(header);
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
    complete_variant(variant, cells, row);
    if (table.format == "aiconfigurator") {
      // Prefill and decode engines of different shape have no common batch size or device count.
      if (!std::isfinite(row.batch)) {
        log.note("disaggregated", record.line, true,
                 "dropped: prefill and decode ran on engines of their own shape");
        continue;
      }
      if (!settle_silicon_row(silicon, cells, row, log)) continue;
    }
    shares.multiply(row);
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

// Meaning of a comma in a number: decimal point ("1394,87"), thousands ("1,234.5", "1,234,567"), or
// either ("1,234").
enum class Comma : uint8_t { kNone, kEither, kDecimal, kThousands };

Comma comma_of(const std::string& cell) {
  // The number may be followed by a unit.
  const size_t end = std::min(cell.find_first_not_of("0123456789+-.,e"), cell.size());
  const std::string text = cell.substr(0, end);
  const size_t comma = text.find(',');
  const size_t point = text.find('.');
  if (text.find_first_of("0123456789") == std::string::npos) return Comma::kNone;
  if (comma == std::string::npos)
    return point == std::string::npos ? Comma::kNone : Comma::kThousands;
  if (point != std::string::npos) return comma < point ? Comma::kThousands : Comma::kDecimal;
  if (text.find(',', comma + 1) != std::string::npos) return Comma::kThousands;
  const size_t before = text.find_first_not_of("+-0");
  const bool three = text.size() - comma == 4;
  const bool leads = before < comma && comma - before <= 3;
  return three && leads ? Comma::kEither : Comma::kDecimal;
}

// Converts decimal commas to points in all number columns or in none, so that equal texts in two
// columns never differ by a factor of 1000.
Status settle_decimal_commas(std::vector<CsvRecord>& records, const Columns& columns,
                             char delimiter, OddityLog& log) {
  std::vector<size_t> places;
  for (size_t i = 0; i < kBenchRoles; ++i) {
    if (columns[i].column >= 0 && !is_text_role(static_cast<BenchRole>(i)))
      places.push_back(static_cast<size_t>(columns[i].column));
  }
  std::array<const CsvRecord*, 4> seen{};
  std::array<std::string, 4> example;
  bool commas = false;
  for (const CsvRecord& record : records) {
    for (const size_t place : places) {
      if (place >= record.cells.size()) continue;
      const auto kind = static_cast<size_t>(comma_of(lower_trimmed(record.cells[place])));
      commas |= record.cells[place].find(',') != std::string::npos;
      if (seen[kind] != nullptr) continue;
      seen[kind] = &record;
      example[kind] = record.cells[place];
    }
  }
  if (!commas) return Ok{};
  const auto has = [&](Comma kind) { return seen[static_cast<size_t>(kind)] != nullptr; };
  const auto shown = [&](Comma kind) {
    const auto k = static_cast<size_t>(kind);
    return "'" + example[k] + "' (line " + std::to_string(seen[k]->line) + ")";
  };
  if (has(Comma::kDecimal) && has(Comma::kThousands)) {
    return Error{ErrorCode::kFormat,
                 "numbers with a decimal comma, " + shown(Comma::kDecimal) +
                     ", and with a decimal point, " + shown(Comma::kThousands) +
                     ": write all with a point and without separators of thousands",
                 "", -1};
  }
  if (delimiter != ',' && has(Comma::kEither) && !has(Comma::kDecimal) && !has(Comma::kThousands)) {
    return Error{ErrorCode::kFormat,
                 shown(Comma::kEither) +
                     " may have a decimal comma or a thousands separator, and no other number "
                     "decides: write all with a decimal point and without thousands separators",
                 "", -1};
  }
  if (!has(Comma::kDecimal)) return Ok{};
  for (CsvRecord& record : records) {
    for (const size_t place : places) {
      if (place >= record.cells.size()) continue;
      std::string& cell = record.cells[place];
      if (comma_of(lower_trimmed(cell)) == Comma::kNone) continue;
      cell.erase(std::remove(cell.begin(), cell.end(), '.'), cell.end());
      std::replace(cell.begin(), cell.end(), ',', '.');
      log.note("decimal_comma", record.line, false, "numbers with a decimal comma were read so");
    }
  }
  return Ok{};
}

// Counts converted units in titles, and latencies without a unit that are implausible in seconds.
void note_units(const std::vector<std::string>& header, const Columns& columns,
                const BenchTable& table, OddityLog& log) {
  for (const BenchColumn& column : columns) {
    if (column.column < 0) continue;
    if (column.factor != 1)
      log.note("unit_in_title", 1, false, "read with the unit that the title names");
    if (column.per_device)
      log.note("throughput_per_device", 1, false, "the title says per device: times n");
    if (column.per_sequence)
      log.note("throughput_per_sequence", 1, false, "the title says per user or request: times bb");
  }
  const int latency = at(columns, BenchRole::kLatency).column;
  const bool alone = at(columns, BenchRole::kThroughput).column < 0 &&
                     at(columns, BenchRole::kOutThroughput).column < 0 &&
                     at(columns, BenchRole::kRequests).column < 0;
  if (latency < 0 || !alone ||
      names_unit(BenchRole::kLatency, header[static_cast<size_t>(latency)]))
    return;
  std::vector<double> per_token;
  double longest = 0;
  for (const BenchRow& row : table.rows) {
    const double s = row.latency_s / row.out_len;
    if (!(s > 0) || !std::isfinite(s)) continue;
    per_token.push_back(s);
    longest = std::max(longest, row.latency_s);
  }
  if (per_token.empty()) return;
  const auto middle = per_token.begin() + static_cast<ptrdiff_t>(per_token.size() / 2);
  std::nth_element(per_token.begin(), middle, per_token.end());
  if (*middle <= kSlowestTokenS && longest <= kLongestRunS) return;
  for (const BenchRow& row : table.rows) {
    log.warn("latency_unit_doubtful", row.line, false,
             "latency without a unit is read as seconds: runs over an hour, or tokens over a "
             "second, are doubtful. For milliseconds, title it 'latency (ms)'");
  }
}

}  // namespace

bool names_throughput(const std::vector<std::string>& header) {
  std::set<BenchRole> roles;
  for (const std::string& title : header) {
    if (const auto meaning = meaning_of_title(title)) roles.insert(meaning->role);
  }
  const auto any = [&roles](std::initializer_list<BenchRole> of) {
    return std::any_of(of.begin(), of.end(), [&](BenchRole role) { return roles.count(role) > 0; });
  };
  return any({BenchRole::kLength, BenchRole::kInLen, BenchRole::kOutLen, BenchRole::kBatch}) &&
         any({BenchRole::kThroughput, BenchRole::kOutThroughput, BenchRole::kRequests,
              BenchRole::kLatency, BenchRole::kTtft});
}

Result<BenchTable> bench_table_of_csv(std::vector<CsvRecord> records, char delimiter,
                                      const BenchReadOptions& options) {
  const auto first = std::find_if(records.begin(), records.end(),
                                  [](const CsvRecord& r) { return !r.cells.empty(); });
  if (first == records.end()) return Error{ErrorCode::kFormat, "the table is empty", "", -1};
  const std::vector<std::string> header = first->cells;
  OddityLog log;
  Columns columns;
  ASSAY_TRY(refuse_other_tables(header));
  ASSAY_TRY(map_by_hand(header, options, columns));
  map_by_title(header, columns, log);
  ASSAY_TRY(check_needed(header, columns, options));
  ASSAY_TRY(settle_decimal_commas(records, columns, delimiter, log));
  BenchTable table;
  const bool argonne = std::any_of(header.begin(), header.end(), [](const std::string& title) {
    return lower_trimmed(title) == "input output length";
  });
  const bool silicon = std::any_of(header.begin(), header.end(), [](const std::string& title) {
    return lower_trimmed(title) == "silicon_ttft_ms";
  });
  table.format = argonne ? "llm-inference-bench" : silicon ? "aiconfigurator" : "csv";
  const VariantColumns variant = variant_columns(header, columns, options);
  ASSAY_TRY(check_per_device(header, columns, variant, options));
  read_rows(records, static_cast<size_t>(first - records.begin()), columns, variant,
            Shares(columns, options), table, log);
  note_units(header, columns, table, log);
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
