#include "throughput/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/stats.h"
#include "throughput/dataset.h"
#include "throughput/physics.h"

namespace assay {
namespace {

// Where log2 of the features is 0; the kernels do not depend on it.
constexpr double kLengthUnit = 512;
constexpr double kBatchUnit = 8;

struct ShareGroup {
  std::vector<PhysicsTerm> terms;
};

const std::array<ShareGroup, kKernelShares>& share_groups() {
  static const std::array<ShareGroup, kKernelShares> groups = {
      {{{PhysicsTerm::kWeights, PhysicsTerm::kLayers, PhysicsTerm::kHops}},
       {{PhysicsTerm::kCompute, PhysicsTerm::kPrefill, PhysicsTerm::kCommunication,
         PhysicsTerm::kHost}},
       {{PhysicsTerm::kKvCache, PhysicsTerm::kAttention}},
       {{PhysicsTerm::kWaves}},
       {{PhysicsTerm::kChunks}}}};
  return groups;
}

// Numbers for names; a name keeps its number as long as the object lives.
class Names {
 public:
  uint32_t of(const std::string& name) {
    return ids_.emplace(name, static_cast<uint32_t>(ids_.size())).first->second;
  }
  bool has(const std::string& name) const { return ids_.count(name) > 0; }

 private:
  std::map<std::string, uint32_t> ids_;
};

struct GroupNames {
  std::array<Names, kKernelGroups> names;

  static std::array<std::string, kKernelGroups> keys_of(const BenchRow& row) {
    // A variant (precision, parallelism) is another engine as far as speed goes.
    const std::string framework = row.framework + "|" + row.variant;
    std::array<std::string, kKernelGroups> keys;
    keys[static_cast<size_t>(KernelGroup::kHardware)] = row.hardware;
    keys[static_cast<size_t>(KernelGroup::kFramework)] = framework;
    keys[static_cast<size_t>(KernelGroup::kModel)] = row.model;
    keys[static_cast<size_t>(KernelGroup::kHardwareFramework)] = row.hardware + "|" + framework;
    keys[static_cast<size_t>(KernelGroup::kModelFramework)] = row.model + "|" + framework;
    keys[static_cast<size_t>(KernelGroup::kConfig)] = config_name(row);
    return keys;
  }

  std::array<uint32_t, kKernelGroups> of(const BenchRow& row) {
    const auto keys = keys_of(row);
    std::array<uint32_t, kKernelGroups> ids{};
    for (size_t g = 0; g < kKernelGroups; ++g) ids[g] = names[g].of(keys[g]);
    return ids;
  }
};

double& dim(KernelPoint& point, KernelDim which) { return point.x[static_cast<size_t>(which)]; }

KernelPoint plain_point(const BenchRow& row, GroupNames& names) {
  KernelPoint point;
  point.in_len = std::log2(row.in_len / kLengthUnit);
  point.out_len = std::log2(row.out_len / kLengthUnit);
  dim(point, KernelDim::kBatch) = std::log2(row.batch / kBatchUnit);
  dim(point, KernelDim::kDevices) = std::log2(row.devices);
  point.id = names.of(row);
  return point;
}

// A row as the kernel sees it, and log of the throughput that it is compared with.
struct Placed {
  KernelPoint point;
  double log_base = 0;
};

Placed place_on_physics(const BenchRow& row, const ModelFacts& model, const HardwareFacts& hardware,
                        GroupNames& names) {
  Placed placed{plain_point(row, names), 0};
  KernelPoint& point = placed.point;
  dim(point, KernelDim::kActive) = std::log2(model.active_b);
  dim(point, KernelDim::kExperts) = std::log2(model.parameters_b / model.active_b);
  dim(point, KernelDim::kKv) = std::log2(model.kv_gb_per_token());
  dim(point, KernelDim::kBandwidth) = std::log2(hardware.bandwidth_tb_s);
  dim(point, KernelDim::kFlops) = std::log2(hardware.tflops);
  const double fit = sequences_in_memory(row, model, hardware);
  dim(point, KernelDim::kOverflow) = std::max(0.0, std::log2(sequences_of(row) / fit));
  PhysicsTerms parts = physics_terms(row, model, hardware);
  double total = 0;
  for (size_t k = 0; k < kPhysicsTerms; ++k) total += parts[k] *= fixed_coefficients()[k];
  total = std::max(total, 1e-6);
  for (size_t g = 0; g < kKernelShares; ++g) {
    for (const PhysicsTerm term : share_groups()[g].terms)
      point.share[g] += parts[static_cast<size_t>(term)] / total;
  }
  placed.log_base = std::log((row.in_len + row.out_len) * sequences_of(row) / total);
  return placed;
}

// Without facts: tokens per second of one sequence at a time, and as many as there are. What
// batching and length cost is for the data to say.
Placed place_plainly(const BenchRow& row, GroupNames& names) {
  return {plain_point(row, names), 0};
}

std::optional<Placed> place(const BenchRow& row, const FactBook& facts, bool physics,
                            GroupNames& names) {
  if (!physics) return place_plainly(row, names);
  const ModelFacts* model = facts.model(row.model);
  const HardwareFacts* hardware = facts.hardware(row.hardware);
  if (model == nullptr || hardware == nullptr) return std::nullopt;
  return place_on_physics(row, *model, *hardware, names);
}

KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics,
                         GroupNames& names) {
  KernelTable table;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::optional<Placed> placed = place(rows[i], facts, physics, names);
    if (!placed) continue;
    table.rows.push_back(i);
    table.points.push_back(placed->point);
    table.log_base.push_back(placed->log_base);
    table.residual.push_back(std::log(rows[i].tokens_per_s) - placed->log_base);
  }
  return table;
}

// Two-sided 90 % of the normal distribution.
constexpr double kNormalScale = 1.6448536269514722;

// The smallest value that at least 90 % of new misses stay below, if they are exchangeable with the
// old ones (Vovk, Gammerman and Shafer, 2005; Lei et al., JASA 113, 2018).
ConformalScale conformal(std::vector<double> misses) {
  const size_t n = misses.size();
  const auto rank = static_cast<size_t>(std::ceil(static_cast<double>(n + 1) * 0.9));
  if (rank > n) return {kNormalScale, n, false};
  std::sort(misses.begin(), misses.end());
  return {misses[rank - 1], n, true};
}

std::vector<double> misses_in_sd(const std::vector<GpAnswer>& left_out) {
  std::vector<double> misses;
  misses.reserve(left_out.size());
  for (const GpAnswer& answer : left_out) misses.push_back(std::abs(answer.mean) / answer.sd);
  return misses;
}

}  // namespace

KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics) {
  GroupNames names;
  return kernel_table(rows, facts, physics, names);
}

std::string_view held_out_name(HeldOut kind) {
  static constexpr std::array<std::string_view, kHeldOutKinds> kNames = {
      "row", "length pair", "configuration", "model", "hardware", "larger batch", "longer length"};
  return kNames[static_cast<size_t>(kind)];
}

namespace {

size_t index_of(HeldOut kind) { return static_cast<size_t>(kind); }

// One Gaussian process with the names it was trained under.
struct Trained {
  bool physics = false;
  GroupNames names;
  KernelTable table;
  std::optional<GaussianProcess> gp;
  ConformalScales scales;
};

double length_of(const BenchRow& row) { return row.in_len + row.out_len; }

Result<Trained> train(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics,
                      const std::vector<double>& parameters) {
  Trained trained;
  trained.physics = physics;
  trained.table = kernel_table(rows, facts, physics, trained.names);
  const KernelSpec& spec = physics ? physics_kernel() : plain_kernel();
  ASSAY_TRY_ASSIGN(GaussianProcess gp,
                   GaussianProcess::fit(spec, parameters.empty() ? spec.defaults : parameters,
                                        trained.table.points, trained.table.residual));
  trained.gp = std::move(gp);
  return trained;
}

std::vector<uint32_t> blocks_of(const std::vector<BenchRow>& rows, const KernelTable& table,
                                HeldOut kind) {
  Names names;
  std::vector<uint32_t> blocks;
  for (const size_t i : table.rows) {
    const BenchRow& row = rows[i];
    switch (kind) {
      case HeldOut::kGroup:
        blocks.push_back(names.of(group_name(row)));
        break;
      case HeldOut::kConfig:
        blocks.push_back(names.of(config_name(row)));
        break;
      case HeldOut::kModel:
        blocks.push_back(names.of(row.model));
        break;
      case HeldOut::kHardware:
        blocks.push_back(names.of(row.hardware));
        break;
      default:
        blocks.push_back(static_cast<uint32_t>(blocks.size()));
    }
  }
  return blocks;
}

// What leaving out can tell: with a single block nothing would be left to learn from.
bool several(const std::vector<uint32_t>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](uint32_t block) { return block != blocks.front(); });
}

// The largest values of what grows stand for what lies beyond: learn below half of the largest,
// answer above.
Result<ConformalScale> nested_scale(const std::vector<BenchRow>& rows, const FactBook& facts,
                                    bool physics, const std::vector<double>& parameters,
                                    HeldOut kind) {
  const auto size = [kind](const BenchRow& row) {
    return kind == HeldOut::kLargerBatch ? row.batch : length_of(row);
  };
  double largest = 0;
  for (const BenchRow& row : rows) largest = std::max(largest, size(row));
  std::vector<BenchRow> inner;
  std::vector<BenchRow> outer;
  for (const BenchRow& row : rows) (size(row) <= largest / 2 ? inner : outer).push_back(row);
  if (inner.empty()) return ConformalScale{kNormalScale, 0, false};
  ASSAY_TRY_ASSIGN(Trained trained, train(inner, facts, physics, parameters));
  const KernelTable asked = kernel_table(outer, facts, physics, trained.names);
  std::vector<double> misses;
  const std::vector<GpAnswer> answers = trained.gp->predict(asked.points);
  for (size_t i = 0; i < answers.size(); ++i)
    misses.push_back(std::abs(asked.residual[i] - answers[i].mean) / answers[i].sd);
  ConformalScale scale = conformal(std::move(misses));
  // Without physics to carry it, one step beyond the data says too little about several.
  if (!physics) scale.scale = std::max(scale.scale, kNormalScale);
  return scale;
}

Result<ConformalScale> measure_scale(const Trained& trained, const std::vector<BenchRow>& rows,
                                     const FactBook& facts, const std::vector<double>& parameters,
                                     HeldOut kind) {
  if (kind == HeldOut::kLargerBatch || kind == HeldOut::kLongerLength)
    return nested_scale(rows, facts, trained.physics, parameters, kind);
  const std::vector<uint32_t> blocks = blocks_of(rows, trained.table, kind);
  if (!several(blocks)) return ConformalScale{kNormalScale, 0, false};
  return conformal(misses_in_sd(trained.gp->leave_out(blocks)));
}

// Learns, and measures the scales that were not given.
Result<Trained> train_and_measure(const std::vector<BenchRow>& rows, const FactBook& facts,
                                  bool physics, const PredictorOptions& options) {
  const std::vector<double>& parameters =
      physics ? options.physics_parameters : options.plain_parameters;
  const auto& known = physics ? options.physics_scales : options.plain_scales;
  ASSAY_TRY_ASSIGN(Trained trained, train(rows, facts, physics, parameters));
  if (known) {
    trained.scales = *known;
    return trained;
  }
  for (const HeldOut kind : kAllHeldOut) {
    trained.scales[index_of(kind)] = {kNormalScale, 0, false};
    if (options.only && kind != *options.only) continue;
    ASSAY_TRY_ASSIGN(trained.scales[index_of(kind)],
                     measure_scale(trained, rows, facts, parameters, kind));
  }
  return trained;
}

// Of input over output tokens.
double ratio_of(const BenchRow& row) { return row.in_len / row.out_len; }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// How far the rows of some group reach.
struct Reach {
  Range in_len, out_len, batch, devices, ratio;
  void add(const BenchRow& row) {
    ratio.add(ratio_of(row));
    in_len.add(row.in_len);
    out_len.add(row.out_len);
    batch.add(row.batch);
    devices.add(row.devices);
  }
};

std::string number_text(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

void note_beyond(const char* what, double value, const Range& range, double factor,
                 std::vector<std::string>& reasons) {
  if (value > range.high * factor) {
    reasons.push_back(std::string(what) + " " + number_text(value) + " is more than " +
                      number_text(factor) + " times the largest measured (" +
                      number_text(range.high) + ")");
  } else if (value < range.low / factor) {
    reasons.push_back(std::string(what) + " " + number_text(value) + " is less than 1/" +
                      number_text(factor) + " of the smallest measured (" + number_text(range.low) +
                      ")");
  }
}

// What a prompt costs against an answer cannot be learnt where the two always go together.
void note_ratio(double ratio, const Range& range, std::vector<std::string>& reasons) {
  constexpr double kRounding = 1 + 1e-9;
  if (ratio <= range.high * kRounding && ratio >= range.low / kRounding) return;
  if (range.low == 1 && range.high == 1) {
    reasons.push_back("the rows have equal input and output lengths only");
    return;
  }
  const std::string measured = range.low == range.high
                                   ? number_text(range.low) + " only"
                                   : number_text(range.low) + " to " + number_text(range.high);
  reasons.push_back("input over output length is " + number_text(ratio) + ", measured is " +
                    measured);
}

// How alike a row and a point are, most first.
constexpr std::array<std::pair<const char*, double>, 6> kRelations = {
    {{"same configuration", 0},
     {"other number of devices", 1},
     {"same hardware and framework", 2},
     {"same model and framework", 3},
     {"same framework", 4},
     {"nothing in common", 5}}};

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

// log2 of what grows: batch, devices, lengths.
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
  mutable std::optional<Trained> plain;  // on all rows; made when it is first needed
  mutable std::once_flag plain_made;

  GroupNames names;
  std::vector<std::array<uint32_t, kKernelGroups>> ids;  // per row
  std::vector<LogSize> log_sizes;                        // per row
  std::array<std::map<std::string, Reach>, kKernelGroups> reach;
  std::set<std::string> groups;
  Range active_b, parameters_b;  // of the models with facts
  bool has_experts = false;

  void look_around();
  Explained judge(const BenchRow& point) const;
  std::vector<Evidence> nearest(const BenchRow& point,
                                const std::array<uint32_t, kKernelGroups>& id) const;
  const Trained* plain_process() const;
  const Trained* process_for(const BenchRow& point) const;
  void judge_model(const BenchRow& point, std::vector<std::string>& reasons) const;
  void judge_memory(const BenchRow& point, std::vector<std::string>& reasons) const;
};

// What there is to compare points with.
void Predictor::State::look_around() {
  for (const BenchRow& row : rows) {
    ids.push_back(names.of(row));
    log_sizes.push_back(log_size_of(row));
    const auto keys = GroupNames::keys_of(row);
    for (size_t g = 0; g < kKernelGroups; ++g) reach[g][keys[g]].add(row);
    groups.insert(group_name(row));
    if (const ModelFacts* model = facts.model(row.model)) {
      active_b.add(model->active_b);
      parameters_b.add(model->parameters_b);
      has_experts |= model->active_b < model->parameters_b;
    }
  }
}

const Trained* Predictor::State::plain_process() const {
  std::call_once(plain_made, [this] {
    if (plain) return;
    auto made = train_and_measure(rows, facts, false, options);
    if (made) plain = *std::move(made);
  });
  return plain ? &*plain : nullptr;
}

const Trained* Predictor::State::process_for(const BenchRow& point) const {
  const bool known =
      facts.model(point.model) != nullptr && facts.hardware(point.hardware) != nullptr;
  return physics && known ? &*physics : plain_process();
}

void Predictor::State::judge_model(const BenchRow& point, std::vector<std::string>& reasons) const {
  const ModelFacts* model = facts.model(point.model);
  if (model == nullptr || !options.physics) {
    reasons.push_back("no row ran the model '" + point.model + "', and no facts about it are used");
    return;
  }
  if (model->active_b < model->parameters_b && !has_experts)
    reasons.push_back("no measured model is a mixture of experts");
  note_beyond("a model with parameters (10^9):", model->parameters_b, parameters_b, 2, reasons);
  note_beyond("a model with active parameters (10^9):", model->active_b, active_b, 2, reasons);
}

void Predictor::State::judge_memory(const BenchRow& point,
                                    std::vector<std::string>& reasons) const {
  const ModelFacts* model = facts.model(point.model);
  const HardwareFacts* hardware = facts.hardware(point.hardware);
  if (model == nullptr || hardware == nullptr || !options.physics) return;
  const double weights_gb = 2 * model->parameters_b;
  const double memory_gb = point.devices * hardware->memory_gb;
  if (weights_gb <= memory_gb) return;
  std::array<char, 80> text;
  std::snprintf(text.data(), text.size(), "weights %.4g GB do not fit %.4g GB", weights_gb,
                memory_gb);
  reasons.emplace_back(text.data());
}

// Kind and reach of one point; the prediction itself is filled in later.
Explained Predictor::State::judge(const BenchRow& point) const {
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
  if (find(KernelGroup::kModel) == nullptr) {
    if (out.reasons.empty()) out.kind = HeldOut::kModel;
    judge_model(point, out.reasons);
  }
  if (out.kind == HeldOut::kRow && config == nullptr) out.kind = HeldOut::kConfig;
  if (out.kind == HeldOut::kRow && groups.count(group_name(point)) == 0) out.kind = HeldOut::kGroup;

  const Reach* all = &reach[static_cast<size_t>(KernelGroup::kAll)].begin()->second;
  const Reach* wide = pair != nullptr ? pair : all;
  note_beyond("batch", point.batch, wide->batch, options.outside_factor, out.reasons);
  note_beyond("input length", point.in_len, wide->in_len, options.outside_factor, out.reasons);
  note_beyond("output length", point.out_len, wide->out_len, options.outside_factor, out.reasons);
  note_beyond("devices", point.devices, wide->devices, options.outside_factor, out.reasons);
  note_ratio(ratio_of(point), wide->ratio, out.reasons);
  // Rows that ran show that it fits, with fewer bits per weight.
  if (config == nullptr) judge_memory(point, out.reasons);

  const Trained* process = process_for(point);
  if (process == nullptr) return out;
  const auto consider = [&](HeldOut kind) {
    if (process->scales[index_of(kind)].scale > process->scales[index_of(out.kind)].scale)
      out.kind = kind;
  };
  const Reach* near = config != nullptr ? config : wide;
  if (options.only) {
    out.kind = *options.only;
  } else {
    if (point.batch > near->batch.high) consider(HeldOut::kLargerBatch);
    if (point.in_len > near->in_len.high || point.out_len > near->out_len.high)
      consider(HeldOut::kLongerLength);
  }
  out.scale = process->scales[index_of(out.kind)].scale;
  return out;
}

std::vector<Evidence> Predictor::State::nearest(
    const BenchRow& point, const std::array<uint32_t, kKernelGroups>& id) const {
  std::vector<std::pair<double, size_t>> order;
  order.reserve(rows.size());
  const LogSize at = log_size_of(point);
  for (size_t i = 0; i < rows.size(); ++i) {
    // A step less alike counts more than any distance that occurs.
    double distance = 100.0 * kRelations[relation_of(id, ids[i])].second;
    for (size_t k = 0; k < at.size(); ++k) distance += std::abs(at[k] - log_sizes[i][k]);
    order.emplace_back(distance, i);
  }
  const size_t wanted = std::min(options.nearest, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(wanted), order.end());
  std::vector<Evidence> out;
  for (size_t k = 0; k < wanted; ++k) {
    const size_t i = order[k].second;
    out.push_back({i, kRelations[relation_of(id, ids[i])].first,
                   length_of(point) / length_of(rows[i]), point.batch / rows[i].batch});
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
  if (!several(blocks)) return {};
  const std::vector<GpAnswer> missed = process->gp->leave_out(blocks);
  for (size_t i = 0; i < missed.size(); ++i) {
    const BenchRow& row = s.rows[process->table.rows[i]];
    const std::string name = row.hardware + "|" + row.framework;
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
  state->options = options;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    if (!data.infeasible[i]) state->rows.push_back(data.rows[i]);
  }
  if (state->rows.empty()) {
    return Error{ErrorCode::kFormat, "no row to learn from: all are physically impossible", "", -1};
  }
  // One order, whatever the table's: the same bits for the same rows.
  const auto key = [](const BenchRow& row) {
    return std::make_tuple(config_name(row), row.in_len, row.out_len, row.batch, row.tokens_per_s);
  };
  std::sort(state->rows.begin(), state->rows.end(),
            [&](const BenchRow& a, const BenchRow& b) { return key(a) < key(b); });
  state->look_around();
  const auto known = [&](const BenchRow& row) {
    return facts.model(row.model) != nullptr && facts.hardware(row.hardware) != nullptr;
  };
  const bool some = std::any_of(state->rows.begin(), state->rows.end(), known);
  const bool all = std::all_of(state->rows.begin(), state->rows.end(), known);
  if (options.physics && some) {
    ASSAY_TRY_ASSIGN(state->physics, train_and_measure(state->rows, facts, true, options));
  }
  if (!options.physics || !all) {
    ASSAY_TRY_ASSIGN(state->plain, train_and_measure(state->rows, facts, false, options));
  }
  return std::unique_ptr<Predictor>(new Predictor(std::move(state)));
}

namespace {

// The answers of one process for those points that it is responsible for.
void answer(const Trained& process, const FactBook& facts, const std::vector<BenchRow>& points,
            const std::vector<size_t>& which, std::vector<Explained>& out) {
  std::vector<BenchRow> asked;
  for (const size_t i : which) asked.push_back(points[i]);
  GroupNames names = process.names;
  const KernelTable table = kernel_table(asked, facts, process.physics, names);
  const std::vector<GpAnswer> answers = process.gp->predict(table.points);
  for (size_t k = 0; k < which.size(); ++k) {
    Explained& explained = out[which[k]];
    const double log_value = table.log_base[k] + answers[k].mean;
    explained.log_sd = answers[k].sd;
    const double half = explained.scale * answers[k].sd;
    explained.prediction = {
        std::exp(log_value), std::exp(log_value - half), std::exp(log_value + half),
        explained.reasons.empty() ? PredictionStatus::kInside : PredictionStatus::kOutside,
        process.physics ? "gp on physics" : "gp without physics"};
  }
}

}  // namespace

std::vector<Explained> Predictor::explain(const std::vector<BenchRow>& points) const {
  std::vector<Explained> out = judged(points);
  GroupNames names = state_->names;
  for (size_t i = 0; i < points.size(); ++i)
    out[i].nearest = state_->nearest(points[i], names.of(points[i]));
  return out;
}

std::vector<Explained> Predictor::judged(const std::vector<BenchRow>& points) const {
  const State& s = *state_;
  std::vector<Explained> out;
  std::map<const Trained*, std::vector<size_t>> by_process;
  for (size_t i = 0; i < points.size(); ++i) {
    out.push_back(s.judge(points[i]));
    by_process[s.process_for(points[i])].push_back(i);
  }
  for (const auto& [process, which] : by_process) {
    if (process != nullptr) {
      answer(*process, s.facts, points, which, out);
      continue;
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (const size_t i : which)
      out[i].prediction = {none, none, none, PredictionStatus::kNoAnswer, ""};
  }
  return out;
}

std::vector<Prediction> Predictor::predict(const std::vector<BenchRow>& points) const {
  std::vector<Prediction> out;
  for (Explained& explained : judged(points)) out.push_back(std::move(explained.prediction));
  return out;
}

std::vector<double> Predictor::log_half_widths(const std::vector<BenchRow>& points) const {
  std::vector<double> out;
  for (const Explained& explained : judged(points))
    out.push_back(explained.scale * explained.log_sd);
  return out;
}

std::vector<ConfidenceBin> Predictor::confidence() const {
  constexpr size_t kBins = 5;
  const State& s = *state_;
  const Trained* process = s.physics ? &*s.physics : s.plain_process();
  const std::vector<uint32_t> blocks = blocks_of(s.rows, process->table, HeldOut::kGroup);
  if (blocks.size() < 2 * kBins || !several(blocks)) return {};
  std::vector<GpAnswer> missed = process->gp->leave_out(blocks);
  std::sort(missed.begin(), missed.end(), [](const GpAnswer& a, const GpAnswer& b) {
    return std::make_pair(a.sd, a.mean) < std::make_pair(b.sd, b.mean);
  });
  const double scale = process->scales[index_of(HeldOut::kGroup)].scale;
  std::vector<ConfidenceBin> bins;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const size_t begin = bin * missed.size() / kBins;
    const size_t end = (bin + 1) * missed.size() / kBins;
    std::vector<double> widths, apes;
    size_t covered = 0;
    for (size_t i = begin; i < end; ++i) {
      widths.push_back(std::exp(scale * missed[i].sd) - 1);
      apes.push_back(std::abs(std::exp(-missed[i].mean) - 1));
      covered += std::abs(missed[i].mean) <= scale * missed[i].sd;
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
  const Trained* process = s.process_for(target);
  std::vector<double> out(extra.size(), std::numeric_limits<double>::quiet_NaN());
  if (process == nullptr) return out;
  std::vector<BenchRow> asked = {target};
  asked.insert(asked.end(), extra.begin(), extra.end());
  GroupNames names = process->names;
  const KernelTable table = kernel_table(asked, s.facts, process->physics, names);
  const GaussianProcess::Links links = process->gp->links(table.points);
  const double noise = process->gp->noise_variance();
  for (size_t k = 1; k < table.rows.size(); ++k) {
    // Conditioning on one more noisy value.
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

}  // namespace assay
