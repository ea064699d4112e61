#include "throughput/evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/stats.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

std::vector<BenchRow> questions(const ThroughputData& data, const std::vector<size_t>& indices) {
  std::vector<BenchRow> points;
  points.reserve(indices.size());
  for (const size_t i : indices) {
    BenchRow point = data.rows[i];
    // A method must not see the value that it predicts.
    point.tokens_per_s = point.latency_s = point.output_tokens_per_s =
        std::numeric_limits<double>::quiet_NaN();
    point.ttft_ms = point.tpot_ms = point.power_w = point.latency_s;
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

ErrorSummary summarize_errors(const ThroughputData& data, const std::vector<TestedRow>& rows) {
  ErrorSummary summary;
  std::vector<double> errors;
  std::vector<double> widths;
  double sum = 0;
  size_t covered = 0;
  for (const TestedRow& tested : rows) {
    if (data.infeasible[tested.row] || data.rows[tested.row].unsteady) {
      ++summary.infeasible;
      continue;
    }
    ++summary.rows;
    const Prediction& p = tested.prediction;
    if (!std::isfinite(tested.ape)) continue;
    summary.impossible += p.tokens_per_s <= 0;
    summary.outside += p.status == PredictionStatus::kOutside;
    errors.push_back(tested.ape);
    sum += tested.ape;
    if (!std::isfinite(p.low90) || std::isnan(p.high90)) continue;
    const double measured = data.rows[tested.row].tokens_per_s;
    covered += p.low90 <= measured && measured <= p.high90;
    widths.push_back(p.high90 / p.tokens_per_s - 1);
  }
  summary.answered = errors.size();
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());
  summary.p10_ape = quantile_sorted(errors, 0.1);
  summary.p25_ape = quantile_sorted(errors, 0.25);
  summary.p75_ape = quantile_sorted(errors, 0.75);
  summary.median_ape = quantile_sorted(errors, 0.5);
  summary.p90_ape = quantile_sorted(errors, 0.9);
  summary.mean_ape = sum / static_cast<double>(errors.size());
  if (!widths.empty()) {
    summary.coverage90 = static_cast<double>(covered) / static_cast<double>(widths.size());
    summary.half_width90 = median(std::move(widths));
  }
  return summary;
}

std::vector<NamedErrors> errors_by(const ThroughputData& data, const SplitErrors& errors,
                                   const std::function<std::string(const BenchRow&)>& name_of) {
  std::map<std::string, std::vector<TestedRow>> rows;
  for (const TestedRow& tested : errors.rows)
    rows[name_of(data.rows[tested.row])].push_back(tested);
  std::vector<NamedErrors> named;
  for (const auto& [name, tested] : rows) named.push_back({name, summarize_errors(data, tested)});
  return named;
}

Result<SplitErrors> evaluate_split(const ThroughputData& data, const Split& split,
                                   const ThroughputMethod& method,
                                   const EvaluateProgress& progress) {
  SplitErrors result{
      .split = split.name, .label = split.label, .method = method.name, .summary = {}, .rows = {}};
  for (size_t k = 0; k < split.folds.size(); ++k) {
    if (progress && !progress(method.name, split, k)) break;
    const SplitFold& fold = split.folds[k];
    ASSAY_TRY_ASSIGN(const std::unique_ptr<ThroughputModel> model,
                     method.fit(subset(data, fold.train), split.held_out));
    const std::vector<Prediction> predictions = model->predict(questions(data, fold.test));
    for (size_t i = 0; i < fold.test.size(); ++i) {
      const double measured = data.rows[fold.test[i]].tokens_per_s;
      const double ape = std::fabs(predictions[i].tokens_per_s / measured - 1);
      result.rows.push_back({fold.test[i], k, predictions[i], ape});
    }
  }
  result.summary = summarize_errors(data, result.rows);
  return result;
}

}  // namespace assay
