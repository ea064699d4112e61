// Problem: runs of one benchmark run share properties outside the columns (an engine's switches, a
// driver, the start of the client). Intervals from holding out single rows or configurations
// contain only half of a new benchmark run.
//
// Method: build and benchmark run are effects of the kernel, and a new one gets the whole prior
// variance. The remaining errors over whole held-out benchmark runs set the scale. These include
// runs of a build without other rows, with their larger deviation. A separate scale for builds
// would have only a handful of blocks per question, and intervals three times as wide. A model
// without any row is another question, because a held-out run leaves its models in other runs. Its
// scale comes from holding out all of a model's runs under an engine together.
//
// Effect: docs/measured/throughput_latency.md.

#include "throughput/serving/latency_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "base/decimal.h"
#include "base/numbers.h"
#include "base/stats.h"
#include "throughput/conformal.h"
#include "throughput/data_sheets.h"
#include "throughput/dataset.h"
#include "throughput/gp/gp.h"
#include "throughput/kernel_table.h"
#include "throughput/left_out_gpus.h"
#include "throughput/physics.h"
#include "throughput/placement.h"
#include "throughput/reach.h"
#include "throughput/serving/serving_base.h"
#include "throughput/unmeasured_gpu.h"

namespace assay {
namespace {

// Weight of the blocks of all questions, as a number of blocks, against those of one.
constexpr double kPooledBlocks = 20;
// Factor on the largest error, if all blocks together do not reach the share.
constexpr double kBeyondLargest = 1.25;
constexpr std::array<double, 8> kTaus = {0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6};
constexpr size_t kFewestCampaigns = 8;
// Variation between benchmark runs of the public table, of log TPOT and end to end, and of log
// TTFT. Assumed for tables of one benchmark run (spec page planner, 2.3).
constexpr double kAssumedTau = 0.25;
constexpr double kAssumedTtftTau = 0.6;
double assumed_tau_of(LatencyTarget target) {
  return target == LatencyTarget::kTtft ? kAssumedTtftTau : kAssumedTau;
}
constexpr double kModelFactor = 2;
constexpr double kMostZ = 3;
constexpr int kSearchSweeps = 8;
constexpr size_t kRowsOfCampaign = 50;

struct Known {
  const ModelFacts* model = nullptr;
  const HardwareFacts* hardware = nullptr;

  explicit operator bool() const { return model != nullptr && hardware != nullptr; }
};

Known known(const BenchRow& row, FactLookup& facts) {
  return {facts.model(row.model), facts.hardware(row.hardware)};
}

// Name of a future build or benchmark run, which no row has.
constexpr const char* kToCome = "\x1f";

struct LatencyNames {
  std::string unit;    // GPU|engine|model
  std::string pair;    // GPU|engine
  std::string config;  // without the engine's version
  std::string build;
  std::string campaign;
};

LatencyNames names_of(const BenchRow& row, const Known& facts) {
  LatencyNames names;
  names.pair = facts.hardware->name + "|" + row.framework;
  names.unit = names.pair + "|" + facts.model->name;
  BenchVariant variant = row.variant;
  variant.version.clear();
  names.config = names.unit + "|" + shortest_text(row.devices) + "|" + variant.text();
  names.build = row.framework + "|" + row.variant.version;
  names.campaign = row.campaign;
  return names;
}

double& dim(KernelPoint& point, KernelDim which) { return point.x[static_cast<size_t>(which)]; }

class PointMaker {
 public:
  KernelPoint operator()(const BenchRow& row, const Known& facts, const LatencyNames& names,
                         const ServingBase& base) {
    constexpr double kLengthUnit = 512;
    constexpr double kBatchUnit = 16;
    KernelPoint point;
    point.in_len = std::log2(row.in_len / kLengthUnit);
    point.out_len = std::log2(row.out_len / kLengthUnit);
    dim(point, KernelDim::kBatch) = std::log2(row.batch / kBatchUnit);
    dim(point, KernelDim::kDevices) = std::log2(row.devices);
    dim(point, KernelDim::kActive) = std::log2(facts.model->active_b);
    dim(point, KernelDim::kExperts) = std::log2(facts.model->parameters_b / facts.model->active_b);
    dim(point, KernelDim::kKv) = std::log2(kv_gb_per_token(row, *facts.model));
    dim(point, KernelDim::kWeightBytes) = std::log2(row.precision.weight_bytes);
    dim(point, KernelDim::kFlops) = std::log2(facts.hardware->tflops);
    dim(point, KernelDim::kIntensity) =
        std::log2(peak_tflops(row, *facts.hardware) / facts.hardware->bandwidth_tb_s);
    point.share[0] = base.prompt_share;
    const std::string of_model = row.framework + "|" + facts.model->name;
    const auto set = [&](KernelGroup group, const std::string& name) {
      const auto at = static_cast<size_t>(group);
      point.id[at] = names_[at].of(name);
    };
    set(KernelGroup::kFramework, row.framework);
    set(KernelGroup::kHardwareFramework, names.pair);
    set(KernelGroup::kModelFramework, of_model);
    set(KernelGroup::kConfig, names.config);
    set(KernelGroup::kVendorFramework, vendor_of(*facts.hardware) + "|" + row.framework);
    set(KernelGroup::kModelPrecision, of_model + "|" + shortest_text(row.precision.weight_bytes) +
                                          "|" +
                                          shortest_text(static_cast<double>(row.precision.units)));
    set(KernelGroup::kBuild, names.build);
    set(KernelGroup::kCampaign, names.campaign);
    set(KernelGroup::kCampaignConfig, names.campaign + "|" + names.config);
    return point;
  }

 private:
  std::array<Names, kKernelGroups> names_;
};

double base_ms(const ServingBase& base, LatencyTarget target) {
  return target == LatencyTarget::kTtft ? base.ttft_ms : base.tpot_ms;
}

// Standard deviation of the log end-to-end latency, from those of TTFT and TPOT weighted by their
// shares. A separate process for end-to-end latencies had a median error of 20 %, compared with 11
// % for this, because a slow first token has a different weight in every row.
double end_to_end_sd(const BenchRow& row, double ttft_ms, double tpot_ms, double ttft_sd,
                     double tpot_sd, double correlation) {
  const double first = ttft_ms / end_to_end_ms(row, ttft_ms, tpot_ms);
  const double a = first * ttft_sd;
  const double b = (1 - first) * tpot_sd;
  return std::sqrt(std::max(0.0, a * a + b * b + 2 * correlation * a * b));
}

// The blocks that have rows with each name.
using BlocksOf = std::map<std::string, std::set<uint32_t>>;

bool in_another(const BlocksOf& blocks, const std::string& name, uint32_t block) {
  const auto at = blocks.find(name);
  return at != blocks.end() && (at->second.size() > 1 || *at->second.begin() != block);
}

// Names in the rows of each block, to classify what is new about a row of another block.
struct Seen {
  BlocksOf configs, units, pairs;

  void add(const LatencyNames& names, uint32_t block) {
    configs[names.config].insert(block);
    units[names.unit].insert(block);
    pairs[names.pair].insert(block);
  }
  LatencyQuestion question(const LatencyNames& names, uint32_t block) const {
    if (in_another(configs, names.config, block)) return LatencyQuestion::kOtherCampaign;
    if (in_another(units, names.unit, block)) return LatencyQuestion::kConfiguration;
    return in_another(pairs, names.pair, block) ? LatencyQuestion::kModel
                                                : LatencyQuestion::kHardware;
  }
};
constexpr uint32_t kNoBlock = std::numeric_limits<uint32_t>::max();

// Errors in units of the deviation, weighted so that each block has a total weight of 1.
struct Weighed {
  std::vector<std::pair<double, double>> z;  // error / deviation, weight
  double blocks = 0;
};

Weighed weigh(const std::vector<const BlockMiss*>& misses, double tau) {
  std::map<uint32_t, double> rows;
  for (const BlockMiss* miss : misses) rows[miss->block] += 1;
  Weighed out;
  out.blocks = static_cast<double>(rows.size());
  for (const BlockMiss* miss : misses)
    out.z.emplace_back(miss->miss / std::hypot(miss->sd, tau), 1 / rows[miss->block]);
  return out;
}

double pooled_scale(const Weighed& own, const Weighed& all) {
  std::vector<std::pair<double, double>> z = own.z;
  for (const auto& [miss, weight] : all.z)
    z.emplace_back(miss, weight * kPooledBlocks / all.blocks);
  std::sort(z.begin(), z.end());
  // One block is added to those of all questions. The blocks of the pool are not additional ones.
  const double to_come = 1 + 1 / all.blocks;
  const double wanted = kHeldShare * (own.blocks + kPooledBlocks) * to_come;
  double sum = 0;
  for (const auto& [miss, weight] : z) {
    sum += weight;
    if (sum >= wanted) return miss;
  }
  return z.back().first * kBeyondLargest;
}

// Mean over blocks of the mean half-width of their rows.
double mean_width(const std::vector<const BlockMiss*>& misses, double scale, double tau) {
  std::map<uint32_t, std::pair<double, double>> blocks;
  for (const BlockMiss* miss : misses) {
    auto& [sum, count] = blocks[miss->block];
    sum += scale * std::hypot(miss->sd, tau);
    count += 1;
  }
  double total = 0;
  for (const auto& block : blocks) total += block.second.first / block.second.second;
  return total / static_cast<double>(blocks.size());
}

// Scale and tau with the narrowest intervals, over the grid kTaus.
CampaignScale narrowest(const std::vector<const BlockMiss*>& own,
                        const std::vector<const BlockMiss*>& all, size_t fewest) {
  CampaignScale best;
  double width = std::numeric_limits<double>::infinity();
  for (const double tau : kTaus) {
    const Weighed some = weigh(own, tau);
    const double scale = pooled_scale(some, weigh(all, tau));
    const bool measured = some.blocks >= static_cast<double>(fewest);
    const double at = mean_width(measured ? own : all, scale, tau);
    if (at >= width - 1e-9) continue;
    width = at;
    best = {scale, tau, static_cast<size_t>(some.blocks), measured};
  }
  return best;
}

}  // namespace

std::string_view latency_question_name(LatencyQuestion question) {
  static constexpr std::array<std::string_view, kLatencyQuestions> kNames = {
      "other campaign", "configuration", "model", "new model", "hardware"};
  return kNames[static_cast<size_t>(question)];
}

double CampaignScale::half_width(double sd) const { return scale * std::hypot(sd, tau); }

CampaignScales campaign_scales(const std::vector<BlockMiss>& misses,
                               const std::vector<BlockMiss>& without_model, size_t fewest,
                               double assumed_tau) {
  CampaignScales out;
  std::vector<const BlockMiss*> all;
  std::set<uint32_t> blocks;
  for (const BlockMiss& miss : misses) {
    all.push_back(&miss);
    blocks.insert(miss.block);
  }
  if (blocks.size() < 2) {
    for (CampaignScale& scale : out) scale.tau = assumed_tau;
    return out;
  }
  // Errors for new combinations of GPU and engine do not apply to known ones.
  std::vector<const BlockMiss*> nearer;
  for (const BlockMiss* miss : all) {
    if (miss->question != LatencyQuestion::kHardware) nearer.push_back(miss);
  }
  constexpr auto kNewModel = static_cast<size_t>(LatencyQuestion::kNewModel);
  for (size_t q = 0; q < kLatencyQuestions; ++q) {
    std::vector<const BlockMiss*> own;
    for (const BlockMiss& miss : q == kNewModel ? without_model : misses) {
      if (static_cast<size_t>(miss.question) == q) own.push_back(&miss);
    }
    const bool hardware = q == static_cast<size_t>(LatencyQuestion::kHardware);
    out[q] = narrowest(own, hardware || nearer.empty() ? all : nearer, fewest);
  }
  // A question with few blocks gets at least the width of nearer ones. With too few blocks in all,
  // nothing is measured and tau is assumed.
  for (size_t q = 0; q < kLatencyQuestions; ++q) {
    if (out[q].measured) continue;
    if (blocks.size() < fewest) out[q].tau = std::max(out[q].tau, assumed_tau);
    for (size_t near = 0; near < q; ++near) {
      // A new GPU is not closer to a new model than the reverse.
      if (near == kNewModel) continue;
      if (out[near].half_width(1) > out[q].half_width(1)) {
        out[q].scale = out[near].scale;
        out[q].tau = out[near].tau;
      }
    }
  }
  return out;
}

bool tells_latency(const BenchRow& row) {
  // The model is a function of the number of requests in flight, which chunk sizes do not give.
  return !batch_is_chunk(row) && row.ttft_ms > 0 && row.tpot_ms > 0 && std::isfinite(row.ttft_ms) &&
         std::isfinite(row.tpot_ms);
}

bool teaches_latency(const BenchRow& row, FactLookup& facts) {
  const Known about = known(row, facts);
  return about && tells_latency(row) &&
         !beyond_peaks(row, measured_ms(row, LatencyTarget::kEndToEnd), *about.model,
                       *about.hardware);
}

double measured_ms(const BenchRow& row, LatencyTarget target) {
  if (target == LatencyTarget::kTtft) return row.ttft_ms;
  if (target == LatencyTarget::kTpot) return row.tpot_ms;
  return end_to_end_ms(row, row.ttft_ms, row.tpot_ms);
}

std::string latency_unit_of(const BenchRow& row, const FactBook& facts) {
  FactLookup lookup(facts);
  const Known about = known(row, lookup);
  return about ? names_of(row, about).unit : row.hardware + "|" + row.framework + "|" + row.model;
}

struct LatencyModel::State {
  FactBook facts;
  LatencyOptions options;
  std::vector<LatencyNames> names;  // per training row
  std::vector<KernelPoint> points;
  mutable PointMaker make;
  std::vector<BenchRow> learnt;
  std::array<std::vector<double>, kLatencyProcesses> residual;
  std::vector<uint32_t> campaign_of, unit_of, engine_model_of;
  Names campaigns, units;
  Names engine_models;  // "engine|model"
  Seen seen;
  std::set<std::string> build_names, models;
  std::map<std::string, Reach> reach;  // by GPU and engine
  std::map<std::string, Reach> reach_of_engine;
  std::map<std::string, MeasuredGpus> measured;  // by engine
  std::set<std::string> gpus;                    // by the names in the specifications
  struct GpuRules {
    std::array<SiblingRule, kLatencyProcesses> of;
    std::array<GpuInterval, kLatencyTargets> interval;
  };
  mutable std::array<GpuRules, kUnmeasuredKinds> gpu_rules;  // computed at first use
  mutable std::once_flag gpu_rules_found;
  Range parameters_b, active_b;
  std::vector<GaussianProcess> processes;
  std::array<std::vector<BlockMiss>, kLatencyTargets> campaign_misses;
  std::array<CampaignScales, kLatencyTargets> by_campaign;  // except for new models
  // Computed at first use: holding out whole models costs as much as holding out benchmark runs,
  // and most queries are about known models.
  mutable std::array<CampaignScale, kLatencyTargets> of_new_model;
  mutable std::once_flag new_model_found;
  double correlation = 0;
  size_t beyond_peaks = 0;

  void learn(const BenchRow& row, const Known& about);
  Status measure();
  using PerTarget = std::vector<std::vector<GpAnswer>>;  // by LatencyTarget
  PerTarget leave_out(const std::vector<uint32_t>& block) const;
  void find_new_model() const;
  const CampaignScale& scale_of(LatencyTarget target, LatencyQuestion question) const;
  std::vector<BlockMiss> misses(const std::vector<GpAnswer>& left_out,
                                const std::vector<uint32_t>& block) const;
  void correlate(const std::vector<GpAnswer>& ttft, const std::vector<GpAnswer>& tpot);
  std::vector<GpAnswer> end_to_end(const std::vector<GpAnswer>& ttft,
                                   const std::vector<GpAnswer>& tpot) const;
  void set_interval(const Known& about, const std::string& engine, LatencyTarget target,
                    LatencyAnswer& answer) const;
  LatencyAnswer judge(const BenchRow& point, const Known& about, const LatencyNames& names) const;
  void fill(const std::vector<const BenchRow*>& asked, const std::vector<ServingBase>& bases,
            const std::vector<KernelPoint>& at, std::vector<LatencyAnswer*>& out) const;
  LatencyNames asked_names(const BenchRow& point, const Known& about) const;
  std::vector<LogSpeed> log_speeds(const std::vector<BenchRow>& rows, LatencyTarget target) const;
  LearntRows learnt_rows(LatencyTarget target) const;
  GpuRules find_gpu_rules(UnmeasuredKind kind) const;
  const GpuRules& rules_of(const HardwareFacts& gpu) const;
  void use_sheets(const std::vector<const BenchRow*>& asked,
                  std::vector<LatencyAnswer*>& out) const;
  static void use_sheet(const UnmeasuredPoint& point, const SheetEstimate& told,
                        LatencyTarget target, LatencyAnswer& answer);
};

LatencyModel::LatencyModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
LatencyModel::LatencyModel(LatencyModel&&) noexcept = default;
LatencyModel& LatencyModel::operator=(LatencyModel&&) noexcept = default;
LatencyModel::~LatencyModel() = default;

void LatencyModel::State::learn(const BenchRow& row, const Known& about) {
  const LatencyNames name = names_of(row, about);
  const ServingBase base = serving_base(row, *about.model, *about.hardware);
  points.push_back(make(row, about, name, base));
  for (const LatencyTarget target : kLearntLatencies) {
    residual[static_cast<size_t>(target)].push_back(
        std::log(measured_ms(row, target) / base_ms(base, target)));
  }
  campaign_of.push_back(campaigns.of(name.campaign));
  unit_of.push_back(units.of(name.unit));
  engine_model_of.push_back(engine_models.of(row.framework + "|" + about.model->name));
  seen.add(name, campaign_of.back());
  build_names.insert(name.build);
  models.insert(about.model->name);
  reach[name.pair].add(row);
  reach_of_engine[row.framework].add(row);
  note_gpu(about.hardware, row.hardware, measured[row.framework]);
  gpus.insert(about.hardware->name);
  parameters_b.add(about.model->parameters_b);
  active_b.add(about.model->active_b);
  names.push_back(name);
  learnt.push_back(row);
}

// Errors of the end-to-end latency from those of its parts.
std::vector<GpAnswer> LatencyModel::State::end_to_end(const std::vector<GpAnswer>& ttft,
                                                      const std::vector<GpAnswer>& tpot) const {
  std::vector<GpAnswer> out;
  for (size_t i = 0; i < learnt.size(); ++i) {
    const BenchRow& row = learnt[i];
    const double first = row.ttft_ms * std::exp(-ttft[i].mean);
    const double next = row.tpot_ms * std::exp(-tpot[i].mean);
    const double miss =
        std::log(end_to_end_ms(row, row.ttft_ms, row.tpot_ms) / end_to_end_ms(row, first, next));
    out.push_back({miss, end_to_end_sd(row, first, next, ttft[i].sd, tpot[i].sd, correlation)});
  }
  return out;
}

std::vector<BlockMiss> LatencyModel::State::misses(const std::vector<GpAnswer>& left_out,
                                                   const std::vector<uint32_t>& block) const {
  Seen others;
  for (size_t i = 0; i < names.size(); ++i) others.add(names[i], block[i]);
  std::vector<BlockMiss> out;
  for (size_t i = 0; i < names.size(); ++i) {
    out.push_back({std::abs(left_out[i].mean), left_out[i].sd, block[i],
                   others.question(names[i], block[i])});
  }
  return out;
}

void LatencyModel::State::correlate(const std::vector<GpAnswer>& ttft,
                                    const std::vector<GpAnswer>& tpot) {
  const std::set<uint32_t> blocks(campaign_of.begin(), campaign_of.end());
  if (blocks.size() < kFewestCampaigns) return;
  double xx = 0, yy = 0, xy = 0, sx = 0, sy = 0;
  const auto n = static_cast<double>(ttft.size());
  for (size_t i = 0; i < ttft.size(); ++i) {
    const double x = std::clamp(ttft[i].mean / ttft[i].sd, -kMostZ, kMostZ);
    const double y = std::clamp(tpot[i].mean / tpot[i].sd, -kMostZ, kMostZ);
    sx += x, sy += y, xx += x * x, yy += y * y, xy += x * y;
  }
  const double spread = (xx - sx * sx / n) * (yy - sy * sy / n);
  if (spread > 0) correlation = (xy - sx * sy / n) / std::sqrt(spread);
}

// Errors with blocks held out, for the targets with a process.
LatencyModel::State::PerTarget LatencyModel::State::leave_out(
    const std::vector<uint32_t>& block) const {
  PerTarget out;
  for (const LatencyTarget target : kLearntLatencies)
    out.push_back(processes[static_cast<size_t>(target)].leave_out(block));
  return out;
}

Status LatencyModel::State::measure() {
  for (const LatencyTarget target : kLearntLatencies) {
    const auto t = static_cast<size_t>(target);
    ASSAY_TRY_ASSIGN(
        GaussianProcess process,
        GaussianProcess::fit(latency_kernel(), kernel_parameters(options.parameters[t]), points,
                             residual[t]));
    processes.push_back(std::move(process));
  }
  const bool several = std::set<uint32_t>(campaign_of.begin(), campaign_of.end()).size() > 1;
  const PerTarget nothing(kLatencyProcesses, std::vector<GpAnswer>(points.size(), GpAnswer{0, 1}));
  PerTarget left_out = several ? leave_out(campaign_of) : nothing;
  correlate(left_out[0], left_out[1]);
  left_out.push_back(end_to_end(left_out[0], left_out[1]));
  for (const LatencyTarget target : kAllLatencyTargets) {
    const auto t = static_cast<size_t>(target);
    campaign_misses[t] = misses(left_out[t], campaign_of);
    by_campaign[t] =
        campaign_scales(campaign_misses[t], {}, kFewestCampaigns, assumed_tau_of(target));
  }
  return Ok{};
}

void LatencyModel::State::find_new_model() const {
  constexpr auto kNewModel = static_cast<size_t>(LatencyQuestion::kNewModel);
  PerTarget left_out = leave_out(engine_model_of);
  left_out.push_back(end_to_end(left_out[0], left_out[1]));
  for (const LatencyTarget target : kAllLatencyTargets) {
    const auto t = static_cast<size_t>(target);
    std::vector<BlockMiss> of_models = misses(left_out[t], engine_model_of);
    for (BlockMiss& miss : of_models) {
      if (miss.question == LatencyQuestion::kModel) miss.question = LatencyQuestion::kNewModel;
    }
    of_new_model[t] = campaign_scales(campaign_misses[t], of_models, kFewestCampaigns,
                                      assumed_tau_of(target))[kNewModel];
  }
}

const CampaignScale& LatencyModel::State::scale_of(LatencyTarget target,
                                                   LatencyQuestion question) const {
  const auto t = static_cast<size_t>(target);
  if (question != LatencyQuestion::kNewModel) return by_campaign[t][static_cast<size_t>(question)];
  std::call_once(new_model_found, [this] { find_new_model(); });
  return of_new_model[t];
}

Result<LatencyModel> LatencyModel::fit(const std::vector<BenchRow>& rows, const FactBook& facts,
                                       const LatencyOptions& options) {
  auto state = std::make_unique<State>();
  state->facts = facts;
  state->options = options;
  FactLookup lookup(state->facts);
  for (const BenchRow& row : rows) {
    const Known about = known(row, lookup);
    if (!tells_latency(row) || !about) continue;
    if (teaches_latency(row, lookup)) {
      state->learn(row, about);
    } else {
      ++state->beyond_peaks;
    }
  }
  if (state->points.empty()) {
    return Error{ErrorCode::kFormat,
                 "no row has TTFT and TPOT of a model and a GPU with specifications: latencies "
                 "cannot be trained on it",
                 "", -1};
  }
  ASSAY_TRY(state->measure());
  return LatencyModel(std::move(state));
}

LatencyAnswer LatencyModel::State::judge(const BenchRow& point, const Known& about,
                                         const LatencyNames& name) const {
  LatencyAnswer out;
  out.question = seen.question(name, kNoBlock);
  if (out.question == LatencyQuestion::kModel && models.count(about.model->name) == 0)
    out.question = LatencyQuestion::kNewModel;
  if (out.question == LatencyQuestion::kHardware) {
    out.reasons.push_back("no row with TTFT and TPOT ran under '" + point.framework + "' on '" +
                          point.hardware + "'");
  }
  if (reach_of_engine.count(point.framework) > 0) {
    // The effect of lengths is learned from all rows of the engine. Fewer requests in flight than
    // in any row is the simpler case, and the process's deviation covers the distance.
    const Reach& of_engine = reach_of_engine.at(point.framework);
    const auto of_pair = reach.find(name.pair);
    const Reach& near = of_pair != reach.end() ? of_pair->second : of_engine;
    const double factor = options.outside_factor;
    const Range up_to{0, near.batch.high};
    note_beyond("requests in flight", point.batch, up_to, factor, out.reasons);
    note_beyond("input length", point.in_len, of_engine.in_len, factor, out.reasons);
    note_beyond("output length", point.out_len, of_engine.out_len, factor, out.reasons);
    note_beyond("devices", point.devices, near.devices, factor, out.reasons);
  }
  if (models.count(about.model->name) == 0) {
    note_beyond("a model with parameters (10^9):", about.model->parameters_b, parameters_b,
                kModelFactor, out.reasons);
    note_beyond("a model with active parameters (10^9):", about.model->active_b, active_b,
                kModelFactor, out.reasons);
  }
  if (out.question != LatencyQuestion::kOtherCampaign) {
    for (std::string& problem : placement_problems(point, *about.model, *about.hardware))
      out.reasons.push_back(std::move(problem));
  }
  return out;
}

void LatencyModel::State::set_interval(const Known& about, const std::string& engine,
                                       LatencyTarget target, LatencyAnswer& answer) const {
  const auto t = static_cast<size_t>(target);
  LatencyEstimate& estimate = answer.of[t];
  const CampaignScale& scale = scale_of(target, answer.question);
  double half = scale.half_width(estimate.log_sd);
  // Errors over held-out GPUs.
  if (!answer.sibling.empty()) {
    const GpuInterval& left_out = rules_of(*about.hardware).interval[t];
    const bool known_model = engine_models.has(engine + "|" + about.model->name);
    half = left_out.half_width_of(half, known_model && !answer.beyond_rows());
  }
  estimate.low90_ms = estimate.ms * std::exp(-half);
  estimate.high90_ms = estimate.ms * std::exp(half);
  estimate.status = prediction_status(!answer.reasons.empty(), std::expm1(half));
  answer.measured = scale.measured && answer.reasons.empty();
}

void LatencyModel::State::fill(const std::vector<const BenchRow*>& asked,
                               const std::vector<ServingBase>& bases,
                               const std::vector<KernelPoint>& at,
                               std::vector<LatencyAnswer*>& out) const {
  FactLookup lookup(facts);
  std::array<std::vector<GpAnswer>, kLatencyProcesses> told;
  for (size_t t = 0; t < kLatencyProcesses; ++t) told[t] = processes[t].predict_exactly(at);
  for (size_t i = 0; i < asked.size(); ++i) {
    const BenchRow& row = *asked[i];
    const Known about = known(row, lookup);
    const ServingBase& base = bases[i];
    const ServingBase floor = serving_floor(row, *about.model, *about.hardware);
    for (const LatencyTarget target : kLearntLatencies) {
      const auto t = static_cast<size_t>(target);
      LatencyEstimate& estimate = out[i]->of[t];
      // No estimate is faster than the data sheet allows.
      estimate.ms =
          std::max(base_ms(base, target) * std::exp(told[t][i].mean), base_ms(floor, target));
      estimate.log_sd = told[t][i].sd;
    }
  }
  use_sheets(asked, out);
  for (size_t i = 0; i < asked.size(); ++i) {
    const BenchRow& row = *asked[i];
    const LatencyEstimate& ttft = out[i]->at(LatencyTarget::kTtft);
    const LatencyEstimate& tpot = out[i]->at(LatencyTarget::kTpot);
    LatencyEstimate& whole = out[i]->of[static_cast<size_t>(LatencyTarget::kEndToEnd)];
    whole.ms = end_to_end_ms(row, ttft.ms, tpot.ms);
    whole.log_sd = end_to_end_sd(row, ttft.ms, tpot.ms, ttft.log_sd, tpot.log_sd, correlation);
    const Known about = known(row, lookup);
    for (const LatencyTarget target : kAllLatencyTargets)
      set_interval(about, row.framework, target, *out[i]);
  }
}

// Names of a point as part of a future benchmark run.
LatencyNames LatencyModel::State::asked_names(const BenchRow& point, const Known& about) const {
  LatencyNames name = names_of(point, about);
  name.campaign = kToCome;
  if (build_names.count(name.build) == 0) name.build = kToCome;
  return name;
}

std::vector<LogSpeed> LatencyModel::State::log_speeds(const std::vector<BenchRow>& rows,
                                                      LatencyTarget target) const {
  FactLookup lookup(facts);
  std::vector<KernelPoint> at;
  std::vector<ServingBase> bases;
  for (const BenchRow& row : rows) {
    const Known about = known(row, lookup);
    bases.push_back(serving_base(row, *about.model, *about.hardware));
    at.push_back(make(row, about, asked_names(row, about), bases.back()));
  }
  const std::vector<double> means = processes[static_cast<size_t>(target)].means_exactly(at);
  std::vector<LogSpeed> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Known about = known(rows[i], lookup);
    const double base = base_ms(bases[i], target);
    const double floor = base_ms(serving_floor(rows[i], *about.model, *about.hardware), target);
    out.push_back({-std::log(std::max(base * std::exp(means[i]), floor)), -std::log(base)});
  }
  return out;
}

// The data-sheet value that a latency scales with.
double HardwareFacts::* sheet_value(LatencyTarget target) {
  return target == LatencyTarget::kTtft ? &HardwareFacts::tflops : &HardwareFacts::bandwidth_tb_s;
}

LearntRows LatencyModel::State::learnt_rows(LatencyTarget target) const {
  const auto t = static_cast<size_t>(target);
  LearntRows out;
  out.process = &processes[t];
  out.value_is_time = true;
  out.goes_with = sheet_value(target);
  for (const BenchRow& row : learnt) {
    out.rows.push_back(&row);
    out.log_value.push_back(std::log(measured_ms(row, target)));
  }
  out.engine_key = [](const BenchRow& row) { return row.framework; };
  out.place = [this, target](const std::vector<BenchRow>& asked) {
    FactLookup lookup(facts);
    LearntRows::Placed placed;
    for (const BenchRow& row : asked) {
      const Known about = known(row, lookup);
      const ServingBase base = serving_base(row, *about.model, *about.hardware);
      placed.points.push_back(make(row, about, asked_names(row, about), base));
      placed.log_base.push_back(std::log(base_ms(base, target)));
    }
    return placed;
  };
  return out;
}

LatencyModel::State::GpuRules LatencyModel::State::find_gpu_rules(UnmeasuredKind kind) const {
  // Without held-out GPUs only the process is used. For latencies it is better than a ratio.
  constexpr SiblingWeights kProcessAlone = {0, 0};
  GpuRules out;
  std::vector<GpuMiss> whose;
  std::array<std::vector<double>, kLatencyTargets> missed;
  for (const LatencyTarget target : kLearntLatencies) {
    const auto t = static_cast<size_t>(target);
    whose = left_out_gpus(learnt_rows(target), facts, kind);
    out.of[t] = sibling_rule(whose, kProcessAlone);
    for (const GpuMiss& miss : whose) missed[t].push_back(out.of[t].missed(miss));
    out.interval[t] = gpu_interval(missed[t], whose);
  }
  const auto whole = static_cast<size_t>(LatencyTarget::kEndToEnd);
  for (size_t i = 0; i < whose.size(); ++i) {
    const BenchRow& row = learnt[whose[i].row];
    const double told = end_to_end_ms(row, row.ttft_ms * std::exp(missed[0][i]),
                                      row.tpot_ms * std::exp(missed[1][i]));
    missed[whole].push_back(std::log(told / measured_ms(row, LatencyTarget::kEndToEnd)));
  }
  out.interval[whole] = gpu_interval(missed[whole], whose);
  return out;
}

const LatencyModel::State::GpuRules& LatencyModel::State::rules_of(const HardwareFacts& gpu) const {
  std::call_once(gpu_rules_found, [this] {
    for (size_t kind = 0; kind < kUnmeasuredKinds; ++kind)
      gpu_rules[kind] = find_gpu_rules(static_cast<UnmeasuredKind>(kind));
  });
  const UnmeasuredKind kind = unmeasured_kind(gpus.count(gpu.name) > 0);
  return gpu_rules[static_cast<size_t>(kind)];
}

// Corrects the answers for GPUs without rows under their engine by siblings and the order of data
// sheets.
void LatencyModel::State::use_sheets(const std::vector<const BenchRow*>& asked,
                                     std::vector<LatencyAnswer*>& out) const {
  FactLookup lookup(facts);
  std::vector<UnmeasuredPoint> new_gpus;
  std::vector<LatencyAnswer*> answers;
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto of_engine = measured.find(asked[i]->framework);
    if (out[i]->question != LatencyQuestion::kHardware || of_engine == measured.end()) continue;
    new_gpus.push_back({*asked[i], known(*asked[i], lookup).hardware, &of_engine->second});
    answers.push_back(out[i]);
  }
  for (const LatencyTarget target : kLearntLatencies) {
    const auto t = static_cast<size_t>(target);
    const auto weights_of = [this, t](const HardwareFacts& gpu, const std::string& engine) {
      return rules_of(gpu).of[t].weights(vendor_of(gpu), engine);
    };
    const auto speeds = [&](const std::vector<BenchRow>& rows) { return log_speeds(rows, target); };
    const auto told = sheet_estimates(new_gpus, facts, sheet_value(target), weights_of, speeds);
    for (size_t i = 0; i < new_gpus.size(); ++i)
      use_sheet(new_gpus[i], told[i], target, *answers[i]);
  }
}

void LatencyModel::State::use_sheet(const UnmeasuredPoint& point, const SheetEstimate& told,
                                    LatencyTarget target, LatencyAnswer& answer) {
  const auto t = static_cast<size_t>(target);
  LatencyEstimate& estimate = answer.of[t];
  const std::string name(latency_target_name(target));
  answer.sibling = told.sibling;
  if (!told.sibling.empty()) {
    answer.sibling_ms[t] = estimate.ms * std::exp(-told.log_sibling);
    answer.sibling_ms[static_cast<size_t>(LatencyTarget::kEndToEnd)] =
        end_to_end_ms(point.row, answer.sibling_ms[0], answer.sibling_ms[1]);
  }
  estimate.ms *= std::exp(-told.log_factor);
  for (const std::string& reason : told.reasons) answer.by_sheet.push_back(name + ": " + reason);
}

std::vector<std::optional<LatencyAnswer>> LatencyModel::answer(
    const std::vector<BenchRow>& points) const {
  const State& s = *state_;
  std::vector<std::optional<LatencyAnswer>> answers(points.size());
  std::vector<const BenchRow*> asked;
  std::vector<KernelPoint> at;
  std::vector<ServingBase> bases;
  std::vector<LatencyAnswer*> out;
  FactLookup lookup(s.facts);
  for (size_t i = 0; i < points.size(); ++i) {
    const Known about = known(points[i], lookup);
    if (!about) continue;
    const LatencyNames name = s.asked_names(points[i], about);
    answers[i] = s.judge(points[i], about, name);
    asked.push_back(&points[i]);
    bases.push_back(serving_base(points[i], *about.model, *about.hardware));
    at.push_back(s.make(points[i], about, name, bases.back()));
    out.push_back(&*answers[i]);
  }
  if (!asked.empty()) s.fill(asked, bases, at, out);
  return answers;
}

size_t LatencyModel::rows() const { return state_->points.size(); }
size_t LatencyModel::beyond_peaks() const { return state_->beyond_peaks; }
size_t LatencyModel::campaigns() const {
  return std::set<uint32_t>(state_->campaign_of.begin(), state_->campaign_of.end()).size();
}
size_t LatencyModel::builds() const { return state_->build_names.size(); }
CampaignScales LatencyModel::campaign_scales_of(LatencyTarget target) const {
  CampaignScales out;
  for (size_t q = 0; q < kLatencyQuestions; ++q)
    out[q] = state_->scale_of(target, static_cast<LatencyQuestion>(q));
  return out;
}
const LatencyOptions& LatencyModel::options() const { return state_->options; }
double LatencyModel::correlation() const { return state_->correlation; }

Result<LatencyOptions> LatencyModel::refit() const {
  const State& s = *state_;
  // Thins benchmark runs to about kRowsOfCampaign rows each.
  std::map<uint32_t, size_t> count;
  std::map<uint32_t, size_t> at;
  for (const uint32_t campaign : s.campaign_of) ++count[campaign];
  std::vector<size_t> kept;
  for (size_t i = 0; i < s.points.size(); ++i) {
    const size_t rows = count[s.campaign_of[i]];
    const size_t place = at[s.campaign_of[i]]++;
    const bool keep = rows <= kRowsOfCampaign ||
                      place * kRowsOfCampaign / rows != (place + 1) * kRowsOfCampaign / rows;
    if (keep) kept.push_back(i);
  }
  std::vector<uint32_t> campaign, unit;
  for (const size_t i : kept) {
    campaign.push_back(s.campaign_of[i]);
    unit.push_back(s.unit_of[i]);
  }
  LatencyOptions found = s.options;
  for (const LatencyTarget target : kLearntLatencies) {
    const auto t = static_cast<size_t>(target);
    std::vector<double> y;
    for (const size_t i : kept) y.push_back(s.residual[t][i]);
    ASSAY_TRY_ASSIGN(found.parameters[t],
                     find_latency_parameters(s.options.parameters[t], pick(s.points, kept), y,
                                             {campaign, unit}, kSearchSweeps));
  }
  return found;
}

namespace {

// Throughput of a closed loop from its end-to-end latency.
class LatencyThroughput : public ThroughputModel {
 public:
  explicit LatencyThroughput(LatencyModel model) : model_(std::move(model)) {}
  std::vector<Prediction> predict(const std::vector<BenchRow>& points) const override {
    std::vector<Prediction> out;
    const auto answers = model_.answer(points);
    for (size_t i = 0; i < points.size(); ++i) {
      Prediction told{kNan, kNan, kNan, PredictionStatus::kNoAnswer, ""};
      if (answers[i]) {
        const LatencyEstimate& e2e = answers[i]->at(LatencyTarget::kEndToEnd);
        const double tokens = (points[i].in_len + points[i].out_len) * points[i].batch * 1000;
        told = {tokens / e2e.ms, tokens / e2e.high90_ms, tokens / e2e.low90_ms, e2e.status,
                "end-to-end latency"};
      }
      out.push_back(std::move(told));
    }
    return out;
  }

 private:
  LatencyModel model_;
};

}  // namespace

ThroughputMethod latency_method(const FactBook& facts) {
  const auto fit = [facts](const ThroughputData& train,
                           HeldOut) -> Result<std::unique_ptr<ThroughputModel>> {
    ASSAY_TRY_ASSIGN(LatencyModel model, LatencyModel::fit(feasible_rows(train).rows, facts));
    return std::unique_ptr<ThroughputModel>(std::make_unique<LatencyThroughput>(std::move(model)));
  };
  return {"latency", "end-to-end latency with benchmark runs as effects", fit};
}

}  // namespace assay
