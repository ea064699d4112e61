#include "ingest/power/gpu_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/decimal.h"
#include "base/stats.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/log_rows.h"

namespace assay {
namespace {

constexpr double kLeastStep = 1.4;    // ratio of gaps between rounds to gaps within a round
constexpr double kFullRounds = 0.25;  // minimum share of rounds without lost rows
constexpr double kMostLarger = 0.02;  // maximum share of rounds with too many rows: two merged
                                      // rounds
constexpr double kClearlyBetter = 2;  // margin of a choice of GPUs over the next, in robust units
constexpr double kMostUnits = 20;     // maximum cost of one value, because power jumps
constexpr double kLooksLike = 3;      // rows g apart agree better than adjacent rows by this factor
constexpr size_t kMostGpus = 16;
constexpr int64_t kLeastGapNs = 100'000;

// Numbers of a column by row; NaN if the cell is no number.
using NumberColumn = std::vector<double>;

double number_of(const std::string& cell) {
  const std::string text = lower_trimmed(cell);
  const size_t end = text.find_first_not_of("0123456789.+-e");
  double value = 0;
  if (!parse_double(std::string_view(text).substr(0, end), value)) return NAN;
  return value;
}

bool has_word(const std::string& header, std::string_view word) {
  return lower_trimmed(header).find(word) != std::string::npos;
}

// Columns that contain almost only numbers; times do not count.
std::vector<NumberColumn> number_columns(const CsvTable& table, bool slow_only) {
  std::vector<NumberColumn> columns;
  for (size_t c = 0; c < table.header.size(); ++c) {
    const std::string& header = table.header[c];
    if (has_word(header, "time")) continue;
    const bool slow = has_word(header, "temperature") || has_word(header, "memory.used");
    if (slow_only && !slow) continue;
    NumberColumn column;
    size_t numbers = 0;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      column.push_back(number_of(cell(table, row, static_cast<int>(c))));
      numbers += std::isfinite(column.back()) ? 1 : 0;
    }
    if (numbers * 10 >= table.rows.size() * 9) columns.push_back(std::move(column));
  }
  return columns;
}

// First row of every round; empty if the gaps are of one kind.
std::vector<size_t> round_starts(const std::vector<int64_t>& times) {
  std::vector<double> gaps;
  for (size_t i = 1; i < times.size(); ++i) {
    gaps.push_back(static_cast<double>(std::max(times[i] - times[i - 1], kLeastGapNs)));
  }
  std::vector<double> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  const size_t low = sorted.size() / 5;
  const size_t high = sorted.size() * 95 / 100;
  size_t widest = low;
  for (size_t i = low; i < high; ++i) {
    if (sorted[i + 1] / sorted[i] > sorted[widest + 1] / sorted[widest]) widest = i;
  }
  if (high <= low || sorted[widest + 1] / sorted[widest] < kLeastStep) return {};
  const double split = std::sqrt(sorted[widest] * sorted[widest + 1]);
  std::vector<size_t> starts{0};
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] > split) starts.push_back(i + 1);
  }
  return starts;
}

struct Round {
  size_t begin = 0;
  size_t size = 0;
};

std::vector<Round> rounds_of(const std::vector<size_t>& starts, size_t rows) {
  std::vector<Round> rounds;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : rows;
    rounds.push_back({starts[i], end - starts[i]});
  }
  return rounds;
}

// The largest frequent number of rows per round, because rows may be lost but never added. 1 if
// rounds have all sizes, like those of one GPU that is polled unevenly.
size_t rows_per_round(const std::vector<Round>& rounds) {
  std::map<size_t, size_t> counts;
  for (const Round& round : rounds) ++counts[round.size];
  const auto all = static_cast<double>(rounds.size());
  double above = 0;
  for (auto size = counts.rbegin(); size != counts.rend() && above <= kMostLarger; ++size) {
    const double share = static_cast<double>(size->second) / all;
    if (share >= kFullRounds) return size->first <= kMostGpus ? size->first : 1;
    above += share;
  }
  return 1;
}

// True if values repeat within rounds: one GPU polled in bursts, because two GPUs never draw equal
// power.
bool repeats_itself(const std::vector<NumberColumn>& columns, const std::vector<Round>& rounds,
                    size_t gpus) {
  size_t same = 0;
  size_t full = 0;
  for (const Round& round : rounds) {
    if (round.size != gpus) continue;
    ++full;
    const bool all_same = std::all_of(
        columns.begin(), columns.end(),
        [&](const NumberColumn& column) { return column[round.begin] == column[round.begin + 1]; });
    same += all_same ? 1 : 0;
  }
  return same * 2 > full;
}

// Typical change of each column between consecutive rounds, of one GPU.
std::vector<double> scales_of(const std::vector<NumberColumn>& columns,
                              const std::vector<Round>& rounds, size_t gpus) {
  std::vector<double> scales;
  for (const NumberColumn& column : columns) {
    std::vector<double> changes;
    double least = INFINITY;
    double most = -INFINITY;
    double last = NAN;
    for (const Round& round : rounds) {
      if (round.size != gpus) continue;
      const double now = column[round.begin];
      if (std::isfinite(now) && std::isfinite(last)) changes.push_back(std::fabs(now - last));
      if (std::isfinite(now)) last = now;
    }
    for (const double value : column) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    std::sort(changes.begin(), changes.end());
    const double middle = changes.empty() ? 0 : changes[changes.size() / 2];
    scales.push_back(middle + 1e-2 * (std::max(0.0, most - least) + 1e-9));
  }
  return scales;
}

// Assigns GPUs to the rows of consecutive rounds, based on the last row of every GPU.
class Placer {
 public:
  Placer(const std::vector<NumberColumn>& columns, std::vector<double> scales, size_t gpus)
      : columns_(columns), scales_(std::move(scales)), last_row_(gpus, GpuRows::kUnplaced) {}

  // The GPUs of a round's rows, in order; empty if several choices fit.
  std::vector<size_t> place(const Round& round) {
    std::vector<size_t> chosen;
    if (round.size == last_row_.size()) {
      for (size_t g = 0; g < round.size; ++g) chosen.push_back(g);
    } else if (round.size < last_row_.size() && last_row_[0] != GpuRows::kUnplaced) {
      chosen = best_choice(round);
    }
    for (size_t i = 0; i < chosen.size(); ++i) last_row_[chosen[i]] = round.begin + i;
    return chosen;
  }

 private:
  double cost(size_t row, size_t gpu) const {
    double sum = 0;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const double apart = std::fabs(columns_[c][row] - columns_[c][last_row_[gpu]]) / scales_[c];
      if (std::isfinite(apart)) sum += std::min(apart, kMostUnits);
    }
    return sum;
  }
  struct Choice {
    double cost = INFINITY;
    uint32_t gpus = 0;  // bit mask
  };
  // The best two assignments of rows to GPUs, in order.
  struct BestTwo {
    Choice best;
    Choice next;
    void offer(const Choice& choice) {
      if (choice.cost < best.cost) {
        next = best;
        best = choice;
      } else if (choice.cost < next.cost) {
        next = choice;
      }
    }
  };
  // Rows keep their order, so a choice is the set of GPUs with a row. Dynamic programming over
  // GPUs, each with the next row or without one.
  std::vector<size_t> best_choice(const Round& round) const {
    std::vector<BestTwo> placed(round.size + 1);  // by number of rows
    placed[0].best.cost = 0;
    for (size_t g = 0; g < last_row_.size(); ++g) {
      for (size_t rows = std::min(round.size, g + 1); rows > 0; --rows) {
        const BestTwo before = placed[rows - 1];
        const double more = cost(round.begin + rows - 1, g);
        placed[rows].offer({before.best.cost + more, before.best.gpus | (1U << g)});
        placed[rows].offer({before.next.cost + more, before.next.gpus | (1U << g)});
      }
    }
    const auto& [best, next] = placed[round.size];
    std::vector<size_t> gpus;
    if (next.cost - best.cost < kClearlyBetter) return gpus;
    for (size_t g = 0; g < last_row_.size(); ++g) {
      if ((best.gpus >> g) & 1U) gpus.push_back(g);
    }
    return gpus;
  }

  const std::vector<NumberColumn>& columns_;
  std::vector<double> scales_;
  std::vector<size_t> last_row_;
};

double mean_apart(const NumberColumn& column, size_t distance) {
  double sum = 0;
  size_t pairs = 0;
  for (size_t i = distance; i < column.size(); ++i) {
    const double apart = std::fabs(column[i] - column[i - distance]);
    if (!std::isfinite(apart)) continue;
    sum += apart;
    ++pairs;
  }
  return pairs > 0 ? sum / static_cast<double>(pairs) : 0;
}

// Apparent number of GPUs, by the columns that change slowly.
size_t looks_like(const std::vector<NumberColumn>& slow) {
  for (const NumberColumn& column : slow) {
    const double next = mean_apart(column, 1);
    for (size_t gpus = 2; gpus <= kMostGpus && column.size() > 10 * gpus; ++gpus) {
      if (mean_apart(column, gpus) * kLooksLike < next) return gpus;
    }
  }
  return 1;
}

// Assigns rows of GPUs that alternate at a constant gap. The GPU advances by the number of typical
// gaps since the previous row.
Result<GpuRows> place_by_turns(const CsvTable& table, const std::vector<int64_t>& times,
                               const std::string& path, size_t gpus) {
  constexpr double kMostOff = 0.3;    // share of a step
  constexpr double kMostSteps = 4.5;  // a longer gap is not explained by lost rows
  std::vector<double> gaps;
  for (size_t i = 1; i < times.size(); ++i) {
    gaps.push_back(static_cast<double>(times[i] - times[i - 1]));
  }
  const double step = gaps.empty() ? 0 : median(gaps);
  GpuRows rows{gpus, {}, 0};
  size_t place = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const double steps = i == 0 || step <= 0 ? 1 : gaps[i - 1] / step;
    if (steps < 1 - kMostOff || steps > kMostSteps ||
        std::fabs(steps - std::round(steps)) > kMostOff) {
      return csv_error_at(path, table.line[i],
                          "comes " + rounded_text(steps) +
                              " times the typical time after the previous row: the next of the " +
                              std::to_string(gpus) + " GPUs is unknown");
    }
    if (i > 0) place = (place + static_cast<size_t>(std::llround(steps))) % gpus;
    rows.of_row.push_back(place);
  }
  return rows;
}

}  // namespace

Result<GpuRows> place_gpu_rows(const CsvTable& table, const std::vector<int64_t>& times,
                               const std::string& path, size_t told) {
  GpuRows rows;
  rows.of_row.assign(times.size(), 0);
  if (told == 1) return rows;
  const std::vector<size_t> starts = round_starts(times);
  const std::vector<Round> rounds = rounds_of(starts, times.size());
  const std::vector<NumberColumn> columns = number_columns(table, false);
  size_t gpus = starts.empty() ? 1 : rows_per_round(rounds);
  if (gpus > 1 && repeats_itself(columns, rounds, gpus)) gpus = 1;
  if (told > 1 && gpus != told) return place_by_turns(table, times, path, told);
  if (gpus == 1) {
    const size_t seems = looks_like(number_columns(table, true));
    if (seems == 1) return rows;
    return Error{ErrorCode::kFormat,
                 "its rows look like those of " + std::to_string(seems) +
                     " GPUs, and no column identifies them: record with one, as in nvidia-smi "
                     "--query-gpu=index,timestamp,power.draw",
                 path, -1};
  }
  rows.gpus = gpus;
  rows.of_row.assign(times.size(), GpuRows::kUnplaced);
  Placer placer(columns, scales_of(columns, rounds, gpus), gpus);
  for (const Round& round : rounds) {
    const std::vector<size_t> placed = placer.place(round);
    for (size_t i = 0; i < placed.size(); ++i) rows.of_row[round.begin + i] = placed[i];
    if (placed.empty()) rows.unplaced += round.size;
  }
  return rows;
}

}  // namespace assay
