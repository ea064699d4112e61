#include "ingest/bench/concurrency.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// Ramp-up, ramp-down and rounding keep even a full run slightly below its limit.
constexpr double kNearLimit = 0.9;
// If fewer than this share of the limit are in flight without a request rate, something else limits
// the run.
constexpr double kFarFromLimit = 0.5;

bool known(double value) { return std::isfinite(value) && value > 0; }

double two_decimals(double value) { return std::round(value * 100) / 100; }

// NaN if one of them is unknown.
double latency_of_tokens(const BenchRow& row) {
  return (row.ttft_ms + (row.out_len - 1) * row.tpot_ms) / 1000;
}

void fill_latency(BenchRow& row, OddityLog& log) {
  if (std::isfinite(row.latency_s)) return;
  row.latency_s = latency_of_tokens(row);
  if (!std::isfinite(row.latency_s)) return;
  log.note("latency_from_ttft_tpot", row.line, false,
           "no mean latency in the file: TTFT + (oo - 1) x TPOT");
}

void fill_batch(BenchRow& row, OddityLog& log) {
  fill_latency(row, log);
  row.batch = two_decimals(row.requests_per_s * row.latency_s);
  if (std::isfinite(row.batch)) {
    log.note("concurrency_by_littles_law", row.line, false,
             "no concurrency in the file: requests per second x mean latency");
    return;
  }
  log.note("concurrency_unknown", row.line, false,
           std::isfinite(row.requests_per_s)
               ? "the file has no concurrency, and no mean latency for Little's law: give "
                 "--constants bb=..., or measure with --percentile-metrics ttft,tpot,itl,e2el"
               : "the file has neither concurrency nor requests per second: --constants bb=... says it");
}

// Handles a row with a request rate and a concurrency limit. False: the row is dropped.
bool settle_paced(BenchRow& row, OddityLog& log) {
  const double latency_s = known(row.latency_s) ? row.latency_s : latency_of_tokens(row);
  const double in_flight = row.requests_per_s * latency_s;
  if (known(in_flight)) {
    if (in_flight >= kNearLimit * row.batch) return true;
    row.batch = two_decimals(in_flight);
    log.warn("limited_by_request_rate", row.line, false,
             "the request rate, not the limit of concurrency, set how many requests ran: bb is "
             "requests per second x mean latency");
    return true;
  }
  // Requests completed more slowly than they were due, so the concurrency limit was reached.
  if (row.requests_per_s < kNearLimit * row.request_rate) return true;
  log.warn("request_rate_without_latency", row.line, true,
           "dropped: concurrency under a request rate needs the mean latency (vLLM: "
           "--percentile-metrics ttft,tpot,itl,e2el), or give --constants bb=...");
  return false;
}

void note_far_from_limit(const BenchRow& row, OddityLog& log) {
  const double in_flight = row.requests_per_s * row.latency_s;
  if (!known(in_flight) || in_flight >= kFarFromLimit * row.batch) return;
  log.warn("concurrency_not_reached", row.line, false,
           "requests per second x mean latency is under half of the stated concurrency (too few "
           "prompts, or a client limit); bb is taken as stated");
}

// False: the row is dropped.
bool settle(BenchRow& row, OddityLog& log) {
  if (!std::isfinite(row.batch)) {
    fill_batch(row, log);
    return true;
  }
  if (known(row.request_rate)) return settle_paced(row, log);
  note_far_from_limit(row, log);
  return true;
}

}  // namespace

void settle_concurrency(BenchTable& table) {
  OddityLog log;
  std::vector<BenchRow> kept;
  for (BenchRow& row : table.rows) {
    if (settle(row, log)) kept.push_back(std::move(row));
  }
  table.rows = std::move(kept);
  log.merge_into(table.oddities);
}

bool settle_paced_batch(BenchRow& row, OddityLog& log) {
  if (!known(row.request_rate) || !std::isfinite(row.batch)) return true;
  BenchRow paced = row;
  if (!std::isfinite(paced.requests_per_s))
    paced.requests_per_s = row.tokens_per_s / (row.in_len + row.out_len);
  if (!settle_paced(paced, log)) return false;
  if (paced.batch < row.batch) row.batch = std::max(1.0, std::round(paced.batch));
  return true;
}

}  // namespace assay
