#include "throughput/dataset.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace assay {
namespace {

std::string number_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

// Counts by code, in the order in which the codes came up.
void note(std::vector<BenchOddity>& oddities, std::string_view code, const BenchRow& row,
          bool dropped, std::string_view effect) {
  for (BenchOddity& oddity : oddities) {
    if (oddity.code != code) continue;
    ++oddity.rows;
    oddity.dropped += dropped;
    return;
  }
  oddities.push_back({std::string(code), 1, dropped ? 1U : 0U, row.line, std::string(effect)});
}

struct Defect {
  std::string_view code;
  std::string_view effect;
};

std::optional<Defect> defect_of(const BenchRow& row) {
  if (std::isnan(row.tokens_per_s)) {
    return Defect{"no_throughput", "dropped: no throughput and no latency to work it out from"};
  }
  if (row.tokens_per_s == 0) {
    return Defect{"zero_throughput", "dropped: a run that produced nothing is no measurement"};
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
  return std::nullopt;
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
      row.hardware + "|" + number_text(row.devices) + "|" + row.framework + "|" + row.model;
  if (!row.variant.empty()) name += "|" + row.variant;
  return name;
}

std::string group_name(const BenchRow& row) {
  return config_name(row) + "|" + number_text(row.in_len) + "|" + number_text(row.out_len);
}

std::string row_name(const BenchRow& row) { return group_name(row) + "|" + number_text(row.batch); }

std::string pair_name(const BenchRow& row) { return row.hardware + "|" + row.framework; }

LeastLatency least_latency_by_facts(const FactBook& facts) {
  return [&facts](const BenchRow& row) -> std::optional<double> {
    const ModelFacts* model = facts.model(row.model);
    const HardwareFacts* hardware = facts.hardware(row.hardware);
    if (model == nullptr || hardware == nullptr) return std::nullopt;
    const double weights_gb = 2 * model->active_b;
    return row.out_len * weights_gb / (row.devices * hardware->bandwidth_tb_s * 1000);
  };
}

Result<ThroughputData> make_throughput_data(const BenchTable& table,
                                            const LeastLatency& least_latency) {
  ThroughputData data;
  Ids configs;
  Ids groups;
  std::unordered_set<std::string> keys;
  for (const BenchRow& row : table.rows) {
    if (const auto defect = defect_of(row)) {
      note(data.oddities, defect->code, row, true, defect->effect);
      continue;
    }
    if (!keys.insert(row_name(row)).second) {
      note(data.oddities, "duplicate_key", row, true,
           "dropped: the configuration was measured before, the first measurement is kept");
      continue;
    }
    const std::optional<double> least = least_latency ? least_latency(row) : std::nullopt;
    const bool infeasible = least && latency_of(row) < *least;
    if (infeasible) {
      note(data.oddities, "infeasible", row, false,
           "faster than reading the active weights once per output token: kept out of fits and "
           "of error figures");
    }
    data.config.push_back(configs.of(config_name(row), data.config_names));
    data.group.push_back(groups.of(group_name(row), data.group_names));
    data.infeasible.push_back(infeasible);
    data.rows.push_back(row);
  }
  if (data.rows.empty()) {
    return Error{ErrorCode::kFormat,
                 "no row can be used: each needs a positive throughput, lengths and batch size",
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

}  // namespace assay
