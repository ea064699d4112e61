#include "breakdown/query.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/stats.h"
#include "breakdown/mapping.h"
#include "trace/label_windows.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, kLevelKeys> kKeyNames = {"gpu",   "iter", "phase",
                                                                "layer", "op",   "op_type"};
constexpr std::array<std::string_view, 8> kStatNames = {"median", "mean", "min", "max",
                                                        "p25",    "p75",  "p95", "sum"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

template <size_t N>
std::optional<size_t> index_of(const std::array<std::string_view, N>& names,
                               std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

Error bad(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

bool is_number_key(LevelKey key) {
  return key == LevelKey::kGpu || key == LevelKey::kIter || key == LevelKey::kLayer;
}

std::optional<int64_t> number_from(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<LevelCondition> parse_condition(std::string_view text) {
  const size_t equals = text.find('=');
  const std::optional<size_t> key = index_of(kKeyNames, text.substr(0, equals));
  if (equals == std::string_view::npos || !key) {
    return bad("--where " + std::string(text) +
               ": a condition is KEY=VALUE with gpu, iter, phase, layer, op or op_type");
  }
  LevelCondition condition{static_cast<LevelKey>(*key), {}, {}};
  for (std::string_view value : split(text.substr(equals + 1), '+')) {
    if (!is_number_key(condition.key)) {
      condition.patterns.emplace_back(value);
      continue;
    }
    const size_t dots = value.find("..");
    const std::optional<int64_t> low = number_from(value.substr(0, dots));
    const std::optional<int64_t> high =
        dots == std::string_view::npos ? low : number_from(value.substr(dots + 2));
    if (!low || !high || *low > *high) {
      return bad("--where " + std::string(text) + ": a number such as 3, or a range such as 2..5");
    }
    condition.ranges.emplace_back(*low, *high);
  }
  if (condition.ranges.empty() && condition.patterns.empty()) {
    return bad("--where " + std::string(text) + ": no value after the '='");
  }
  return condition;
}

bool matches(const LevelCondition& condition, int64_t number) {
  return std::any_of(condition.ranges.begin(), condition.ranges.end(), [number](const auto& range) {
    return range.first <= number && number <= range.second;
  });
}

bool matches(const LevelCondition& condition, std::string_view text) {
  return std::any_of(condition.patterns.begin(), condition.patterns.end(),
                     [text](const std::string& pattern) { return matches_glob(text, pattern); });
}

bool matches(const LevelCondition& condition, const LevelCell& cell,
             const std::vector<std::string>& op_names) {
  switch (condition.key) {
    case LevelKey::kGpu:
      return matches(condition, cell.gpu);
    case LevelKey::kIter:
      return matches(condition, static_cast<int64_t>(cell.iter));
    case LevelKey::kLayer:
      return matches(condition, static_cast<int64_t>(cell.layer));
    case LevelKey::kPhase:
      return matches(condition, level_phase_name(cell.phase));
    case LevelKey::kOp:
      return matches(condition, std::string_view(op_names[cell.op]));
    case LevelKey::kOpType:
      return matches(condition, op_type_name(cell.op_type));
  }
  return false;
}

using GroupKey = std::tuple<int64_t, int32_t, LevelPhase, int32_t, std::string_view, OpType>;

double reduce(std::vector<double> values, LevelStat stat) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (double value : values) sum += value;
  switch (stat) {
    case LevelStat::kMedian:
      return quantile_sorted(values, 0.5);
    case LevelStat::kMean:
      return sum / static_cast<double>(values.size());
    case LevelStat::kMin:
      return values.front();
    case LevelStat::kMax:
      return values.back();
    case LevelStat::kP25:
      return quantile_sorted(values, 0.25);
    case LevelStat::kP75:
      return quantile_sorted(values, 0.75);
    case LevelStat::kP95:
      return quantile_sorted(values, 0.95);
    case LevelStat::kSum:
      return sum;
  }
  return sum;
}

LevelGroupRow reduce_group(const LevelCell& keys, const std::vector<LevelSums>& samples,
                           LevelStat stat) {
  const auto over = [&](auto value) {
    std::vector<double> values;
    values.reserve(samples.size());
    for (const LevelSums& sample : samples) values.push_back(static_cast<double>(value(sample)));
    return reduce(std::move(values), stat);
  };
  using S = LevelSums;
  LevelGroupRow row{.keys = keys, .stat = stat, .samples = samples.size()};
  row.kernels = over([](const S& s) { return s.kernels; });
  row.dur_ns = over([](const S& s) { return s.dur_ns; });
  row.prep_ns = over([](const S& s) { return s.prep_ns; });
  row.call_ns = over([](const S& s) { return s.call_ns; });
  row.launch_ns = over([](const S& s) { return s.launch_ns; });
  row.comm_wait_ns = over([](const S& s) { return s.comm_wait_ns; });
  row.overlap_ns = over([](const S& s) { return s.overlap_ns; });
  row.op_dur_ns = over([](const S& s) { return s.op_dur_ns; });
  row.overlap_ratio = over([](const S& s) { return s.overlap_ratio(); });
  if (stat == LevelStat::kSum) {
    row.overlap_ratio =
        row.dur_ns > 0 ? row.overlap_ns / row.dur_ns : std::numeric_limits<double>::quiet_NaN();
  }
  return row;
}

}  // namespace

std::string_view level_stat_name(LevelStat stat) { return kStatNames[static_cast<size_t>(stat)]; }

Result<LevelQuery> parse_level_query(std::string_view group_by, std::string_view where,
                                     std::string_view stats) {
  LevelQuery query;
  for (std::string_view name : split(group_by, ',')) {
    const std::optional<size_t> key = index_of(kKeyNames, name);
    if (!key) {
      return bad("--group-by " + std::string(name) + ": gpu, iter, phase, layer, op or op_type");
    }
    query.group_by.push_back(static_cast<LevelKey>(*key));
  }
  for (std::string_view text : split(where, ',')) {
    ASSAY_TRY_ASSIGN(LevelCondition condition, parse_condition(text));
    query.where.push_back(std::move(condition));
  }
  for (std::string_view name : split(stats, ',')) {
    const std::optional<size_t> stat = index_of(kStatNames, name);
    if (!stat) {
      return bad("--stat " + std::string(name) + ": median, mean, min, max, p25, p75, p95 or sum");
    }
    query.stats.push_back(static_cast<LevelStat>(*stat));
  }
  if (query.stats.empty()) query.stats.push_back(LevelStat::kMedian);
  return query;
}

bool cell_matches(const LevelCell& cell, const std::vector<std::string>& op_names,
                  const std::vector<LevelCondition>& where) {
  return std::all_of(where.begin(), where.end(), [&](const LevelCondition& condition) {
    return matches(condition, cell, op_names);
  });
}

std::vector<LevelGroupRow> run_level_query(const std::vector<LevelCell>& cells,
                                           const std::vector<std::string>& op_names,
                                           const LevelQuery& query) {
  const auto grouped = [&query](LevelKey key) {
    return std::find(query.group_by.begin(), query.group_by.end(), key) != query.group_by.end();
  };
  struct Group {
    LevelCell keys;
    std::map<std::pair<int64_t, int32_t>, LevelSums> samples;
  };
  std::map<GroupKey, Group> groups;
  for (const LevelCell& cell : cells) {
    if (cell.iter == kNoIteration || !cell_matches(cell, op_names, query.where)) continue;
    LevelCell keys;
    if (grouped(LevelKey::kGpu)) keys.gpu = cell.gpu;
    if (grouped(LevelKey::kIter)) keys.iter = cell.iter;
    if (grouped(LevelKey::kPhase)) keys.phase = cell.phase;
    if (grouped(LevelKey::kLayer)) keys.layer = cell.layer;
    if (grouped(LevelKey::kOp)) keys.op = cell.op;
    if (grouped(LevelKey::kOpType)) keys.op_type = cell.op_type;
    const std::string_view op = grouped(LevelKey::kOp) ? op_names[cell.op] : std::string_view();
    Group& group = groups[{keys.gpu, keys.iter, keys.phase, keys.layer, op, keys.op_type}];
    group.keys = keys;
    group.samples[{cell.gpu, cell.iter}].add(cell.sums);
  }
  std::vector<LevelGroupRow> rows;
  for (const auto& [key, group] : groups) {
    std::vector<LevelSums> samples;
    for (const auto& [sample, sums] : group.samples) samples.push_back(sums);
    for (LevelStat stat : query.stats) rows.push_back(reduce_group(group.keys, samples, stat));
  }
  return rows;
}

}  // namespace assay
