#include "throughput/ala/ala.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "base/numbers.h"
#include "base/stats.h"
#include "throughput/dataset.h"

namespace assay {

// Keys are the bytes of the options, the training curves and the wanted lengths.
class CurveCache {
 public:
  const SaturationCurve* find(const std::string& key) const {
    const auto at = curves_.find(key);
    return at == curves_.end() ? nullptr : &at->second;
  }
  void put(const std::string& key, SaturationCurve curve) { curves_.emplace(key, curve); }

 private:
  std::unordered_map<std::string, SaturationCurve> curves_;
};

std::shared_ptr<CurveCache> make_curve_cache() { return std::make_shared<CurveCache>(); }

namespace {

// Lower bound of rate and levels before the logarithm.
constexpr double kLeastLogTarget = 1e-6;

void append_bytes(std::string& key, double value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  key.append(bytes, sizeof(bytes));
}

std::string cache_key(const std::vector<KnownCurve>& known, const BoostOptions& options) {
  std::string key;
  append_bytes(key, options.rounds);
  append_bytes(key, options.eta);
  for (const KnownCurve& entry : known) {
    for (const double value : {entry.lengths.in_len, entry.lengths.out_len, entry.curve.a,
                               entry.curve.b, entry.curve.c}) {
      append_bytes(key, value);
    }
  }
  return key;
}

using Curves = std::map<LengthPair, SaturationCurve>;

// Curves at `wanted` from one configuration's regression models, by way of the cache.
Result<Curves> curves_for(const std::vector<KnownCurve>& known, const std::set<LengthPair>& wanted,
                          const BoostOptions& options, CurveCache& cache) {
  const std::string training = cache_key(known, options);
  const auto key_of = [&](LengthPair lengths) {
    std::string key = training;
    append_bytes(key, lengths.in_len);
    append_bytes(key, lengths.out_len);
    return key;
  };
  Curves curves;
  std::vector<LengthPair> unknown;
  for (const LengthPair lengths : wanted) {
    if (const SaturationCurve* curve = cache.find(key_of(lengths))) {
      curves.emplace(lengths, *curve);
    } else {
      unknown.push_back(lengths);
    }
  }
  if (unknown.empty()) return curves;
  ASSAY_TRY_ASSIGN(const std::vector<SaturationCurve> predicted,
                   predict_curves(known, unknown, options));
  for (size_t i = 0; i < unknown.size(); ++i) {
    cache.put(key_of(unknown[i]), predicted[i]);
    curves.emplace(unknown[i], predicted[i]);
  }
  return curves;
}

Prediction no_answer(std::string why) {
  return {kNan, kNan, kNan, PredictionStatus::kNoAnswer, std::move(why)};
}

Prediction answer(const SaturationCurve& curve, double batch, const char* basis) {
  return {curve.at(batch), kNan, kNan, PredictionStatus::kInside, basis};
}

// Curves by name of their group, and by name of their configuration.
struct Database {
  std::unordered_map<std::string, SaturationCurve> by_group;
  std::unordered_map<std::string, std::vector<KnownCurve>> by_config;

  Database(const ThroughputData& train, CurveWeights weights) {
    std::vector<uint32_t> config_of(train.group_names.size(), 0);
    for (size_t i = 0; i < train.rows.size(); ++i) config_of[train.group[i]] = train.config[i];
    for (const GroupFit& fit : fit_groups(train, weights)) {
      by_group.emplace(train.group_names[fit.group], fit.curve);
      by_config[train.config_names[config_of[fit.group]]].push_back(
          {{fit.in_len, fit.out_len}, fit.curve});
    }
    for (auto& [name, curves] : by_config) {
      std::sort(curves.begin(), curves.end(),
                [](const KnownCurve& x, const KnownCurve& y) { return x.lengths < y.lengths; });
    }
  }
};

class AlaModel : public ThroughputModel {
 public:
  AlaModel(const ThroughputData& train, const BoostOptions& options,
           std::shared_ptr<CurveCache> cache)
      : database_(train, CurveWeights::kAbsolute), options_(options), cache_(std::move(cache)) {}

  std::vector<Prediction> predict(const std::vector<BenchRow>& points) const override {
    std::map<std::string, std::vector<size_t>> by_config;
    for (size_t i = 0; i < points.size(); ++i) by_config[config_name(points[i])].push_back(i);
    std::vector<Prediction> out(points.size());
    for (const auto& [config, indices] : by_config) predict_config(config, indices, points, out);
    return out;
  }

 private:
  void predict_config(const std::string& config, const std::vector<size_t>& indices,
                      const std::vector<BenchRow>& points, std::vector<Prediction>& out) const {
    const auto known = database_.by_config.find(config);
    if (known == database_.by_config.end()) {
      for (const size_t i : indices) out[i] = no_answer("no row of this configuration");
      return;
    }
    std::set<LengthPair> wanted;
    for (const size_t i : indices) {
      const auto hit = database_.by_group.find(group_name(points[i]));
      if (hit == database_.by_group.end()) {
        wanted.insert({points[i].in_len, points[i].out_len});
      } else {
        out[i] = answer(hit->second, points[i].batch, "database");
      }
    }
    if (wanted.empty()) return;
    const auto curves = curves_for(known->second, wanted, options_, *cache_);
    for (const size_t i : indices) {
      if (!out[i].basis.empty()) continue;
      out[i] = curves ? answer(curves->at({points[i].in_len, points[i].out_len}), points[i].batch,
                               "parameter model")
                      : no_answer(curves.error().message);
    }
  }

  Database database_;
  BoostOptions options_;
  std::shared_ptr<CurveCache> cache_;
};

struct CurveRegressors {
  BoostedTrees a;
  BoostedTrees b;
  BoostedTrees c;
};

Result<CurveRegressors> train_regressors(const FeatureMatrix& features,
                                         const std::vector<SaturationCurve>& curves,
                                         const BoostOptions& options) {
  const auto train = [&](double SaturationCurve::* parameter) {
    std::vector<double> target;
    for (const SaturationCurve& curve : curves) target.push_back(curve.*parameter);
    return BoostedTrees::train(features, target, options);
  };
  ASSAY_TRY_ASSIGN(BoostedTrees a, train(&SaturationCurve::a));
  ASSAY_TRY_ASSIGN(BoostedTrees b, train(&SaturationCurve::b));
  ASSAY_TRY_ASSIGN(BoostedTrees c, train(&SaturationCurve::c));
  return CurveRegressors{std::move(a), std::move(b), std::move(c)};
}

Result<std::vector<SaturationCurve>> ask(const CurveRegressors& regressors,
                                         const FeatureMatrix& features) {
  ASSAY_TRY_ASSIGN(const std::vector<double> a, regressors.a.predict(features));
  ASSAY_TRY_ASSIGN(const std::vector<double> b, regressors.b.predict(features));
  ASSAY_TRY_ASSIGN(const std::vector<double> c, regressors.c.predict(features));
  std::vector<SaturationCurve> curves;
  for (size_t i = 0; i < a.size(); ++i) curves.push_back({a[i], b[i], c[i]});
  return curves;
}

std::vector<double> pooled_features(const Vocabulary& vocabulary, const BenchRow& row) {
  std::vector<double> features = length_features({row.in_len, row.out_len});
  append_names(vocabulary, row, features);
  return features;
}

double log_target(double value) { return std::log(std::max(value, kLeastLogTarget)); }

class PooledAlaModel : public ThroughputModel {
 public:
  PooledAlaModel(Database database, Vocabulary vocabulary, CurveRegressors regressors,
                 bool log_targets)
      : database_(std::move(database)),
        vocabulary_(std::move(vocabulary)),
        regressors_(std::move(regressors)),
        log_targets_(log_targets) {}

  std::vector<Prediction> predict(const std::vector<BenchRow>& points) const override {
    FeatureMatrix features;
    for (const BenchRow& point : points) features.add_row(pooled_features(vocabulary_, point));
    auto curves = ask(regressors_, features);
    std::vector<Prediction> out;
    for (size_t i = 0; i < points.size(); ++i) {
      const auto hit = database_.by_group.find(group_name(points[i]));
      if (hit != database_.by_group.end()) {
        out.push_back(answer(hit->second, points[i].batch, "database"));
      } else if (!curves) {
        out.push_back(no_answer(curves.error().message));
      } else {
        SaturationCurve curve = (*curves)[i];
        if (log_targets_) curve = {std::exp(curve.a), std::exp(curve.b), std::exp(curve.c)};
        out.push_back(answer(curve, points[i].batch, "parameter model"));
      }
    }
    return out;
  }

 private:
  Database database_;
  Vocabulary vocabulary_;
  CurveRegressors regressors_;
  bool log_targets_;
};

// Training rows of the pooled regressors: the first row of every group, in the order of group
// names. The order matters, because the regressors sample rows.
std::vector<size_t> group_leaders(const ThroughputData& data) {
  std::map<std::string, size_t> leaders;
  for (size_t i = 0; i < data.rows.size(); ++i) leaders.emplace(data.group_names[data.group[i]], i);
  std::vector<size_t> rows;
  for (const auto& [name, row] : leaders) rows.push_back(row);
  return rows;
}

Result<std::unique_ptr<ThroughputModel>> fit_pooled(const ThroughputData& train,
                                                    const Vocabulary& vocabulary,
                                                    bool log_targets) {
  Database database(train, log_targets ? CurveWeights::kRelative : CurveWeights::kAbsolute);
  FeatureMatrix features;
  std::vector<SaturationCurve> curves;
  for (const size_t i : group_leaders(train)) {
    features.add_row(pooled_features(vocabulary, train.rows[i]));
    SaturationCurve curve = database.by_group.at(train.group_names[train.group[i]]);
    if (log_targets) curve = {log_target(curve.a), log_target(curve.b), log_target(curve.c)};
    curves.push_back(curve);
  }
  ASSAY_TRY_ASSIGN(CurveRegressors regressors,
                   train_regressors(features, curves, ala_boost_options(1000)));
  return std::unique_ptr<ThroughputModel>(std::make_unique<PooledAlaModel>(
      std::move(database), vocabulary, std::move(regressors), log_targets));
}

void append_one_hot(const std::vector<std::string>& names, const std::string& name,
                    std::vector<double>& features) {
  for (const std::string& known : names) features.push_back(known == name ? 1 : 0);
}

}  // namespace

std::vector<GroupFit> fit_groups(const ThroughputData& data, CurveWeights weights) {
  std::vector<std::vector<size_t>> members(data.group_names.size());
  for (size_t i = 0; i < data.rows.size(); ++i) members[data.group[i]].push_back(i);
  std::vector<GroupFit> fits;
  for (uint32_t group = 0; group < members.size(); ++group) {
    if (members[group].empty()) continue;
    std::vector<double> batch;
    std::vector<double> throughput;
    for (const size_t i : members[group]) {
      batch.push_back(data.rows[i].batch);
      throughput.push_back(data.rows[i].tokens_per_s);
    }
    const BenchRow& first = data.rows[members[group].front()];
    GroupFit fit{.group = group,
                 .in_len = first.in_len,
                 .out_len = first.out_len,
                 .points = batch.size(),
                 .curve = fit_saturation(batch, throughput, weights)};
    std::vector<double> errors;
    for (size_t k = 0; k < batch.size(); ++k) {
      errors.push_back(std::fabs(fit.curve.at(batch[k]) / throughput[k] - 1));
    }
    fit.median_ape = median(std::move(errors));
    fits.push_back(fit);
  }
  return fits;
}

std::vector<double> length_features(LengthPair lengths) {
  const double ii = lengths.in_len;
  const double oo = lengths.out_len;
  return {ii,           oo, std::log1p(ii), std::log1p(oo), std::log1p(ii / oo), ii / (oo + 1),
          ii / (ii + 1)};
}

BoostOptions ala_boost_options(int rounds) {
  constexpr double kRoundsTimesEta = 35;
  return {.rounds = rounds,
          .max_depth = 8,
          .eta = kRoundsTimesEta / rounds,
          .subsample = 0.8,
          .colsample_by_tree = 0.8,
          .lambda = 1.5};
}

Result<std::vector<SaturationCurve>> predict_curves(const std::vector<KnownCurve>& known,
                                                    const std::vector<LengthPair>& wanted,
                                                    const BoostOptions& options) {
  FeatureMatrix features;
  std::vector<SaturationCurve> curves;
  for (const KnownCurve& entry : known) {
    features.add_row(length_features(entry.lengths));
    curves.push_back(entry.curve);
  }
  FeatureMatrix asked;
  for (const LengthPair lengths : wanted) asked.add_row(length_features(lengths));
  ASSAY_TRY_ASSIGN(const CurveRegressors regressors, train_regressors(features, curves, options));
  return ask(regressors, asked);
}

ThroughputMethod ala_per_config_method(const BoostOptions& options,
                                       std::shared_ptr<CurveCache> cache) {
  if (cache == nullptr) cache = make_curve_cache();
  return {
      "ala-per-config", "ALA, per configuration",
      [options, cache](const ThroughputData& train,
                       HeldOut) -> Result<std::unique_ptr<ThroughputModel>> {
        return std::unique_ptr<ThroughputModel>(std::make_unique<AlaModel>(train, options, cache));
      }};
}

Vocabulary vocabulary_of(const ThroughputData& data) {
  const auto sorted = [&](const auto& name_of) {
    std::set<std::string> names;
    for (const BenchRow& row : data.rows) names.insert(name_of(row));
    return std::vector<std::string>(names.begin(), names.end());
  };
  Vocabulary vocabulary{sorted([](const BenchRow& row) { return row.hardware; }),
                        sorted([](const BenchRow& row) { return row.framework; }),
                        sorted([](const BenchRow& row) { return row.model; }),
                        sorted([](const BenchRow& row) { return row.variant.text(); })};
  if (vocabulary.variant.size() == 1) vocabulary.variant.clear();
  return vocabulary;
}

void append_names(const Vocabulary& vocabulary, const BenchRow& row,
                  std::vector<double>& features) {
  features.push_back(row.devices);
  append_one_hot(vocabulary.hardware, row.hardware, features);
  append_one_hot(vocabulary.framework, row.framework, features);
  append_one_hot(vocabulary.model, row.model, features);
  append_one_hot(vocabulary.variant, row.variant.text(), features);
}

ThroughputMethod ala_pooled_method(Vocabulary vocabulary, bool log_targets) {
  return {log_targets ? "ala-pooled-log" : "ala-pooled",
          log_targets ? "ALA pooled, log targets" : "ALA pooled",
          [vocabulary = std::move(vocabulary), log_targets](const ThroughputData& train, HeldOut) {
            return fit_pooled(train, vocabulary, log_targets);
          }};
}

ThroughputMethod ala_method(Vocabulary vocabulary, const BoostOptions& options) {
  return {"ala", "ALA as published",
          [per_config = ala_per_config_method(options),
           pooled = ala_pooled_method(std::move(vocabulary), true)](const ThroughputData& train,
                                                                    HeldOut held_out) {
            const bool whole_configs = held_out == HeldOut::kConfig ||
                                       held_out == HeldOut::kModel ||
                                       held_out == HeldOut::kHardware;
            return (whole_configs ? pooled : per_config).fit(train, held_out);
          }};
}

}  // namespace assay
