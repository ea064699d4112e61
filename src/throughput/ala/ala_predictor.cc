#include "throughput/ala/ala_predictor.h"

#include <algorithm>
#include <cmath>

#include "throughput/ala/annealing.h"
#include "throughput/dataset.h"
#include "throughput/reach.h"

namespace assay {
namespace {

constexpr size_t kNearest = 3;

// The kNearest rows of one configuration, by distance of lengths and batch size in doublings.
std::vector<Evidence> nearest_rows(const BenchRow& point, const ThroughputData& data,
                                   const std::vector<size_t>& rows) {
  std::vector<std::pair<double, size_t>> order;
  for (const size_t i : rows) {
    const BenchRow& row = data.rows[i];
    order.emplace_back(std::fabs(std::log2(point.in_len / row.in_len)) +
                           std::fabs(std::log2(point.out_len / row.out_len)) +
                           std::fabs(std::log2(point.batch / row.batch)),
                       i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Evidence> out;
  for (const auto& [distance, i] : order) {
    if (out.size() == kNearest) break;
    const BenchRow& row = data.rows[i];
    out.push_back({i, "same configuration", point.in_len / row.in_len, point.batch / row.batch});
  }
  return out;
}

void note_unknown(const char* what, const std::string& name, const ThroughputData& data,
                  std::string BenchRow::* field, std::vector<std::string>& reasons) {
  const bool known = std::any_of(data.rows.begin(), data.rows.end(),
                                 [&](const BenchRow& row) { return row.*field == name; });
  if (!known) reasons.push_back(std::string("no row with the ") + what + " " + name);
}

HeldOut kind_of(const std::string& basis, bool has_config) {
  if (basis == "database") return HeldOut::kRow;
  return has_config ? HeldOut::kGroup : HeldOut::kConfig;
}

}  // namespace

AlaPredictor::AlaPredictor(const ThroughputData& data, double outside_factor,
                           const BoostOptions& options, LeastLatency least_latency)
    : data_(feasible_rows(data)),
      outside_factor_(outside_factor),
      options_(options),
      least_latency_(std::move(least_latency)),
      fits_(fit_groups(data_)),
      rows_of_config_(data_.config_names.size()) {
  for (size_t i = 0; i < data_.rows.size(); ++i) rows_of_config_[data_.config[i]].push_back(i);
}

const std::vector<size_t>* AlaPredictor::own_rows(const BenchRow& point) const {
  const auto config =
      std::find(data_.config_names.begin(), data_.config_names.end(), config_name(point));
  if (config == data_.config_names.end()) return nullptr;
  const std::vector<size_t>& rows =
      rows_of_config_[static_cast<size_t>(config - data_.config_names.begin())];
  return rows.empty() ? nullptr : &rows;
}

AlaAnswer AlaPredictor::judged(const BenchRow& point, Prediction prediction) const {
  const std::vector<size_t>* own = own_rows(point);
  const bool known = own != nullptr;
  std::vector<size_t> rows;
  if (known) {
    rows = *own;
  } else {
    for (size_t i = 0; i < data_.rows.size(); ++i) rows.push_back(i);
  }
  AlaAnswer out;
  out.confidence = point_confidence(data_, rows, point);
  out.explained.kind = kind_of(prediction.basis, known);
  std::vector<std::string>& reasons = out.explained.reasons;
  Reach reach;
  for (const size_t i : rows) reach.add(data_.rows[i]);
  note_beyond("batch", point.batch, reach.batch, outside_factor_, reasons);
  note_beyond("input length", point.in_len, reach.in_len, outside_factor_, reasons);
  note_beyond("output length", point.out_len, reach.out_len, outside_factor_, reasons);
  if (out.explained.kind != HeldOut::kRow) note_ratio(ratio_of(point), reach.ratio, reasons);
  if (known) {
    out.explained.nearest = nearest_rows(point, data_, rows);
  } else {
    note_beyond("devices", point.devices, reach.devices, outside_factor_, reasons);
    note_unknown("hardware", point.hardware, data_, &BenchRow::hardware, reasons);
    note_unknown("framework", point.framework, data_, &BenchRow::framework, reasons);
    note_unknown("model", point.model, data_, &BenchRow::model, reasons);
  }
  if (prediction.status == PredictionStatus::kInside && !(prediction.tokens_per_s > 0)) {
    reasons.emplace_back("the curve has no positive throughput there");
  }
  if (least_latency_) {
    if (auto reason = impossible_reason(least_latency_, point, prediction.tokens_per_s))
      reasons.push_back(*std::move(reason));
  }
  if (prediction.status == PredictionStatus::kInside && !reasons.empty()) {
    prediction.status = PredictionStatus::kOutside;
  }
  if (prediction.status == PredictionStatus::kNoAnswer) reasons.push_back(prediction.basis);
  out.explained.prediction = std::move(prediction);
  return out;
}

Result<std::vector<AlaAnswer>> AlaPredictor::answer(const std::vector<BenchRow>& points) const {
  ASSAY_TRY_ASSIGN(const std::unique_ptr<ThroughputModel> own,
                   ala_per_config_method(options_).fit(data_, HeldOut::kGroup));
  std::vector<Prediction> predictions = own->predict(points);
  std::vector<size_t> strange;
  std::vector<BenchRow> strangers;
  for (size_t i = 0; i < points.size(); ++i) {
    if (own_rows(points[i]) != nullptr) continue;
    strange.push_back(i);
    strangers.push_back(points[i]);
  }
  if (!strange.empty()) {
    ASSAY_TRY_ASSIGN(const std::unique_ptr<ThroughputModel> pooled,
                     ala_pooled_method(vocabulary_of(data_), true).fit(data_, HeldOut::kConfig));
    const std::vector<Prediction> answers = pooled->predict(strangers);
    for (size_t k = 0; k < strange.size(); ++k) {
      predictions[strange[k]] = answers[k];
      if (answers[k].basis == "parameter model")
        predictions[strange[k]].basis = "parameter model of all configurations";
    }
  }
  std::vector<AlaAnswer> out;
  for (size_t i = 0; i < points.size(); ++i)
    out.push_back(judged(points[i], std::move(predictions[i])));
  return out;
}

}  // namespace assay
