#include "answers/throughput/plan_files.h"

#include <algorithm>
#include <cmath>

#include "base/decimal.h"
#include "base/numbers.h"
#include "base/stats.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/log_rows.h"

namespace assay {
namespace {

// A table with what both files need; column names are case-insensitive.
struct Columns {
  CsvTable table;
  std::string path;

  static Result<Columns> of(const std::string& text, const std::string& path) {
    ASSAY_TRY_ASSIGN(CsvTable table, parse_csv_table(text, path));
    if (table.cut) {
      return Error{ErrorCode::kTruncated, "the last line ends before its last cell", path, -1};
    }
    return Columns{std::move(table), path};
  }
  Error error(size_t row, const std::string& message) const {
    return csv_error_at(path, table.line[row], message);
  }
  Status need(const std::vector<std::string>& titles) const {
    for (const std::string& title : titles) {
      if (table.column(title) < 0)
        return csv_error_at(path, 1, "no column is called '" + title + "'");
    }
    return Ok{};
  }
  Status know(const std::vector<std::string>& titles) const {
    for (const std::string& column : table.header) {
      if (std::find(titles.begin(), titles.end(), lower_trimmed(column)) == titles.end())
        return csv_error_at(path, 1, "the column '" + column + "' is not known");
    }
    return Ok{};
  }
  size_t rows() const { return table.rows.size(); }
  // Empty if the column or the cell does not exist.
  std::string text(size_t row, std::string_view title) const {
    const int at = table.column(title);
    const std::vector<std::string>& cells = table.rows[row];
    return at < 0 || static_cast<size_t>(at) >= cells.size() ? "" : cells[static_cast<size_t>(at)];
  }
  // Returns `otherwise` if the column does not exist or the cell is empty.
  Result<double> number(size_t row, const std::string& title, double otherwise) const {
    const std::string cell = lower_trimmed(text(row, title));
    if (cell.empty()) return otherwise;
    double value = 0;
    if (!parse_double(cell, value) || !(value > 0) || !std::isfinite(value))
      return error(row, title + " '" + cell + "' is not a number above 0");
    return value;
  }
};

// "2023-11-16 18:15:46.6805900", optionally with a T, or a number of seconds.
std::optional<double> seconds_of(const std::string& text) {
  double number = 0;
  if (parse_double(text, number)) return number;
  const bool dated = text.size() > 7 && text[4] == '-' && text[7] == '-';
  const auto stamp = dated ? log_stamp(text) : std::nullopt;
  if (!stamp) return std::nullopt;
  return static_cast<double>(stamp->t_ns) / static_cast<double>(kSecondNs);
}

}  // namespace

Result<std::vector<GpuOffer>> prices_of_text(const std::string& text, const std::string& path) {
  ASSAY_TRY_ASSIGN(const Columns columns, Columns::of(text, path));
  ASSAY_TRY(columns.need({"gpu", "usd_per_gpu_hour"}));
  ASSAY_TRY(columns.know({"gpu", "usd_per_gpu_hour", "watts", "gpus_per_node", "nodes"}));
  constexpr double kMostGpus = 10000;
  std::vector<GpuOffer> offers;
  for (size_t row = 0; row < columns.rows(); ++row) {
    GpuOffer offer;
    offer.name = columns.text(row, "gpu");
    if (offer.name.empty()) return columns.error(row, "names no GPU");
    for (const GpuOffer& other : offers) {
      if (lower_trimmed(other.name) == lower_trimmed(offer.name))
        return columns.error(row, "offers '" + offer.name + "' a second time: one price a GPU");
    }
    ASSAY_TRY_ASSIGN(offer.usd_per_hour, columns.number(row, "usd_per_gpu_hour", 0));
    if (!(offer.usd_per_hour > 0)) return columns.error(row, "has no price");
    ASSAY_TRY_ASSIGN(offer.watts, columns.number(row, "watts", 0));
    ASSAY_TRY_ASSIGN(const double per_node, columns.number(row, "gpus_per_node", offer.per_node));
    ASSAY_TRY_ASSIGN(const double nodes, columns.number(row, "nodes", offer.nodes));
    for (const double count : {per_node, nodes}) {
      if (count != std::floor(count) || count > kMostGpus)
        return columns.error(row, "gpus_per_node and nodes are whole numbers");
    }
    offer.per_node = static_cast<uint32_t>(per_node);
    offer.nodes = static_cast<uint32_t>(nodes);
    offers.push_back(std::move(offer));
  }
  if (offers.empty()) return Error{ErrorCode::kFormat, "lists no GPU", path, -1};
  return offers;
}

Result<std::vector<GpuOffer>> read_prices(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  return prices_of_text(text, path);
}

Result<RequestTrace> request_trace_of_text(const std::string& text, const std::string& path) {
  ASSAY_TRY_ASSIGN(const Columns columns, Columns::of(text, path));
  ASSAY_TRY(columns.need({"timestamp", "contexttokens", "generatedtokens"}));
  RequestTrace out;
  std::vector<double> at;
  for (size_t row = 0; row < columns.rows(); ++row) {
    const std::string cell = columns.text(row, "timestamp");
    const auto seconds = seconds_of(cell);
    if (!seconds) return columns.error(row, "'" + cell + "' is not the time of a request");
    at.push_back(*seconds);
    ASSAY_TRY_ASSIGN(const double in, columns.number(row, "contexttokens", 1));
    ASSAY_TRY_ASSIGN(const double generated, columns.number(row, "generatedtokens", 1));
    out.in_len += in;
    out.out_len += generated;
  }
  constexpr size_t kFewest = 20;
  if (at.size() < kFewest)
    return Error{ErrorCode::kFormat, "fewer than 20 requests say nothing of a rate", path, -1};
  std::sort(at.begin(), at.end());
  const auto n = static_cast<double>(at.size());
  out.requests = at.size();
  out.in_len /= n;
  out.out_len /= n;
  const double span = at.back() - at.front();
  if (!(span > 0)) return Error{ErrorCode::kFormat, "all requests came at one time", path, -1};
  out.mean_per_s = n / span;
  constexpr double kMinute = 60;
  std::vector<double> minutes(static_cast<size_t>(span / kMinute) + 1, 0);
  for (const double time : at) minutes[static_cast<size_t>((time - at.front()) / kMinute)] += 1;
  // The last minute is incomplete.
  if (minutes.size() > 1) minutes.pop_back();
  std::sort(minutes.begin(), minutes.end());
  out.busy_per_s = quantile_sorted(minutes, 0.95) / std::min(kMinute, span);
  double squares = 0;
  for (size_t i = 1; i < at.size(); ++i) squares += squared(at[i] - at[i - 1]);
  const double mean_gap = span / (n - 1);
  out.variation = squares / (n - 1) / squared(mean_gap) - 1;
  return out;
}

Result<RequestTrace> read_request_trace(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  return request_trace_of_text(text, path);
}

}  // namespace assay
