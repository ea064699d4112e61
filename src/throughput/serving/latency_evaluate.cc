#include "throughput/serving/latency_evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/stats.h"
#include "throughput/serving/limits.h"
#include "throughput/serving/serving_base.h"
#include "throughput/splits.h"

namespace assay {
namespace {

struct LatencySplit {
  const char* name;
  std::function<std::string(const BenchRow&)> block;  // name of the block held out together
  bool each = false;                                  // one fold per block; else folds by hash
  std::function<bool(const BenchRow&)> test = {};     // instead of blocks: a single fold
  std::function<bool(const BenchRow&)> train = {};
};

std::vector<LatencySplit> latency_splits(const FactBook& facts) {
  constexpr double kFewInFlight = 32;
  constexpr double kManyInFlight = 64;
  constexpr double kShortPrompt = 1100;
  constexpr double kLongPrompt = 4000;
  std::vector<LatencySplit> splits;
  splits.push_back({"campaign", [](const BenchRow& row) { return row.campaign; }});
  splits.push_back(
      {"build", [](const BenchRow& row) { return row.framework + "|" + row.variant.version; }});
  splits.push_back({"configuration", [facts](const BenchRow& row) {
                      BenchVariant variant = row.variant;
                      variant.version.clear();
                      return latency_unit_of(row, facts) + "|" + std::to_string(row.devices) + "|" +
                             variant.text();
                    }});
  splits.push_back({"unit", [facts](const BenchRow& row) { return latency_unit_of(row, facts); }});
  // Uses the name in the specifications, because tables may write a model in two ways.
  splits.push_back({"model",
                    [facts](const BenchRow& row) {
                      const ModelFacts* model = FactLookup(facts).model(row.model);
                      return model == nullptr ? row.model : model->name;
                    },
                    true});
  splits.push_back({"GPU", [](const BenchRow& row) { return row.hardware; }, true});
  splits.push_back({"more in flight",
                    {},
                    false,
                    [](const BenchRow& row) { return row.batch >= kManyInFlight; },
                    [](const BenchRow& row) { return row.batch <= kFewInFlight; }});
  splits.push_back({"longer prompts",
                    {},
                    false,
                    [](const BenchRow& row) { return row.in_len >= kLongPrompt; },
                    [](const BenchRow& row) { return row.in_len <= kShortPrompt; }});
  return splits;
}

struct Fold {
  std::vector<BenchRow> train;
  std::vector<size_t> test;  // indices of rows
};

std::vector<Fold> folds_of(const LatencySplit& split, const std::vector<BenchRow>& rows) {
  std::map<std::string, size_t> number;
  std::vector<size_t> fold_of_row(rows.size(), 0);
  size_t folds = 1;
  if (split.block) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string name = split.block(rows[i]);
      const size_t next = split.each ? number.size() : fold_of(name);
      fold_of_row[i] = number.emplace(name, next).first->second;
      folds = std::max(folds, fold_of_row[i] + 1);
    }
  }
  std::vector<Fold> out(folds);
  for (size_t f = 0; f < folds; ++f) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool tested = split.block ? fold_of_row[i] == f : split.test(rows[i]);
      const bool trained = split.block ? !tested : split.train(rows[i]);
      if (tested) out[f].test.push_back(i);
      if (trained) out[f].train.push_back(rows[i]);
    }
  }
  std::erase_if(out, [](const Fold& fold) { return fold.test.empty() || fold.train.empty(); });
  return out;
}

struct Tested {
  size_t row = 0;
  LatencyAnswer answer;
  std::array<double, kLatencyTargets> baseline_ms{};
  double correlation = 0;
};

// Baseline: the analytical base times one factor per engine and GPU.
class Baseline {
 public:
  Baseline(const std::vector<BenchRow>& rows, const FactBook& facts) : lookup_(facts) {
    for (const BenchRow& row : rows) {
      const auto base = base_of(row);
      if (!base) continue;
      for (size_t t = 0; t < kLatencyTargets; ++t) {
        const double off = std::log(measured_ms(row, kAllLatencyTargets[t]) / (*base)[t]);
        logs_[pair(row)][t].push_back(off);
        logs_[""][t].push_back(off);
      }
    }
  }
  double ms(const BenchRow& row, size_t target) {
    const auto own = logs_.find(pair(row));
    const auto& logs = own != logs_.end() ? own->second : logs_[""];
    return (*base_of(row))[target] * std::exp(median(logs[target]));
  }

 private:
  using PerTarget = std::array<double, kLatencyTargets>;
  // Uses the device's name in the specifications, because tables may write it in two ways.
  std::string pair(const BenchRow& row) {
    const HardwareFacts* hardware = lookup_.hardware(row.hardware);
    return (hardware == nullptr ? row.hardware : hardware->name) + "|" + row.framework;
  }
  std::optional<PerTarget> base_of(const BenchRow& row) {
    const ModelFacts* model = lookup_.model(row.model);
    const HardwareFacts* hardware = lookup_.hardware(row.hardware);
    if (model == nullptr || hardware == nullptr) return std::nullopt;
    const ServingBase base = serving_base(row, *model, *hardware);
    return PerTarget{base.ttft_ms, base.tpot_ms, base.e2e_ms};
  }

  FactLookup lookup_;
  std::map<std::string, std::array<std::vector<double>, kLatencyTargets>> logs_;
};

// Removes the values that the model must not see.
BenchRow question_of(BenchRow row) {
  row.ttft_ms = row.tpot_ms = row.latency_s = row.tokens_per_s = kNan;
  return row;
}

Status test_fold(const std::vector<BenchRow>& rows, const Fold& fold, const FactBook& facts,
                 std::vector<Tested>& out) {
  ASSAY_TRY_ASSIGN(const LatencyModel model, LatencyModel::fit(fold.train, facts));
  Baseline baseline(fold.train, facts);
  std::vector<BenchRow> questions;
  for (const size_t i : fold.test) questions.push_back(question_of(rows[i]));
  const auto answers = model.answer(questions);
  for (size_t k = 0; k < fold.test.size(); ++k) {
    if (!answers[k]) continue;
    Tested tested{fold.test[k], *answers[k], {}, model.correlation()};
    for (size_t t = 0; t < kLatencyTargets; ++t)
      tested.baseline_ms[t] = baseline.ms(rows[fold.test[k]], t);
    out.push_back(std::move(tested));
  }
  return Ok{};
}

struct UnitHits {
  size_t rows = 0;
  size_t held = 0;
};

void find_worst_unit(const std::map<std::string, UnitHits>& units, LatencyErrors& errors) {
  errors.worst_coverage90 = kNan;
  for (const auto& [name, hits] : units) {
    if (hits.rows < kFewestUnitRows) continue;
    ++errors.units;
    const double share = static_cast<double>(hits.held) / static_cast<double>(hits.rows);
    errors.units_below += share < kPoorCoverage;
    if (share >= errors.worst_coverage90) continue;
    errors.worst_coverage90 = share;
    errors.worst_unit = name;
    errors.worst_rows = hits.rows;
  }
}

double share_of(size_t part, size_t whole) {
  return share(static_cast<int64_t>(part), static_cast<int64_t>(whole));
}

LatencyErrors sum_up(const std::vector<BenchRow>& rows, const std::vector<const Tested*>& tested,
                     LatencyTarget target, const FactBook& facts) {
  const auto t = static_cast<size_t>(target);
  LatencyErrors out;
  out.target = target;
  out.rows = tested.size();
  std::vector<double> ape, base, widths;
  std::set<std::string> campaigns, narrow_campaigns;
  std::map<std::string, UnitHits> units;
  size_t held = 0;
  size_t narrow_held = 0;
  for (const Tested* one : tested) {
    const BenchRow& row = rows[one->row];
    const double measured = measured_ms(row, target);
    const LatencyEstimate& told = one->answer.of[t];
    const bool holds = told.low90_ms <= measured && measured <= told.high90_ms;
    ape.push_back(std::abs(told.ms / measured - 1));
    base.push_back(std::abs(one->baseline_ms[t] / measured - 1));
    widths.push_back(told.half_width90());
    held += holds;
    campaigns.insert(row.campaign);
    UnitHits& unit = units[latency_unit_of(row, facts)];
    ++unit.rows;
    unit.held += holds;
    if (widths.back() > kWidestInside) continue;
    ++out.narrow_rows;
    narrow_held += holds;
    narrow_campaigns.insert(row.campaign);
  }
  out.campaigns = campaigns.size();
  out.narrow_campaigns = narrow_campaigns.size();
  out.coverage90 = share_of(held, out.rows);
  out.narrow_coverage90 = share_of(narrow_held, out.narrow_rows);
  std::sort(ape.begin(), ape.end());
  std::sort(base.begin(), base.end());
  out.median_ape = quantile_sorted(ape, 0.5);
  out.p90_ape = quantile_sorted(ape, 0.9);
  out.baseline_median_ape = quantile_sorted(base, 0.5);
  out.baseline_p90_ape = quantile_sorted(base, 0.9);
  out.half_width90 = median(widths);
  find_worst_unit(units, out);
  return out;
}

// Adds the errors of the baseline (nearest sibling times the ratio of data sheets) and of the
// answers for the same rows.
void add_sibling(std::string_view split, const std::vector<BenchRow>& rows,
                 const std::vector<const Tested*>& tested, LatencyTarget target,
                 std::vector<LatencyErrors>& out) {
  std::vector<double> alone, told;
  for (const Tested* one : tested) {
    const double measured = measured_ms(rows[one->row], target);
    const double sibling_ms = one->answer.sibling_ms[static_cast<size_t>(target)];
    if (!std::isfinite(sibling_ms)) continue;
    alone.push_back(std::abs(sibling_ms / measured - 1));
    told.push_back(std::abs(one->answer.at(target).ms / measured - 1));
  }
  if (alone.empty()) return;
  std::sort(alone.begin(), alone.end());
  std::sort(told.begin(), told.end());
  LatencyErrors errors;
  errors.split = split;
  errors.question = kSiblingQuestion;
  errors.target = target;
  errors.rows = alone.size();
  errors.median_ape = quantile_sorted(told, 0.5);
  errors.p90_ape = quantile_sorted(told, 0.9);
  errors.baseline_median_ape = quantile_sorted(alone, 0.5);
  errors.baseline_p90_ape = quantile_sorted(alone, 0.9);
  errors.coverage90 = errors.half_width90 = errors.narrow_coverage90 = kNan;
  errors.worst_coverage90 = kNan;
  out.push_back(errors);
}

void add_questions(std::string_view split, const std::vector<BenchRow>& rows,
                   const std::vector<Tested>& tested, LatencyTarget target, const FactBook& facts,
                   std::vector<LatencyErrors>& out) {
  std::array<std::vector<const Tested*>, kLatencyQuestions> by_question;
  for (const Tested& one : tested)
    by_question[static_cast<size_t>(one.answer.question)].push_back(&one);
  for (size_t q = 0; q < kLatencyQuestions; ++q) {
    if (by_question[q].empty()) continue;
    out.push_back(sum_up(rows, by_question[q], target, facts));
    out.back().split = split;
    out.back().question = latency_question_name(static_cast<LatencyQuestion>(q));
  }
}

void add_errors(std::string_view split, const std::vector<BenchRow>& rows,
                const std::vector<Tested>& tested, const FactBook& facts,
                std::vector<LatencyErrors>& out) {
  const bool all = split == "GPU";
  for (const LatencyTarget target : kAllLatencyTargets) {
    std::vector<const Tested*> inside;
    for (const Tested& one : tested) {
      if (all || one.answer.question != LatencyQuestion::kHardware) inside.push_back(&one);
    }
    if (!inside.empty()) {
      out.push_back(sum_up(rows, inside, target, facts));
      out.back().split = split;
      if (all) add_sibling(split, rows, inside, target, out);
    }
    if (split == "campaign" || split == kOtherTable)
      add_questions(split, rows, tested, target, facts, out);
  }
}

// Typical service limits on mean TTFT and TPOT, in ms.
constexpr std::array<std::pair<double, double>, 6> kLimits = {
    {{200, 10}, {500, 20}, {500, 50}, {1000, 30}, {2000, 50}, {5000, 100}}};

void calibrate(const std::vector<BenchRow>& rows, const std::vector<Tested>& tested,
               LatencyEvaluation& out) {
  constexpr std::array<double, 7> kEdges = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0001};
  out.limits.assign(kEdges.size() - 1, {});
  for (size_t b = 0; b + 1 < kEdges.size(); ++b) {
    out.limits[b].from = kEdges[b];
    out.limits[b].to = std::min(1.0, kEdges[b + 1]);
  }
  double squares = 0, met_all = 0, asked = 0;
  for (const Tested& one : tested) {
    if (one.answer.question == LatencyQuestion::kHardware) continue;
    for (const auto& [ttft_ms, tpot_ms] : kLimits) {
      const double told = limits_probability(one.answer, one.correlation, ttft_ms, tpot_ms);
      const BenchRow& row = rows[one.row];
      const double met = row.ttft_ms <= ttft_ms && row.tpot_ms <= tpot_ms ? 1 : 0;
      size_t b = 0;
      while (told >= kEdges[b + 1]) ++b;
      ++out.limits[b].asked;
      out.limits[b].told += told;
      out.limits[b].met += met;
      squares += squared(told - met);
      met_all += met;
      asked += 1;
    }
  }
  for (LimitCalibration& bin : out.limits) {
    const auto count = static_cast<double>(bin.asked);
    bin.told = count > 0 ? bin.told / count : kNan;
    bin.met = count > 0 ? bin.met / count : kNan;
  }
  out.brier = asked > 0 ? squares / asked : kNan;
  out.brier_constant = asked > 0 ? met_all / asked * (1 - met_all / asked) : kNan;
}

}  // namespace

double limits_probability(const LatencyAnswer& answer, double correlation, double ttft_ms,
                          double tpot_ms) {
  const LatencyEstimate& ttft = answer.at(LatencyTarget::kTtft);
  const LatencyEstimate& tpot = answer.at(LatencyTarget::kTpot);
  double sum = 0;
  for (const LatencyDraw& draw : latency_draws(ttft.log_sd, tpot.log_sd, correlation)) {
    if (ttft.ms * draw.ttft_factor <= ttft_ms && tpot.ms * draw.tpot_factor <= tpot_ms)
      sum += draw.weight;
  }
  return sum;
}

Result<LatencyEvaluation> evaluate_latency(const std::vector<BenchRow>& all, const FactBook& facts,
                                           const LatencyProgress& progress) {
  LatencyEvaluation out;
  std::vector<BenchRow> rows;
  FactLookup lookup(facts);
  for (const BenchRow& row : all) {
    if (teaches_latency(row, lookup)) {
      rows.push_back(row);
    } else {
      out.left_out += tells_latency(row);
    }
  }
  for (const LatencySplit& split : latency_splits(facts)) {
    const std::vector<Fold> folds = folds_of(split, rows);
    std::vector<Tested> tested;
    for (size_t f = 0; f < folds.size(); ++f) {
      if (progress && !progress(split.name, f, folds.size())) return LatencyEvaluation{};
      ASSAY_TRY(test_fold(rows, folds[f], facts, tested));
    }
    if (tested.empty()) {
      out.skipped.push_back(split.name);
      continue;
    }
    add_errors(split.name, rows, tested, facts, out.errors);
    if (std::string_view(split.name) == "campaign") calibrate(rows, tested, out);
  }
  return out;
}

namespace {

// Identity of a measurement.
using Measurement = std::array<double, 5>;
Measurement measurement_of(const BenchRow& row) {
  return {row.ttft_ms, row.tpot_ms, row.in_len, row.out_len, row.batch};
}

void tell_rows(const std::vector<BenchRow>& other, const std::vector<Tested>& tested,
               std::vector<JudgedRow>& out) {
  for (const Tested& one : tested) {
    const BenchRow& row = other[one.row];
    for (const LatencyTarget target : kAllLatencyTargets) {
      out.push_back(
          {&row, one.answer.question, target, measured_ms(row, target), one.answer.at(target)});
    }
  }
}

}  // namespace

Result<LatencyEvaluation> judge_latency(const std::vector<BenchRow>& rows,
                                        const std::vector<BenchRow>& other, const FactBook& facts) {
  LatencyEvaluation out;
  FactLookup lookup(facts);
  Fold fold;
  std::set<Measurement> known;
  std::set<std::string> engines;
  for (const BenchRow& row : rows) {
    if (!teaches_latency(row, lookup)) continue;
    fold.train.push_back(row);
    known.insert(measurement_of(row));
    engines.insert(row.framework);
  }
  for (size_t i = 0; i < other.size(); ++i) {
    const bool teaches = teaches_latency(other[i], lookup);
    const bool copy = teaches && known.count(measurement_of(other[i])) > 0;
    out.left_out += !teaches && tells_latency(other[i]);
    out.copies += copy;
    if (!teaches || copy) continue;
    if (engines.count(other[i].framework) == 0) {
      ++out.unanswered;
      continue;
    }
    fold.test.push_back(i);
  }
  std::vector<Tested> tested;
  ASSAY_TRY(test_fold(other, fold, facts, tested));
  if (tested.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        "no row of the other table can be evaluated: a row must be new and of an engine with "
        "rows. It needs TTFT, TPOT and a known model and GPU (see --judge-meta)",
        "", -1};
  }
  add_errors(kOtherTable, other, tested, facts, out.errors);
  calibrate(other, tested, out);
  tell_rows(other, tested, out.judged);
  return out;
}

}  // namespace assay
