#include "ingest/bench/measurements.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/decimal.h"

namespace assay {
namespace {

// In a closed loop, more concurrent requests cannot lower the time per token by more than noise,
// which is below this factor.
constexpr double kSteady = 1.3;
// Numbers with fewer digits agree by chance.
constexpr int kTellingDigits = 5;

// An answer arrived in one piece if its first token took nearly the whole time, and the other
// tokens less time than any engine needs.
constexpr double kUnstreamedShare = 0.99;
constexpr double kLeastTokenMs = 0.2;

bool is_unstreamed(const BenchRow& row) {
  if (!(row.ttft_ms > 0) || !(row.out_len > 1)) return false;
  const double whole_ms = std::isfinite(row.latency_s)
                              ? 1000 * row.latency_s
                              : row.ttft_ms + (row.out_len - 1) * row.tpot_ms;
  return row.ttft_ms >= kUnstreamedShare * whole_ms &&
         whole_ms - row.ttft_ms < kLeastTokenMs * (row.out_len - 1);
}

bool tells_itself(double value) {
  if (!(value > 0) || !std::isfinite(value)) return false;
  const double unit = std::pow(10, std::floor(std::log10(value)) - (kTellingDigits - 2));
  return std::fabs(value / unit - std::round(value / unit)) > 1e-9 * value / unit;
}

// Drops rows of one engine, device and size with TTFT and TPOT equal to the last digit.
void drop_copies(BenchTable& table) {
  using Key = std::tuple<double, double, double, double, double, std::string, std::string>;
  std::map<Key, size_t> first;
  std::vector<bool> copied(table.rows.size(), false);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    BenchRow& row = table.rows[i];
    if (!tells_itself(row.ttft_ms) || !tells_itself(row.tpot_ms)) continue;
    if (!std::isfinite(row.batch)) continue;
    const auto [at, added] = first.emplace(Key{row.ttft_ms, row.tpot_ms, row.in_len, row.out_len,
                                               row.batch, row.hardware, row.framework},
                                           i);
    if (added) continue;
    BenchRow& kept = table.rows[at->second];
    count_oddity(table.oddities, "copied_measurement", row.line, true,
                 "dropped: TTFT and TPOT equal those of another row to the last digit. It is one "
                 "measurement under two names; the one with the fewest devices is kept",
                 OddityWeight::kNote);
    if (row.devices < kept.devices) std::swap(row, kept);
    copied[i] = true;
  }
  size_t kept = 0;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (copied[i]) continue;
    if (kept != i) table.rows[kept] = std::move(table.rows[i]);
    ++kept;
  }
  table.rows.resize(kept);
}

std::string group_of(const BenchRow& row) {
  std::string name;
  for (const std::string& part :
       {row.campaign, row.hardware, shortest_text(row.devices), row.framework, row.model,
        row.variant.text(), shortest_text(row.in_len), shortest_text(row.out_len)})
    name += part + '\n';
  return name;
}

bool closed_loop(const BenchRow& row) {
  return std::isfinite(row.tpot_ms) && row.tpot_ms > 0 && std::isfinite(row.batch) &&
         !std::isfinite(row.request_rate);
}

// True if the time per token falls with more concurrent requests. rows: sorted by concurrency;
// equal ones are repeats.
bool falls(const BenchTable& table, const std::vector<size_t>& rows) {
  double slowest_before = 0, slowest = 0, batch = 0;
  for (const size_t i : rows) {
    const BenchRow& row = table.rows[i];
    if (row.batch > batch) slowest_before = slowest;
    batch = row.batch;
    if (row.tpot_ms * kSteady < slowest_before) return true;
    slowest = std::max(slowest, row.tpot_ms);
  }
  return false;
}

void mark_unsteady(BenchTable& table) {
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (closed_loop(table.rows[i])) groups[group_of(table.rows[i])].push_back(i);
  }
  std::vector<size_t> marked;
  for (auto& [name, rows] : groups) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](size_t a, size_t b) { return table.rows[a].batch < table.rows[b].batch; });
    if (falls(table, rows)) marked.insert(marked.end(), rows.begin(), rows.end());
  }
  std::sort(marked.begin(), marked.end());
  for (const size_t i : marked) {
    BenchRow& row = table.rows[i];
    if (row.unsteady) continue;
    row.unsteady = true;
    count_oddity(table.oddities, "unsteady", row.line, false,
                 "the time per output token falls by more than 1.3 times at higher concurrency, so "
                 "something else changed. Left out of fits, predictions and errors",
                 OddityWeight::kNote);
  }
}

}  // namespace

void refuse_unstreamed(BenchTable& table) {
  for (BenchRow& row : table.rows) {
    if (!is_unstreamed(row)) continue;
    if (!std::isfinite(row.latency_s)) row.latency_s = row.ttft_ms / 1000;
    row.ttft_ms = row.tpot_ms = std::numeric_limits<double>::quiet_NaN();
    count_oddity(table.oddities, "not_streamed", row.line, false,
                 "the first token came with the last, as without streaming: TTFT, TPOT and ITL are "
                 "dropped, throughput and latency are kept",
                 OddityWeight::kWarning);
  }
}

void settle_measurements(BenchTable& table) {
  for (BenchRow& row : table.rows) settle_campaign(row);
  drop_copies(table);
  mark_unsteady(table);
}

}  // namespace assay
