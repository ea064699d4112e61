#include "throughput/splits.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "throughput/dataset.h"

namespace assay {
namespace {

constexpr double kSmallBatch = 32;
constexpr double kLargeBatch = 64;
constexpr double kShortLength = 512;
constexpr double kLongLength = 1024;

void add_fold(Split& split, SplitFold fold) {
  if (!fold.train.empty() && !fold.test.empty()) split.folds.push_back(std::move(fold));
}

void hash_folds(const ThroughputData& data, Split& split,
                const std::function<std::string(size_t)>& name_of) {
  std::vector<uint64_t> folds(data.rows.size());
  for (size_t i = 0; i < folds.size(); ++i) folds[i] = fold_of(name_of(i));
  for (uint64_t k = 0; k < kFolds; ++k) {
    SplitFold fold{std::to_string(k), {}, {}};
    for (size_t i = 0; i < folds.size(); ++i) (folds[i] == k ? fold.test : fold.train).push_back(i);
    add_fold(split, std::move(fold));
  }
}

void threshold_fold(const ThroughputData& data, Split& split, double below, double above,
                    const std::function<double(const BenchRow&)>& least,
                    const std::function<double(const BenchRow&)>& most) {
  SplitFold fold{split.label, {}, {}};
  for (size_t i = 0; i < data.rows.size(); ++i) {
    if (most(data.rows[i]) <= below) fold.train.push_back(i);
    if (least(data.rows[i]) >= above) fold.test.push_back(i);
  }
  add_fold(split, std::move(fold));
}

void leave_one_out(const ThroughputData& data, Split& split, std::string BenchRow::* field) {
  std::set<std::string> names;
  for (const BenchRow& row : data.rows) names.insert(row.*field);
  for (const std::string& name : names) {
    SplitFold fold{name, {}, {}};
    for (size_t i = 0; i < data.rows.size(); ++i) {
      (data.rows[i].*field == name ? fold.test : fold.train).push_back(i);
    }
    add_fold(split, std::move(fold));
  }
}

std::vector<Split> named_splits() {
  return {{"S1", "held-out length pair", HeldOut::kGroup, {}},
          {"S2", "random rows", HeldOut::kRow, {}},
          {"S3", "batch \u2264 32 \u2192 \u2265 64", HeldOut::kLargerBatch, {}},
          {"S4", "length \u2264 512 \u2192 \u2265 1024", HeldOut::kLongerLength, {}},
          {"S5", "unseen configuration", HeldOut::kConfig, {}},
          {"S6", "leave one model out", HeldOut::kModel, {}},
          {"S7", "leave one hardware out", HeldOut::kHardware, {}}};
}

void fill(const ThroughputData& data, Split& split) {
  const auto batch = [](const BenchRow& row) { return row.batch; };
  switch (split.held_out) {
    case HeldOut::kGroup:
      return hash_folds(data, split, [&](size_t i) { return data.group_names[data.group[i]]; });
    case HeldOut::kRow:
      return hash_folds(data, split, [&](size_t i) { return row_name(data.rows[i]); });
    case HeldOut::kConfig:
      return hash_folds(data, split, [&](size_t i) { return data.config_names[data.config[i]]; });
    case HeldOut::kLargerBatch:
      return threshold_fold(data, split, kSmallBatch, kLargeBatch, batch, batch);
    case HeldOut::kLongerLength:
      return threshold_fold(
          data, split, kShortLength, kLongLength,
          [](const BenchRow& row) { return std::min(row.in_len, row.out_len); },
          [](const BenchRow& row) { return std::max(row.in_len, row.out_len); });
    case HeldOut::kModel:
      return leave_one_out(data, split, &BenchRow::model);
    case HeldOut::kHardware:
      return leave_one_out(data, split, &BenchRow::hardware);
    case HeldOut::kCampaign:
      return hash_folds(data, split, [&](size_t i) { return data.rows[i].campaign; });
    case HeldOut::kRatio:
      return;  // not a split of LLM-Inference-Bench, where all lengths are equal
  }
}

// Index of every value of a column among its distinct values, ascending from 0.
using Ranks = std::map<double, size_t>;
Ranks ranks(const ThroughputData& data, double BenchRow::* field) {
  Ranks places;
  for (const BenchRow& row : data.rows) places.emplace(row.*field, 0);
  size_t next = 0;
  for (auto& [value, place] : places) place = next++;
  return places;
}

}  // namespace

uint64_t fnv1a64(std::string_view bytes) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

uint64_t fmix64(uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 33);
}

std::vector<Split> make_splits(const ThroughputData& data) {
  std::vector<Split> splits = named_splits();
  for (Split& split : splits) fill(data, split);
  return splits;
}

std::vector<Split> make_training_sets(const ThroughputData& data) {
  const Ranks lengths = ranks(data, &BenchRow::in_len);
  const Ranks batches = ranks(data, &BenchRow::batch);
  struct Shape {
    const char* name;
    const char* label;
    std::function<bool(size_t length, size_t batch)> in;
  };
  const size_t last = batches.size() - 1;
  const Shape shapes[] = {
      {"E1", "broad: every second batch size",
       [=](size_t, size_t batch) { return (last - batch) % 2 == 0; }},
      {"E2", "dense: larger lengths and batches",
       [n = lengths.size(), last](size_t length, size_t batch) {
         return 2 * length + 1 >= n && 2 * batch >= last;
       }},
      {"E3", "small batches only", [=](size_t, size_t batch) { return 2 * batch < last; }},
      {"E4", "sparse: second length, third batch",
       [](size_t length, size_t batch) { return length % 2 == 0 && batch % 3 == 0; }}};
  std::vector<Split> splits;
  for (const Shape& shape : shapes) {
    Split split{shape.name, shape.label, HeldOut::kRow, {}};
    SplitFold fold{shape.label, {}, {}};
    for (size_t i = 0; i < data.rows.size(); ++i) {
      const BenchRow& row = data.rows[i];
      const bool in = shape.in(lengths.at(row.in_len), batches.at(row.batch));
      (in ? fold.train : fold.test).push_back(i);
    }
    add_fold(split, std::move(fold));
    splits.push_back(std::move(split));
  }
  return splits;
}

Split campaign_split(const ThroughputData& data) {
  Split split{"S8", "unseen campaign", HeldOut::kCampaign, {}};
  fill(data, split);
  return split;
}

Result<Split> make_split(const ThroughputData& data, const std::string& name) {
  std::string wanted = name;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (wanted == "S8") return campaign_split(data);
  for (Split& split : named_splits()) {
    if (split.name != wanted) continue;
    fill(data, split);
    return split;
  }
  return Error{ErrorCode::kInvalidArgument,
               "no split is called '" + name + "'; there are S1 to S8 and all", "", -1};
}

}  // namespace assay
