#include "throughput/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/decimal.h"
#include "base/stats.h"
#include "throughput/config_digest.h"
#include "throughput/data_sheets.h"
#include "throughput/dataset.h"
#include "throughput/latency_fit.h"
#include "throughput/placement.h"
#include "throughput/reach.h"
#include "throughput/trained_process.h"
#include "throughput/unmeasured_gpu.h"

namespace assay {

std::string_view held_out_name(HeldOut kind) {
  static constexpr std::array<std::string_view, kHeldOutKinds> kNames = {
      "row",          "length pair",   "configuration", "model",   "hardware",
      "larger batch", "longer length", "length ratio",  "campaign"};
  return kNames[static_cast<size_t>(kind)];
}

namespace {

// Relations of a row to a point, closest first.
constexpr std::array<const char*, 6> kRelations = {
    "same configuration",       "other number of devices", "same hardware and framework",
    "same model and framework", "same framework",          "nothing in common"};
// Assumed half-width, in logarithms per doubling, beyond rows that all have the same value. Batch,
// without an analytical model: 90 % of 434 rows of LLM-Inference-Bench had a smaller error with
// only batch 1, 16 or 64 of their configuration known (0.219, 0.194, 0.170). Ratio of lengths, with
// an analytical model: 115 rows of NVIDIA's AIConfigurator with only equal lengths known, every
// pair of lengths with equal weight (0.05). Its 693 others needed less without it.
constexpr double kBatchPerDoubling = 0.22;
constexpr double kRatioPerDoubling = 0.05;
// Distance per step of relation: more than any difference in batch, devices, lengths and hardware.
constexpr double kStep = 1e4;
constexpr double kOtherVendor = 100;  // more than any distance of two data sheets

// Consecutive rows of one configuration.
struct Run {
  size_t begin = 0;
  size_t end = 0;
};

// Distance of two devices: that of their data sheets, plus kOtherVendor for different vendors.
double hardware_distance(const HardwareFacts* a, const HardwareFacts* b) {
  if (a == b) return 0;
  if (a == nullptr || b == nullptr) return 2 * kOtherVendor;
  return sheet_distance(*a, *b) + (vendor_of(*a) == vendor_of(*b) ? 0 : kOtherVendor);
}

size_t relation_of(const std::array<uint32_t, kKernelGroups>& a,
                   const std::array<uint32_t, kKernelGroups>& b) {
  const auto same = [&](KernelGroup group) {
    return a[static_cast<size_t>(group)] == b[static_cast<size_t>(group)];
  };
  if (same(KernelGroup::kConfig)) return 0;
  if (same(KernelGroup::kHardwareFramework)) return same(KernelGroup::kModel) ? 1 : 2;
  if (same(KernelGroup::kModelFramework)) return 3;
  return same(KernelGroup::kFramework) ? 4 : 5;
}

// log2 of batch, devices and lengths.
using LogSize = std::array<double, 4>;

LogSize log_size_of(const BenchRow& row) {
  return {std::log2(row.batch), std::log2(row.devices), std::log2(row.in_len),
          std::log2(row.out_len)};
}

}  // namespace

struct Predictor::State {
  std::vector<BenchRow> rows;
  FactBook facts;
  PredictorOptions options;
  std::optional<Trained> physics;        // on the rows with facts
  mutable std::optional<Trained> plain;  // on all rows; made at first use
  mutable std::once_flag plain_made;
  mutable SiblingRules siblings;  // computed at first use
  mutable std::once_flag siblings_found;

  GroupNames names;
  std::vector<std::array<uint32_t, kKernelGroups>> ids;  // per row
  std::vector<LogSize> log_sizes;                        // per row
  std::vector<Run> runs;                                 // rows are sorted by configuration
  std::array<std::map<std::string, Reach>, kKernelGroups> reach;
  std::set<std::string> groups;
  std::map<std::string, MeasuredGpus> measured;  // with facts, by framework and words
  std::set<std::string> gpus;                    // with specifications, by their names
  std::set<std::string> gpu_engines;             // "GPU|framework", the same
  std::set<std::string> engine_models;           // "framework|model"
  Range active_b, parameters_b;                  // of the models with facts
  bool has_experts = false;
  DigestBook digests;

  void look_around();
  std::optional<UnmeasuredPoint> unmeasured(const BenchRow& point, FactLookup& lookup) const;
  const SiblingRule& sibling_rule_of(const HardwareFacts& gpu) const;
  const SiblingRules& sibling_rules() const;
  SiblingRules find_sibling_rules() const;
  Explained judge(const BenchRow& point, FactLookup& lookup) const;
  void judge_reach(const BenchRow& point, const Reach& near, const Trained* process,
                   Explained& out) const;
  void judge_ratio(const BenchRow& point, const Reach& near, const Trained* process,
                   Explained& out) const;
  void choose_scale(const BenchRow& point, const Reach& near, const FitShares& shares,
                    const Trained* process, Explained& out) const;
  void blend_in(const std::vector<BenchRow>& points, FactLookup& lookup,
                std::vector<Explained>& out) const;
  std::vector<Evidence> nearest(const BenchRow& point,
                                const std::array<uint32_t, kKernelGroups>& id,
                                FactLookup& lookup) const;
  std::vector<const Trained*> processes() const;  // those that exist
  const Trained* plain_process() const;
  const Trained* process_for(const BenchRow& point, FactLookup& lookup) const;
  void judge_model(const BenchRow& point, FactLookup& lookup,
                   std::vector<std::string>& reasons) const;
  void judge_placement(const BenchRow& point, FactLookup& lookup,
                       std::vector<std::string>& reasons) const;
  static void judge_context(const BenchRow& point, const ModelFacts* model, const Reach* of_model,
                            std::vector<std::string>& reasons);
};

// Indexes the rows for comparison with points.
void Predictor::State::look_around() {
  FactLookup lookup(facts);
  for (const BenchRow& row : rows) {
    ids.push_back(names.of(row));
    if (runs.empty() || ids.back() != ids[runs.back().begin]) runs.push_back({ids.size() - 1, 0});
    runs.back().end = ids.size();
    log_sizes.push_back(log_size_of(row));
    const auto keys = GroupNames::keys_of(row);
    for (size_t g = 0; g < kKernelGroups; ++g) reach[g][keys[g]].add(row);
    groups.insert(group_name(row));
    engine_models.insert(row.framework + "|" + row.model);
    if (const HardwareFacts* gpu = lookup.hardware(row.hardware)) {
      note_gpu(gpu, row.hardware, measured[keys[static_cast<size_t>(KernelGroup::kFramework)]]);
      gpus.insert(gpu->name);
      gpu_engines.insert(gpu->name + "|" + row.framework);
    }
    if (const ModelFacts* model = lookup.model(row.model)) {
      active_b.add(model->active_b);
      parameters_b.add(model->parameters_b);
      has_experts |= model->active_b < model->parameters_b;
    }
  }
}

std::vector<const Trained*> Predictor::State::processes() const {
  std::vector<const Trained*> out;
  if (physics) out.push_back(&*physics);
  if (plain) out.push_back(&*plain);
  return out;
}

const Trained* Predictor::State::plain_process() const {
  std::call_once(plain_made, [this] {
    if (plain) return;
    auto made = train_and_measure(rows, facts, false, options);
    if (made) plain = *std::move(made);
  });
  return plain ? &*plain : nullptr;
}

const Trained* Predictor::State::process_for(const BenchRow& point, FactLookup& lookup) const {
  const bool known =
      lookup.model(point.model) != nullptr && lookup.hardware(point.hardware) != nullptr;
  return physics && known ? &*physics : plain_process();
}

void Predictor::State::judge_model(const BenchRow& point, FactLookup& lookup,
                                   std::vector<std::string>& reasons) const {
  const ModelFacts* model = lookup.model(point.model);
  if (model == nullptr || !options.physics) {
    reasons.push_back("no row ran the model '" + point.model +
                      "', and its specifications are not used");
    return;
  }
  if (model->active_b < model->parameters_b && !has_experts)
    reasons.push_back("no measured model is a mixture of experts");
  if (parameters_b.high == 0) {
    reasons.push_back("no model with facts has a row that could be learnt from");
    return;
  }
  note_beyond("a model with parameters (10^9):", model->parameters_b, parameters_b, 2, reasons);
  note_beyond("a model with active parameters (10^9):", model->active_b, active_b, 2, reasons);
}

void Predictor::State::judge_placement(const BenchRow& point, FactLookup& lookup,
                                       std::vector<std::string>& reasons) const {
  const ModelFacts* model = lookup.model(point.model);
  const HardwareFacts* hardware = lookup.hardware(point.hardware);
  if (model == nullptr || hardware == nullptr || !options.physics) return;
  for (std::string& problem : placement_problems(point, *model, *hardware))
    reasons.push_back(std::move(problem));
}

// A longer row of the model shows that the length works.
void Predictor::State::judge_context(const BenchRow& point, const ModelFacts* model,
                                     const Reach* of_model, std::vector<std::string>& reasons) {
  if (model == nullptr || model->context == 0 || length_of(point) <= model->context) return;
  if (of_model != nullptr && length_of(point) <= of_model->length.high) return;
  reasons.push_back(rounded_text(length_of(point)) + " tokens are more than the context of '" +
                    point.model + "' (" + rounded_text(model->context) + ")");
}

// Question, interval scale and reasons of one point, without the prediction.
Explained Predictor::State::judge(const BenchRow& point, FactLookup& lookup) const {
  Explained out;
  const auto keys = GroupNames::keys_of(point);
  const auto find = [&](KernelGroup group) -> const Reach* {
    const auto& known = reach[static_cast<size_t>(group)];
    const auto at = known.find(keys[static_cast<size_t>(group)]);
    return at == known.end() ? nullptr : &at->second;
  };
  const Reach* config = find(KernelGroup::kConfig);
  const Reach* pair = find(KernelGroup::kHardwareFramework);
  if (find(KernelGroup::kHardware) == nullptr) {
    out.kind = HeldOut::kHardware;
    out.reasons.push_back("no row ran on '" + point.hardware + "'");
  } else if (find(KernelGroup::kFramework) == nullptr) {
    out.kind = HeldOut::kHardware;
    out.reasons.push_back("no row ran under '" + point.framework + "'");
  } else if (pair == nullptr) {
    out.kind = HeldOut::kHardware;
    out.reasons.push_back("no row ran under '" + point.framework + "' on '" + point.hardware + "'");
  }
  const bool new_model = find(KernelGroup::kModel) == nullptr;
  if (new_model && out.reasons.empty()) out.kind = HeldOut::kModel;
  if (out.kind == HeldOut::kRow && config == nullptr) out.kind = HeldOut::kConfig;
  if (out.kind == HeldOut::kRow && groups.count(group_name(point)) == 0) out.kind = HeldOut::kGroup;

  const Reach& near =
      pair != nullptr ? *pair : reach[static_cast<size_t>(KernelGroup::kAll)].begin()->second;
  out.measured = true;
  const FitShares shares = config != nullptr ? fit_shares(point, *config) : FitShares{};
  const Trained* process = process_for(point, lookup);
  choose_scale(point, config != nullptr ? *config : near, shares, process, out);
  const size_t tested = out.reasons.size();
  if (new_model) judge_model(point, lookup, out.reasons);
  judge_reach(point, near, process, out);
  // A configuration with rows is known to run.
  if (config == nullptr) judge_placement(point, lookup, out.reasons);
  judge_context(point, lookup.model(point.model), find(KernelGroup::kModel), out.reasons);
  out.measured &= out.reasons.size() == tested;
  judge_ratio(point, near, process, out);
  return out;
}

void Predictor::State::judge_reach(const BenchRow& point, const Reach& near, const Trained* process,
                                   Explained& out) const {
  const double factor = options.outside_factor;
  note_beyond("batch", point.batch, near.batch, factor, out.reasons);
  note_beyond("input length", point.in_len, near.in_len, factor, out.reasons);
  note_beyond("output length", point.out_len, near.out_len, factor, out.reasons);
  note_beyond("devices", point.devices, near.devices, factor, out.reasons);
  if (process == nullptr || process->physics) return;
  const Range& batches = reach[static_cast<size_t>(KernelGroup::kAll)].begin()->second.batch;
  if (note_only_batch(point.batch, batches, out.reasons))
    out.assumed += kBatchPerDoubling * doublings_beyond(point.batch, batches);
}

void Predictor::State::judge_ratio(const BenchRow& point, const Reach& near, const Trained* process,
                                   Explained& out) const {
  const size_t before = out.reasons.size();
  note_ratio(ratio_of(point), near.ratio, out.reasons);
  if (out.reasons.size() == before || process == nullptr) return;
  const ConformalScale& scale = process->scales[index_of(HeldOut::kRatio)];
  const double doublings = doublings_beyond(ratio_of(point), near.ratio);
  if (scale.measured && doublings <= std::log2(options.outside_factor)) {
    out.scale = std::max(out.scale, scale.scale);
    return;
  }
  out.measured = false;
  out.assumed += kRatioPerDoubling * doublings;
}

// Selects the interval scale by what is new about a point. A longer length or a larger batch than
// its configuration has is a question of its own. Of several questions the widest counts.
void Predictor::State::choose_scale(const BenchRow& point, const Reach& near,
                                    const FitShares& shares, const Trained* process,
                                    Explained& out) const {
  if (process == nullptr) return;
  std::vector<HeldOut> beyond;
  if (point.batch > near.batch.high) beyond.push_back(HeldOut::kLargerBatch);
  if (point.in_len > near.in_len.high || point.out_len > near.out_len.high)
    beyond.push_back(HeldOut::kLongerLength);
  const bool in_config = out.kind == HeldOut::kRow || out.kind == HeldOut::kGroup;
  if (in_config && !beyond.empty()) out.kind = beyond.front();
  if (options.only) {
    out.kind = *options.only;
    beyond.clear();
  }
  beyond.push_back(out.kind);
  for (const HeldOut kind : beyond) {
    const ConformalScale& scale = process->scales[index_of(kind)];
    double share = 0;
    if (kind == HeldOut::kLargerBatch) share = shares.batch;
    if (kind == HeldOut::kLongerLength) share = shares.length;
    if (!(scale.fit_weight > 0)) share = 0;
    const double own = scale.at(pair_name(point));
    out.scale = std::max(out.scale, (1 - share) * own + share * scale.blended_scale);
    out.fit_weight = std::max(out.fit_weight, share * scale.fit_weight);
    out.measured &= scale.measured;
  }
  // The point is a future run, which has no rows, whatever else is known.
  const ConformalScale& campaign = process->scales[index_of(HeldOut::kCampaign)];
  if (!options.only && campaign.measured) out.scale = std::max(out.scale, campaign.scale);
}

// Combines predictions with the configurations' own latency fits, where these have weight. The
// relative width of intervals stays.
void Predictor::State::blend_in(const std::vector<BenchRow>& points, FactLookup& lookup,
                                std::vector<Explained>& out) const {
  std::map<const Trained*, LatencyFits> fits;
  for (size_t i = 0; i < points.size(); ++i) {
    Prediction& p = out[i].prediction;
    if (!(out[i].fit_weight > 0) || p.status == PredictionStatus::kNoAnswer) continue;
    const Trained* process = process_for(points[i], lookup);
    LatencyFits& own = fits.try_emplace(process, rows, facts, process->physics).first->second;
    const double off = own.log_throughput(points[i]) - std::log(p.tokens_per_s);
    const double factor = std::exp(out[i].fit_weight * off);
    for (double* value : {&p.tokens_per_s, &p.low90, &p.high90}) *value *= factor;
    p.basis += " and latency fit";
  }
}

std::vector<Evidence> Predictor::State::nearest(const BenchRow& point,
                                                const std::array<uint32_t, kKernelGroups>& id,
                                                FactLookup& lookup) const {
  const HardwareFacts* hardware = lookup.hardware(point.hardware);
  std::array<std::vector<const Run*>, kRelations.size()> alike;
  for (const Run& run : runs) alike[relation_of(id, ids[run.begin])].push_back(&run);
  std::vector<std::pair<double, size_t>> order;
  const LogSize at = log_size_of(point);
  for (size_t relation = 0; relation < alike.size(); ++relation) {
    // A closer relation counts more than any distance.
    if (order.size() >= options.nearest) break;
    for (const Run* run : alike[relation]) {
      const double from = kStep * static_cast<double>(relation) +
                          hardware_distance(hardware, lookup.hardware(rows[run->begin].hardware));
      for (size_t i = run->begin; i < run->end; ++i) {
        double distance = from;
        for (size_t k = 0; k < at.size(); ++k) distance += std::abs(at[k] - log_sizes[i][k]);
        order.emplace_back(distance, i);
      }
    }
  }
  const size_t wanted = std::min(options.nearest, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(wanted), order.end());
  std::vector<Evidence> out;
  for (size_t k = 0; k < wanted; ++k) {
    const size_t i = order[k].second;
    out.push_back({i, kRelations[relation_of(id, ids[i])], length_of(point) / length_of(rows[i]),
                   point.batch / rows[i].batch});
  }
  return out;
}

Predictor::Predictor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Predictor::~Predictor() = default;

const std::vector<BenchRow>& Predictor::rows() const { return state_->rows; }
const FactBook& Predictor::facts() const { return state_->facts; }
const PredictorOptions& Predictor::options() const { return state_->options; }

size_t Predictor::rows_with_facts() const {
  return state_->physics ? state_->physics->table.rows.size() : 0;
}

const ConformalScales* Predictor::physics_scales() const {
  return state_->physics ? &state_->physics->scales : nullptr;
}

const ConformalScales* Predictor::plain_scales() const {
  return state_->plain ? &state_->plain->scales : nullptr;
}

std::vector<std::string> Predictor::unknown_names() const {
  std::set<std::string> names;
  for (const BenchRow& row : state_->rows) {
    if (state_->facts.model(row.model) == nullptr) names.insert(row.model);
    if (state_->facts.hardware(row.hardware) == nullptr) names.insert(row.hardware);
  }
  return {names.begin(), names.end()};
}

std::vector<FitGroup> Predictor::groups() const {
  const State& s = *state_;
  const Trained* process = s.physics ? &*s.physics : s.plain_process();
  std::map<std::string, std::vector<double>> apes;
  const std::vector<uint32_t> blocks = blocks_of(s.rows, process->table, HeldOut::kGroup);
  if (!several(blocks) || process->process() == nullptr) return {};
  const std::vector<GpAnswer> missed = process->process()->leave_out(blocks);
  for (size_t i = 0; i < missed.size(); ++i) {
    const std::string name = pair_name(s.rows[process->table.rows[i]]);
    apes[name].push_back(std::abs(std::exp(-missed[i].mean) - 1));
  }
  std::vector<FitGroup> out;
  for (auto& [name, values] : apes) {
    std::sort(values.begin(), values.end());
    out.push_back(
        {name, values.size(), quantile_sorted(values, 0.5), quantile_sorted(values, 0.9)});
  }
  return out;
}

Result<std::unique_ptr<Predictor>> Predictor::fit(const ThroughputData& data, const FactBook& facts,
                                                  const PredictorOptions& options) {
  auto state = std::make_unique<State>();
  state->facts = facts;
  state->options = options;  // copies the readers of the digests, not their data
  state->rows = feasible_rows(data).rows;
  if (state->rows.empty()) {
    return Error{ErrorCode::kFormat, "no row to learn from: all are physically impossible", "", -1};
  }
  // One order for any order of the table, so that the same rows give the same bits.
  const auto key = [](const BenchRow& row) {
    return std::make_tuple(config_name(row), row.in_len, row.out_len, row.batch, row.tokens_per_s);
  };
  std::sort(state->rows.begin(), state->rows.end(),
            [&](const BenchRow& a, const BenchRow& b) { return key(a) < key(b); });
  state->look_around();
  FactLookup lookup(state->facts);
  const auto known = [&](const BenchRow& row) {
    return lookup.model(row.model) != nullptr && lookup.hardware(row.hardware) != nullptr;
  };
  const bool some = std::any_of(state->rows.begin(), state->rows.end(), known);
  const bool all = std::all_of(state->rows.begin(), state->rows.end(), known);
  if (options.physics && some) {
    ASSAY_TRY_ASSIGN(state->physics, train_and_measure(state->rows, facts, true, options));
  }
  if (!options.physics || !all) {
    ASSAY_TRY_ASSIGN(state->plain, train_and_measure(state->rows, facts, false, options));
  }
  for (const Trained* process :
       {state->physics ? &*state->physics : nullptr, state->plain ? &*state->plain : nullptr}) {
    if (process != nullptr) state->digests.add(*process, state->rows, state->facts, state->options);
  }
  return std::unique_ptr<Predictor>(new Predictor(std::move(state)));
}

std::vector<ConfigDigest> Predictor::digests(const DigestProgress& progress) const {
  const State& s = *state_;
  std::vector<ConfigDigest> out;
  if (s.rows.size() < s.options.digest_from_rows) return out;
  FactLookup lookup(s.facts);
  for (const Trained* process : s.processes()) {
    size_t begun = 0;
    const auto mine = [&](const BenchRow& row) {
      if (s.process_for(row, lookup) != process) return false;
      if (progress) progress(begun++, s.reach[static_cast<size_t>(KernelGroup::kConfig)].size());
      return true;
    };
    for (ConfigDigest& digest : make_digests(*process, s.rows, s.facts, mine))
      out.push_back(std::move(digest));
  }
  return out;
}

std::optional<FrameworkSummary> Predictor::frameworks() const {
  const State& s = *state_;
  if (s.rows.size() < s.options.digest_from_rows || !s.physics) return std::nullopt;
  const GaussianProcess* process = s.physics->process();
  if (process == nullptr) return std::nullopt;
  return summarise_frameworks(s.physics->spec(), s.physics->parameters, s.physics->table.points,
                              process->weights());
}

namespace {

Prediction no_answer() {
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {none, none, none, PredictionStatus::kNoAnswer, ""};
}

// Answers of one process for the points at `which`.
void answer(const Trained& process, const FactBook& facts, const DigestBook& digests,
            const std::vector<BenchRow>& points, const std::vector<size_t>& which,
            std::vector<Explained>& out) {
  std::vector<BenchRow> asked;
  for (const size_t i : which) asked.push_back(points[i]);
  GroupNames names = process.names;
  const KernelTable table = kernel_table(asked, facts, process.physics, names);
  const std::vector<GpAnswer> answers = digests.answers(process, table.points);
  for (size_t k = 0; k < which.size(); ++k) {
    Explained& explained = out[which[k]];
    if (!(answers[k].sd > 0)) {
      explained.prediction = no_answer();
      continue;
    }
    const double log_value = table.log_base[k] + answers[k].mean;
    explained.log_sd = answers[k].sd;
    const double half = explained.log_half_width();
    explained.prediction = {std::exp(log_value), std::exp(log_value - half),
                            std::exp(log_value + half),
                            prediction_status(!explained.reasons.empty(), std::expm1(half)),
                            process.physics ? "gp on physics" : "gp without physics"};
  }
}

// Applies the data-sheet estimate. The interval is that of held-out GPUs if there are any;
// otherwise the process's interval is shifted. `known_model`: the model has rows under the engine.
void apply(const SheetEstimate& by_sheet, const SiblingRule& rule, bool known_model,
           Explained& out) {
  Prediction& p = out.prediction;
  const bool only_gpu = known_model && out.reasons.size() <= 1;
  const double factor = std::exp(by_sheet.log_factor);
  for (double* value : {&p.tokens_per_s, &p.low90, &p.high90}) *value *= factor;
  const GpuInterval& interval = rule.interval;
  if (!by_sheet.sibling.empty() && interval.half_width > 0) {
    const double half = interval.half_width_of(out.log_half_width(), only_gpu);
    out.measured = interval.replaces(only_gpu);
    out.scale = 0;
    out.assumed = half;
    p.low90 = p.tokens_per_s * std::exp(-half);
    p.high90 = p.tokens_per_s * std::exp(half);
  }
  out.reasons.insert(out.reasons.end(), by_sheet.reasons.begin(), by_sheet.reasons.end());
}

// Answers of the baseline for the points at `which`, and no answer for others.
std::vector<Explained> siblings_alone(const std::vector<size_t>& which,
                                      const std::vector<SheetEstimate>& told,
                                      std::vector<Explained> out) {
  std::vector<double> speed(out.size(), std::numeric_limits<double>::quiet_NaN());
  for (size_t k = 0; k < which.size(); ++k) {
    if (told[k].sibling.empty()) continue;
    speed[which[k]] = out[which[k]].prediction.tokens_per_s * std::exp(told[k].log_sibling);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    Prediction& p = out[i].prediction;
    const PredictionStatus status = p.status;
    p = no_answer();
    if (!std::isfinite(speed[i])) continue;
    p.tokens_per_s = speed[i];
    p.status = status;
  }
  return out;
}

}  // namespace

std::vector<Explained> Predictor::explain(const std::vector<BenchRow>& points) const {
  std::vector<Explained> out = judged(points);
  GroupNames names = state_->names;
  const LeastLatency least_latency = least_latency_by_facts(state_->facts, state_->options.untold);
  FactLookup lookup(state_->facts);
  for (size_t i = 0; i < points.size(); ++i) {
    Explained& told = out[i];
    told.nearest = state_->nearest(points[i], names.of(points[i]), lookup);
    auto reason = impossible_reason(least_latency, points[i], told.prediction.tokens_per_s);
    if (!reason) continue;
    told.reasons.push_back(*std::move(reason));
    told.prediction.status = PredictionStatus::kOutside;
  }
  return out;
}

// Weights if no GPU can be held out: from a single GPU, a process learns nothing about differences
// between GPUs (spec page planner, 3.1).
constexpr SiblingWeights kSiblingAlone = {1, 0};

SiblingRules Predictor::State::find_sibling_rules() const {
  LearntRows learnt;
  learnt.process = physics->process();
  const KernelTable& table = physics->table;
  for (size_t k = 0; k < table.rows.size(); ++k) {
    learnt.rows.push_back(&rows[table.rows[k]]);
    learnt.log_value.push_back(table.residual[k] + table.log_base[k]);
  }
  learnt.goes_with = &HardwareFacts::bandwidth_tb_s;
  learnt.engine_key = [](const BenchRow& row) {
    return GroupNames::keys_of(row)[static_cast<size_t>(KernelGroup::kFramework)];
  };
  GroupNames trained_names = physics->names;
  learnt.place = [&](const std::vector<BenchRow>& asked) {
    KernelTable placed = kernel_table(asked, facts, true, trained_names);
    return LearntRows::Placed{std::move(placed.points), std::move(placed.log_base)};
  };
  SiblingRules found;
  for (size_t kind = 0; kind < kUnmeasuredKinds; ++kind) {
    std::vector<GpuMiss> misses;
    if (learnt.process != nullptr)
      misses = left_out_gpus(learnt, facts, static_cast<UnmeasuredKind>(kind));
    found[kind] = sibling_rule(misses, kSiblingAlone);
  }
  return found;
}

const SiblingRules& Predictor::State::sibling_rules() const {
  std::call_once(siblings_found, [this] {
    siblings = options.siblings ? *options.siblings : find_sibling_rules();
  });
  return siblings;
}

const SiblingRules* Predictor::sibling_rules() const {
  return state_->physics ? &state_->sibling_rules() : nullptr;
}

// nullopt if the point's GPU has rows under the engine, even in another precision (the process then
// knows the GPU), or if there is no analytical base.
std::optional<UnmeasuredPoint> Predictor::State::unmeasured(const BenchRow& point,
                                                            FactLookup& lookup) const {
  const Trained* process = process_for(point, lookup);
  if (process == nullptr || !process->physics) return std::nullopt;
  const auto keys = GroupNames::keys_of(point);
  const auto at = measured.find(keys[static_cast<size_t>(KernelGroup::kFramework)]);
  if (at == measured.end()) return std::nullopt;
  const HardwareFacts* gpu = lookup.hardware(point.hardware);
  if (gpu_engines.count(gpu->name + "|" + point.framework) > 0) return std::nullopt;
  return UnmeasuredPoint{point, gpu, &at->second};
}

// The rule for a GPU without rows under the engine.
const SiblingRule& Predictor::State::sibling_rule_of(const HardwareFacts& gpu) const {
  const UnmeasuredKind kind = unmeasured_kind(gpus.count(gpu.name) > 0);
  return sibling_rules()[static_cast<size_t>(kind)];
}

std::vector<Explained> Predictor::judged(const std::vector<BenchRow>& points) const {
  const State& s = *state_;
  std::vector<Explained> out = by_rows(points);
  FactLookup lookup(s.facts);
  std::vector<size_t> which;
  std::vector<UnmeasuredPoint> asked;
  for (size_t i = 0; i < points.size(); ++i) {
    auto point = s.unmeasured(points[i], lookup);
    if (!point || out[i].prediction.status == PredictionStatus::kNoAnswer) continue;
    which.push_back(i);
    asked.push_back(*std::move(point));
  }
  const auto weights_of = [&s](const HardwareFacts& gpu, const std::string& engine) {
    return s.sibling_rule_of(gpu).weights(vendor_of(gpu), engine);
  };
  const auto log_speeds = [&](const std::vector<BenchRow>& rows) {
    std::vector<LogSpeed> speeds;
    GroupNames names = s.physics->names;
    const std::vector<double> physics = kernel_table(rows, s.facts, true, names).log_base;
    const std::vector<Explained> told = by_rows(rows);
    for (size_t i = 0; i < rows.size(); ++i)
      speeds.push_back({std::log(told[i].prediction.tokens_per_s), physics[i]});
    return speeds;
  };
  const auto told =
      sheet_estimates(asked, s.facts, &HardwareFacts::bandwidth_tb_s, weights_of, log_speeds);
  if (s.options.only_sibling) return siblings_alone(which, told, std::move(out));
  for (size_t k = 0; k < which.size(); ++k) {
    const BenchRow& point = asked[k].row;
    apply(told[k], s.sibling_rule_of(*asked[k].hardware),
          s.engine_models.count(point.framework + "|" + point.model) > 0, out[which[k]]);
  }
  return out;
}

std::vector<Explained> Predictor::by_rows(const std::vector<BenchRow>& points) const {
  const State& s = *state_;
  std::vector<Explained> out;
  std::map<const Trained*, std::vector<size_t>> by_process;
  FactLookup lookup(s.facts);
  for (size_t i = 0; i < points.size(); ++i) {
    out.push_back(s.judge(points[i], lookup));
    by_process[s.process_for(points[i], lookup)].push_back(i);
  }
  for (const auto& [process, which] : by_process) {
    if (process != nullptr) {
      answer(*process, s.facts, s.digests, points, which, out);
      continue;
    }
    for (const size_t i : which) out[i].prediction = no_answer();
  }
  s.blend_in(points, lookup, out);
  return out;
}

std::vector<Prediction> Predictor::predict(const std::vector<BenchRow>& points) const {
  std::vector<Prediction> out;
  for (Explained& explained : judged(points)) out.push_back(std::move(explained.prediction));
  return out;
}

std::vector<double> Predictor::log_half_widths(const std::vector<BenchRow>& points) const {
  std::vector<double> out;
  for (const Explained& explained : judged(points)) out.push_back(explained.log_half_width());
  return out;
}

std::vector<ConfidenceBin> Predictor::confidence() const {
  constexpr size_t kBins = 5;
  const State& s = *state_;
  const Trained* process = s.physics ? &*s.physics : s.plain_process();
  const std::vector<uint32_t> blocks = blocks_of(s.rows, process->table, HeldOut::kGroup);
  if (blocks.size() < 2 * kBins || !several(blocks) || process->process() == nullptr) return {};
  const ConformalScale& scale = process->scales[index_of(HeldOut::kGroup)];
  std::vector<std::pair<double, double>> missed;  // half-width, error; in logarithms
  const std::vector<GpAnswer> left_out = process->process()->leave_out(blocks);
  for (size_t i = 0; i < left_out.size(); ++i) {
    const double half = scale.at(pair_name(s.rows[process->table.rows[i]])) * left_out[i].sd;
    missed.emplace_back(half, left_out[i].mean);
  }
  std::sort(missed.begin(), missed.end());
  std::vector<ConfidenceBin> bins;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const size_t begin = bin * missed.size() / kBins;
    const size_t end = (bin + 1) * missed.size() / kBins;
    std::vector<double> widths, apes;
    size_t covered = 0;
    for (size_t i = begin; i < end; ++i) {
      const auto [half, miss] = missed[i];
      widths.push_back(std::exp(half) - 1);
      apes.push_back(std::abs(std::exp(-miss) - 1));
      covered += std::abs(miss) <= half;
    }
    const size_t rows = end - begin;
    bins.push_back({rows, median(widths), median(apes),
                    static_cast<double>(covered) / static_cast<double>(rows)});
  }
  return bins;
}

std::vector<double> Predictor::log_sd_after(const BenchRow& target,
                                            const std::vector<BenchRow>& extra) const {
  const State& s = *state_;
  FactLookup lookup(s.facts);
  const Trained* process = s.process_for(target, lookup);
  std::vector<double> out(extra.size(), std::numeric_limits<double>::quiet_NaN());
  if (process == nullptr || process->process() == nullptr) return out;
  std::vector<BenchRow> asked = {target};
  asked.insert(asked.end(), extra.begin(), extra.end());
  GroupNames names = process->names;
  const KernelTable table = kernel_table(asked, s.facts, process->physics, names);
  const GaussianProcess::Links links = process->process()->links(table.points);
  const double noise = process->process()->noise_variance();
  for (size_t k = 1; k < table.rows.size(); ++k) {
    // Condition on one more noisy value.
    const double left =
        links.variance[0] - links.with_first[k] * links.with_first[k] / (links.variance[k] + noise);
    out[table.rows[k] - 1] = std::sqrt(std::max(left, 0.0) + noise);
  }
  return out;
}

ThroughputMethod assay_method(const FactBook& facts, const PredictorOptions& options) {
  const auto fit = [facts, options](const ThroughputData& train,
                                    HeldOut kind) -> Result<std::unique_ptr<ThroughputModel>> {
    PredictorOptions asked = options;
    asked.only = kind;
    ASSAY_TRY_ASSIGN(std::unique_ptr<Predictor> made, Predictor::fit(train, facts, asked));
    return std::unique_ptr<ThroughputModel>(std::move(made));
  };
  return {"assay", "physics base and Gaussian process", fit};
}

ThroughputMethod nearest_gpu_method(const FactBook& facts) {
  PredictorOptions options;
  options.only_sibling = true;
  ThroughputMethod method = assay_method(facts, options);
  method.name = "nearest-gpu";
  method.label = "nearest GPU with rows, times the ratio of bandwidths";
  return method;
}

}  // namespace assay
