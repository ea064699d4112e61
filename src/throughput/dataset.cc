#include "throughput/dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "base/decimal.h"
#include "base/stats.h"
#include "throughput/physics.h"
#include "throughput/splits.h"

namespace assay {
namespace {

// Limits of plausible values; beyond them are typing errors or overflows.
constexpr double kFewestTokensPerS = 1e-6;
constexpr double kMostTokensPerS = 1e9;
constexpr double kLongest = 1e8;
constexpr double kLargestBatch = 1e7;
constexpr double kMostDevices = 1e6;
// Largest over smallest throughput above which repeats contradict each other.
constexpr double kContradiction = 1.5;
// Factor within which the assumed noise holds for most tables.
constexpr double kNoisyRepeats = 3;

// False for tables from clients that drive requests: their lengths and concurrency are means.
bool has_whole_numbers(const BenchTable& table) {
  return table.format == "csv" || table.format == "llm-inference-bench" ||
         table.format == "aiconfigurator";
}

// In LLM-Inference-Bench, repeats are runs of scripts that superseded each other, and published
// figures use the first.
bool first_of_key_counts(const BenchTable& table) { return table.format == "llm-inference-bench"; }

bool whole(double value) { return value == std::floor(value); }

struct Defect {
  std::string_view code;
  std::string_view effect;
};

std::optional<Defect> defect_of(const BenchRow& row, bool whole_numbers) {
  if (std::isnan(row.tokens_per_s)) {
    return Defect{"no_throughput", "dropped: no throughput and no latency to work it out from"};
  }
  if (row.tokens_per_s == 0) {
    return Defect{"zero_throughput", "dropped: a run without output is not a measurement"};
  }
  if (row.tokens_per_s < 0 || std::isinf(row.tokens_per_s)) {
    return Defect{"impossible_throughput", "dropped: a throughput is positive and finite"};
  }
  const auto usable = [](double value) { return value > 0 && std::isfinite(value); };
  if (!usable(row.in_len) || !usable(row.out_len)) {
    return Defect{"no_length", "dropped: input and output length must be positive numbers"};
  }
  if (!usable(row.batch)) {
    return Defect{"no_batch", "dropped: the batch size must be a positive number"};
  }
  if (!usable(row.devices)) {
    return Defect{"no_devices", "dropped: the number of devices must be a positive number"};
  }
  if (row.tokens_per_s < kFewestTokensPerS || row.tokens_per_s > kMostTokensPerS) {
    return Defect{"absurd_throughput",
                  "dropped: no installation does fewer than 10^-6 or more than 10^9 tokens per "
                  "second"};
  }
  if (row.in_len > kLongest || row.out_len > kLongest || row.batch > kLargestBatch ||
      row.devices > kMostDevices) {
    return Defect{"absurd_size",
                  "dropped: over 10^8 tokens of length, 10^7 sequences or 10^6 devices"};
  }
  const bool all_whole =
      whole(row.in_len) && whole(row.out_len) && whole(row.batch) && whole(row.devices);
  if (whole_numbers && !all_whole) {
    return Defect{"not_whole",
                  "dropped: lengths, batch size and number of devices are whole numbers"};
  }
  return std::nullopt;
}

// All usable measurements of one key.
struct Repeats {
  BenchRow row;  // the first
  std::vector<double> tokens_per_s;
  std::vector<double> latency_s;
  std::vector<int64_t> lines;
};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double spread_of(const Repeats& repeats) {
  const auto [least, most] =
      std::minmax_element(repeats.tokens_per_s.begin(), repeats.tokens_per_s.end());
  return *most / *least;
}

std::string count_text(size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string brief(double value) { return rounded_text(value, 4); }

std::string worst_text(const Repeats& worst) {
  const auto [least, most] =
      std::minmax_element(worst.tokens_per_s.begin(), worst.tokens_per_s.end());
  const auto line = [&](auto at) {
    const int64_t number = worst.lines[static_cast<size_t>(at - worst.tokens_per_s.begin())];
    return number > 0 ? " (line " + std::to_string(number) + ")" : std::string();
  };
  return brief(*least) + line(least) + " and " + brief(*most) + line(most) + " tokens/s for " +
         row_name(worst.row);
}

std::string percent(double share) { return rounded_text(100 * share, 3) + " %"; }

RepeatNoise noise_of(const std::vector<Repeats>& all) {
  RepeatNoise noise;
  double squares = 0;
  for (const Repeats& repeats : all) {
    const size_t n = repeats.tokens_per_s.size();
    if (n < 2 || spread_of(repeats) > kContradiction) continue;
    ++noise.keys;
    noise.rows += n;
    double mean = 0;
    for (const double rate : repeats.tokens_per_s) mean += std::log(rate) / static_cast<double>(n);
    for (const double rate : repeats.tokens_per_s)
      squares += (std::log(rate) - mean) * (std::log(rate) - mean);
  }
  if (noise.keys > 0)
    noise.log_sd = std::sqrt(squares / static_cast<double>(noise.rows - noise.keys));
  return noise;
}

// Reports the treatment of repeats: their number, their spread, and the worst.
void note_repeats(const std::vector<Repeats>& all, std::vector<BenchOddity>& oddities) {
  struct Kind {
    const char* code;
    uint64_t rows = 0;
    size_t keys = 0;
    const Repeats* worst = nullptr;
    std::vector<double> spreads = {};
  };
  Kind noise{"repeats_averaged"};
  Kind contradiction{"repeats_disagree"};
  for (const Repeats& repeats : all) {
    if (repeats.tokens_per_s.size() < 2) continue;
    const double spread = spread_of(repeats);
    Kind& kind = spread > kContradiction ? contradiction : noise;
    kind.rows += repeats.tokens_per_s.size();
    ++kind.keys;
    kind.spreads.push_back(spread);
    if (kind.worst == nullptr || spread > spread_of(*kind.worst)) kind.worst = &repeats;
  }
  for (const Kind* kind : {&noise, &contradiction}) {
    if (kind->keys == 0) continue;
    const std::string size = "the mean of " + std::to_string(kind->rows) + " measurements of " +
                             std::to_string(kind->keys) + " of " + count_text(all.size(), "key") +
                             " is taken";
    const std::string spread = brief(100 * (median(kind->spreads) - 1)) + " %";
    const std::string effect =
        kind == &noise
            ? size + "; largest over smallest is " + spread + " more in the middle, at worst " +
                  worst_text(*kind->worst)
            : size +
                  ", though they differ by more than 1.5 times, probably by an unrecorded change; "
                  "the largest is up to " +
                  brief(spread_of(*kind->worst)) +
                  " times the smallest: " + worst_text(*kind->worst) +
                  "; predictions near these keys may be off by as much, and their intervals do "
                  "not know";
    oddities.push_back({kind->code, kind->rows, 0, kind->worst->lines.front(), effect,
                        kind == &noise ? OddityWeight::kNote : OddityWeight::kWarning,
                        kind->rows - kind->keys});
  }
}

// Reduces the rows to a subset that depends only on their names.
void thin_out(std::vector<Repeats>& rows, size_t most, std::vector<BenchOddity>& oddities) {
  if (rows.size() <= most) return;
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < rows.size(); ++i)
    order.emplace_back(fmix64(fnv1a64(row_name(rows[i].row))), i);
  std::sort(order.begin(), order.end());
  std::vector<size_t> kept;
  for (size_t k = 0; k < most; ++k) kept.push_back(order[k].second);
  std::sort(kept.begin(), kept.end());
  const uint64_t left = rows.size() - most;
  std::vector<Repeats> subset;
  for (const size_t i : kept) subset.push_back(std::move(rows[i]));
  rows = std::move(subset);
  oddities.push_back({"rows_beyond_limit", left, left, 0,
                      "left out: memory and time grow with the square and the cube of the rows; a "
                      "fixed subset of " +
                          std::to_string(most) +
                          ", by a hash of their names, is used. A table of fewer rows or --max-rows "
                          "chooses otherwise",
                      OddityWeight::kWarning});
}

// "; dropped: 12 zero_throughput, 3 no_batch".
std::string reasons_text(const std::vector<BenchOddity>& oddities) {
  std::string text;
  for (const BenchOddity& oddity : oddities) {
    if (oddity.dropped == 0) continue;
    text +=
        (text.empty() ? "; dropped: " : ", ") + std::to_string(oddity.dropped) + " " + oddity.code;
  }
  return text;
}

class Ids {
 public:
  uint32_t of(const std::string& name, std::vector<std::string>& names) {
    const auto [at, added] = ids_.emplace(name, static_cast<uint32_t>(names.size()));
    if (added) names.push_back(name);
    return at->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace

double sequences_of(const BenchRow& row) { return row.framework == "llama.cpp" ? 1 : row.batch; }

double latency_of(const BenchRow& row) {
  if (row.latency_s > 0) return row.latency_s;
  return (row.in_len + row.out_len) * sequences_of(row) / row.tokens_per_s;
}

std::string config_name(const BenchRow& row) {
  std::string name =
      row.hardware + "|" + shortest_text(row.devices) + "|" + row.framework + "|" + row.model;
  if (!row.variant.empty()) name += "|" + row.variant.text();
  return name;
}

std::string group_name(const BenchRow& row) {
  return config_name(row) + "|" + shortest_text(row.in_len) + "|" + shortest_text(row.out_len);
}

std::string row_name(const BenchRow& row) {
  return group_name(row) + "|" + shortest_text(row.batch);
}

std::string pair_name(const BenchRow& row) { return row.hardware + "|" + row.framework; }

UntoldPrecision untold_precision(const std::string& format) {
  return format == "llm-inference-bench" ? UntoldPrecision::kSixteenBits
                                         : UntoldPrecision::kAssumed;
}

LeastLatency least_latency_by_facts(const FactBook& facts, UntoldPrecision untold) {
  const auto lookup = std::make_shared<FactLookup>(facts);
  return [lookup, untold](const BenchRow& row) -> std::optional<LatencyBound> {
    const ModelFacts* model = lookup->model(row.model);
    const HardwareFacts* hardware = lookup->hardware(row.hardware);
    if (model == nullptr || hardware == nullptr) return std::nullopt;
    const auto seconds = [&](double weight_bytes) {
      const double weights_gb = weight_bytes * model->active_b;
      return row.out_len * weights_gb / (row.devices * hardware->bandwidth_tb_s * 1000);
    };
    const Precision& precision = row.precision;
    const bool certain = precision.told || untold == UntoldPrecision::kSixteenBits;
    return LatencyBound{seconds(certain ? precision.weight_bytes : kFewestWeightBytes),
                        seconds(precision.weight_bytes)};
  };
}

void note_repeat_noise(double taken_log_sd, ThroughputData& data) {
  const RepeatNoise& repeats = data.repeats;
  if (repeats.keys == 0 || repeats.log_sd <= kNoisyRepeats * taken_log_sd) return;
  data.oddities.push_back(
      {"repeats_noisy", repeats.rows, 0, 0,
       "measurements of one key scatter by " + percent(repeats.log_sd) + " (standard deviation, " +
           count_text(repeats.keys, "key") + "), the method takes " + percent(taken_log_sd) +
           " for the noise of one. It follows single rows too closely: more than one in ten new "
           "runs may fall outside their interval. --refit fits the noise of this table",
       OddityWeight::kWarning});
}

std::optional<std::string> impossible_reason(const LeastLatency& least_latency, BenchRow point,
                                             double tokens_per_s) {
  if (!(tokens_per_s > 0)) return std::nullopt;
  const std::optional<LatencyBound> bound = least_latency(point);
  point.tokens_per_s = tokens_per_s;
  point.latency_s = std::numeric_limits<double>::quiet_NaN();
  if (!bound || latency_of(point) >= bound->least_s) return std::nullopt;
  return "impossible: faster than reading the active weights once per output token";
}

void note_precision(const FactBook& facts, UntoldPrecision untold, ThroughputData& data) {
  for (const BenchRow& row : data.rows) {
    const HardwareFacts* hardware = facts.hardware(row.hardware);
    if (facts.model(row.model) == nullptr || hardware == nullptr) continue;
    if (untold == UntoldPrecision::kAssumed && !row.precision.told) {
      count_oddity(
          data.oddities, "precision_unknown", row.line, false,
          "no precision is given: 16-bit weights are assumed; give --constants variant=fp8 (int4, "
          "bf16, ...) or a column 'precision'");
    }
    if (!peak_is_known(row, *hardware)) {
      count_oddity(
          data.oddities, "peak_unknown", row.line, false,
          "the device's peak in this precision is unknown: that of 16 bits is used (--specs FILE "
          "adds it)");
    }
  }
}

namespace {

// Usable rows by key, in the order of first occurrence.
std::vector<Repeats> rows_by_key(const BenchTable& table, std::vector<BenchOddity>& oddities) {
  std::vector<Repeats> all;
  std::unordered_map<std::string, size_t> place;
  const bool whole_numbers = has_whole_numbers(table);
  const bool first_counts = first_of_key_counts(table);
  for (const BenchRow& row : table.rows) {
    if (const auto defect = defect_of(row, whole_numbers)) {
      count_oddity(oddities, defect->code, row.line, true, defect->effect);
      continue;
    }
    const auto [at, added] = place.emplace(row_name(row), all.size());
    if (added) all.push_back({row, {}, {}, {}});
    Repeats& repeats = all[at->second];
    const bool copy = std::find(repeats.tokens_per_s.begin(), repeats.tokens_per_s.end(),
                                row.tokens_per_s) != repeats.tokens_per_s.end();
    if (!added && (copy || first_counts)) {
      count_oddity(oddities, "duplicate_key", row.line, true,
                   first_counts ? "dropped: the configuration was measured before, the first "
                                  "measurement is kept"
                                : "dropped: a copy of an earlier row",
                   OddityWeight::kNote);
      continue;
    }
    repeats.row.unsteady |= row.unsteady;
    repeats.tokens_per_s.push_back(row.tokens_per_s);
    repeats.latency_s.push_back(row.latency_s);
    repeats.lines.push_back(row.line);
  }
  return all;
}

}  // namespace

Result<ThroughputData> make_throughput_data(const BenchTable& table,
                                            const LeastLatency& least_latency, size_t most_rows) {
  ThroughputData data;
  Ids configs;
  Ids groups;
  std::vector<Repeats> all = rows_by_key(table, data.oddities);
  note_repeats(all, data.oddities);
  data.repeats = noise_of(all);
  thin_out(all, most_rows, data.oddities);
  for (const Repeats& repeats : all) {
    BenchRow row = repeats.row;
    if (repeats.tokens_per_s.size() > 1) {
      row.tokens_per_s = mean_of(repeats.tokens_per_s);
      row.latency_s = mean_of(repeats.latency_s);
    }
    const std::optional<LatencyBound> bound = least_latency ? least_latency(row) : std::nullopt;
    const bool infeasible = bound && latency_of(row) < bound->least_s;
    if (least_latency && !bound) {
      count_oddity(data.oddities, "feasibility_unchecked", row.line, false,
                   "no specifications of the model or the hardware: the speed of these runs could "
                   "not be checked (--specs FILE adds them)");
    }
    if (infeasible) {
      count_oddity(
          data.oddities, "infeasible", row.line, false,
          "faster than reading the active weights once per output token: not in fits, predictions "
          "or errors. ALA and baselines of evaluate and anneal use such rows");
    } else if (bound && latency_of(row) < bound->assumed_s) {
      count_oddity(
          data.oddities, "faster_than_16_bit", row.line, false,
          "faster than reading 16-bit weights once per output token, and no precision is given: "
          "kept, but predicted as 16-bit; give --constants variant=fp8 (int4, ...)",
          OddityWeight::kWarning);
    }
    data.config.push_back(configs.of(config_name(row), data.config_names));
    data.group.push_back(groups.of(group_name(row), data.group_names));
    data.infeasible.push_back(infeasible);
    data.rows.push_back(std::move(row));
  }
  if (data.rows.empty()) {
    return Error{ErrorCode::kFormat,
                 "no row can be used: each needs a positive throughput, lengths and batch size" +
                     reasons_text(data.oddities),
                 table.source, -1};
  }
  return data;
}

ThroughputData subset(const ThroughputData& data, const std::vector<size_t>& indices) {
  ThroughputData part;
  part.config_names = data.config_names;
  part.group_names = data.group_names;
  part.oddities = data.oddities;
  part.rows.reserve(indices.size());
  for (const size_t i : indices) {
    part.rows.push_back(data.rows[i]);
    part.config.push_back(data.config[i]);
    part.group.push_back(data.group[i]);
    part.infeasible.push_back(data.infeasible[i]);
  }
  return part;
}

ThroughputData feasible_rows(const ThroughputData& data) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    if (!data.infeasible[i] && !data.rows[i].unsteady) rows.push_back(i);
  }
  return subset(data, rows);
}

}  // namespace assay
