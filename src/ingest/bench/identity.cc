#include "ingest/bench/identity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ingest/bench/columns.h"
#include "ingest/bench/concurrency.h"

namespace assay {
namespace {

constexpr double kIdentityTolerance = 1e-3;
// A factor of hundreds is detectable in noisy rows, too.
constexpr double kFactorTolerance = 0.1;
constexpr double kLeastFactor = 20;
// Share of the checkable rows with a unit, above which it is the unit of the column.
constexpr double kWholeColumn = 0.9;

// Result of the identity for a row.
enum class Identity : uint8_t {
  kUnchecked,  // one of the quantities is missing
  kHolds,
  kOneSequence,
  kOutputOnly,
  kMilliseconds,
  kRequests,
  kFails,
};
constexpr size_t kIdentities = 7;
using Counts = std::array<size_t, kIdentities>;

size_t of(const Counts& counts, Identity kind) { return counts[static_cast<size_t>(kind)]; }

double tokens_of(const BenchRow& row) { return row.in_len + row.out_len; }

double throughput_by_latency(const BenchRow& row) {
  return tokens_of(row) * row.batch / row.latency_s;
}

bool near(double a, double b) { return std::fabs(a / b - 1) <= kIdentityTolerance; }

bool about(double a, double b) { return std::fabs(std::log(a / b)) <= kFactorTolerance; }

// The identity without a latency: requests per second give the same, except for their own unit.
Identity identity_by_requests(const BenchRow& row) {
  if (!(row.requests_per_s > 0) || !(row.tokens_per_s > 0)) return Identity::kUnchecked;
  const double tokens = tokens_of(row);
  if (near(row.tokens_per_s, row.requests_per_s * tokens)) return Identity::kHolds;
  if (near(row.tokens_per_s, row.requests_per_s * row.out_len)) return Identity::kOutputOnly;
  if (tokens >= kLeastFactor && about(row.tokens_per_s, row.requests_per_s))
    return Identity::kRequests;
  return Identity::kFails;
}

Identity identity_of(const BenchRow& row) {
  const double by_latency = throughput_by_latency(row);
  if (!(row.latency_s > 0)) return identity_by_requests(row);
  if (!std::isfinite(by_latency) || !(row.tokens_per_s > 0)) return Identity::kUnchecked;
  const double tokens = tokens_of(row);
  if (near(row.tokens_per_s, by_latency)) return Identity::kHolds;
  if (near(row.tokens_per_s, by_latency / row.batch)) return Identity::kOneSequence;
  if (near(row.tokens_per_s, row.out_len * row.batch / row.latency_s)) return Identity::kOutputOnly;
  if (about(row.tokens_per_s, by_latency * 1e3)) return Identity::kMilliseconds;
  if (tokens >= kLeastFactor && about(row.tokens_per_s, by_latency / tokens))
    return Identity::kRequests;
  return Identity::kFails;
}

bool agrees(Identity kind) {
  return kind == Identity::kHolds || kind == Identity::kOneSequence ||
         kind == Identity::kOutputOnly;
}

// Interpretation of a table's units.
enum class Units : uint8_t { kAsTold, kMilliseconds, kRequests, kMixed };

Units units_of(const Counts& counts) {
  const size_t agreeing = of(counts, Identity::kHolds) + of(counts, Identity::kOneSequence) +
                          of(counts, Identity::kOutputOnly);
  const size_t fails = of(counts, Identity::kFails);
  const size_t milliseconds = of(counts, Identity::kMilliseconds);
  const size_t requests = of(counts, Identity::kRequests);
  const size_t other = milliseconds + requests;
  if (other == 0) return Units::kAsTold;
  const double share = static_cast<double>(std::max(milliseconds, requests)) /
                       static_cast<double>(agreeing + other + fails);
  const bool one_kind = milliseconds == 0 || requests == 0;
  if (agreeing == 0 && one_kind && share >= kWholeColumn)
    return milliseconds > 0 ? Units::kMilliseconds : Units::kRequests;
  // If the identity rarely holds, a few rows match a factor by chance.
  return agreeing + other >= fails ? Units::kMixed : Units::kAsTold;
}

// Converts the column's units before anything is computed from it.
void convert(Units units, BenchTable& table, OddityLog& log) {
  for (BenchRow& row : table.rows) {
    if (units == Units::kMilliseconds && std::isfinite(row.latency_s)) {
      row.latency_s *= 1e-3;
      log.note("latency_in_milliseconds", row.line, false,
               "latency x throughput is 1000 times the tokens: latency read as milliseconds");
    }
    if (units == Units::kRequests && std::isfinite(row.tokens_per_s)) {
      row.tokens_per_s *= tokens_of(row);
      log.note("throughput_in_requests", row.line, false,
               "throughput x latency is the number of requests: read as requests per second, times "
               "ii + oo");
    }
  }
}

void drop_mixed(const std::vector<Identity>& identity, BenchTable& table, OddityLog& log) {
  size_t kept = 0;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (agrees(identity[i])) {
      if (kept != i) table.rows[kept] = std::move(table.rows[i]);
      ++kept;
      continue;
    }
    log.warn("mixed_units", table.rows[i].line, true,
             "dropped: some rows have latency in milliseconds or throughput in requests per "
             "second. Only rows with throughput = (ii + oo) x bb / latency are kept");
  }
  table.rows.resize(kept);
}

void fill(BenchRow& row, OddityLog& log) {
  if (std::isnan(row.tokens_per_s) && std::isfinite(row.requests_per_s)) {
    row.tokens_per_s = row.requests_per_s * tokens_of(row);
    log.note("throughput_from_requests", row.line, false,
             "requests per second were read: times ii + oo");
  }
  if (std::isnan(row.tokens_per_s) && std::isnan(row.latency_s) && std::isfinite(row.ttft_ms) &&
      std::isfinite(row.tpot_ms)) {
    row.latency_s = (row.ttft_ms + (row.out_len - 1) * row.tpot_ms) / 1000;
    log.note("latency_from_ttft_tpot", row.line, false,
             "no latency in the table: TTFT + (oo - 1) x TPOT");
  }
  const double by_latency = throughput_by_latency(row);
  if (std::isnan(row.tokens_per_s) && std::isfinite(by_latency)) {
    row.tokens_per_s = by_latency;
    log.note("throughput_from_latency", row.line, false,
             "no throughput in the table: (ii + oo) x bb / latency");
  } else if (std::isnan(row.tokens_per_s) && std::isfinite(row.output_tokens_per_s)) {
    row.tokens_per_s = row.output_tokens_per_s * tokens_of(row) / row.out_len;
    log.note("throughput_from_output", row.line, false,
             "only output tokens were counted: scaled by (ii + oo) / oo");
  }
}

void check(BenchRow& row, OddityLog& log) {
  switch (identity_of(row)) {
    case Identity::kUnchecked:
    case Identity::kHolds:
      return;
    case Identity::kOneSequence:
      return log.note("one_sequence_identity", row.line, false,
                      "throughput is that of one sequence, so the batch size is not a number of "
                      "sequences (llama.cpp's logical batch); kept as measured");
    case Identity::kOutputOnly:
      row.output_tokens_per_s = row.tokens_per_s;
      row.tokens_per_s =
          row.latency_s > 0 ? throughput_by_latency(row) : row.requests_per_s * tokens_of(row);
      return log.note("output_tokens_only", row.line, false,
                      "throughput counts output tokens only: input tokens were added");
    default:
      return log.note("identity_failed", row.line, false,
                      "throughput is not (ii + oo) x bb / latency, or x requests per second: kept "
                      "as measured, one of the columns means something else");
  }
}

}  // namespace

void fill_and_check_throughput(BenchTable& table) {
  OddityLog log;
  // Results of clients do not satisfy the identity of batches.
  const bool client = table.format == "vllm";
  std::vector<Identity> identity;
  Counts counts{};
  for (const BenchRow& row : table.rows) {
    // The batch size is then a limit that was not reached.
    const bool paced = std::isfinite(row.request_rate);
    identity.push_back(client || paced ? Identity::kUnchecked : identity_of(row));
    ++counts[static_cast<size_t>(identity.back())];
  }
  const Units units = units_of(counts);
  if (units == Units::kMixed) drop_mixed(identity, table, log);
  convert(units, table, log);
  std::vector<BenchRow> kept;
  for (BenchRow& row : table.rows) {
    const bool stated = !std::isnan(row.tokens_per_s);
    if (!(client && stated)) fill(row, log);
    if (!client && !settle_paced_batch(row, log)) continue;
    if (stated && !client && !std::isfinite(row.request_rate)) check(row, log);
    kept.push_back(std::move(row));
  }
  table.rows = std::move(kept);
  log.merge_into(table.oddities);
}

}  // namespace assay
