// Problem: the likelihood of the rows rewards correlations within a benchmark run, because most
// neighbours are in the same run. Intervals for a future run are then too narrow, and its estimates
// too extreme.
//
// Method: the parameters are fitted to the actual question, the prediction of whole held-out
// benchmark runs and of whole held-out units (GPU, engine, model), in closed form on one factor.
//
// Effect: docs/measured/throughput_latency.md.

#include "throughput/serving/latency_kernel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/numbers.h"
#include "throughput/gp/gp.h"

namespace assay {
namespace {

// kPrompts: a factor on the time that prompts of others take, through their share of TPOT.
enum class Extent : uint8_t { kConstant, kWide, kNarrow, kPrompts };

struct Choice {
  const char* name;
  KernelGroup group;
  Extent extent;
  std::vector<KernelDim> dims;
};

// Length scale for 16-bit peaks among GPUs of one vendor, in doublings. Within a generation they
// differ by less than a third, between generations by one or more.
constexpr double kSiblingLength = 0.5;

const std::vector<Choice>& choices() {
  using D = KernelDim;
  using G = KernelGroup;
  static const std::vector<Choice> all = {
      {"b", G::kAll, Extent::kConstant, {}},
      {"G",
       G::kAll,
       Extent::kWide,
       {D::kLength, D::kBatch, D::kDevices, D::kActive, D::kExperts, D::kKv, D::kWeightBytes,
        D::kIntensity}},
      {"F", G::kFramework, Extent::kWide, {D::kLength, D::kBatch, D::kDevices, D::kActive, D::kKv}},
      {"S", G::kVendorFramework, Extent::kNarrow, {D::kLength, D::kBatch, D::kFlops}},
      {"H", G::kHardwareFramework, Extent::kNarrow, {D::kLength, D::kBatch, D::kDevices}},
      {"M", G::kModelFramework, Extent::kWide, {D::kLength, D::kBatch, D::kDevices}},
      {"P", G::kModelPrecision, Extent::kNarrow, {D::kLength, D::kBatch}},
      {"C", G::kConfig, Extent::kNarrow, {D::kLength, D::kBatch}},
      {"V", G::kBuild, Extent::kNarrow, {D::kLength, D::kBatch}},
      {"K", G::kCampaign, Extent::kNarrow, {D::kLength, D::kBatch}},
      {"KC", G::kCampaignConfig, Extent::kNarrow, {D::kLength, D::kBatch}},
      {"Vp", G::kBuild, Extent::kPrompts, {}},
      {"Kp", G::kCampaign, Extent::kPrompts, {}}};
  return all;
}

KernelSpec make_spec() {
  KernelSpec spec;
  for (const Choice& choice : choices()) {
    const KernelForm form =
        choice.extent == Extent::kPrompts ? KernelForm::kShares : KernelForm::kRbf;
    spec.components.push_back({choice.name, form, choice.group, choice.dims});
    spec.names.push_back(std::string(choice.name) + ".s");
    for (size_t d = 0; d < choice.dims.size(); ++d)
      spec.names.push_back(std::string(choice.name) + "." + std::to_string(d));
  }
  spec.names.push_back("noise");
  spec.prior.assign(spec.names.size(), 1);
  spec.defaults = spec.prior;
  return spec;
}

using Blocks = std::vector<std::vector<uint32_t>>;

constexpr double kMost = 3;
// Limit on the scale of a factor on prompts. Held-out benchmark runs alone would give 3. A factor
// of 1.6 or of 20 under a build makes no difference to runs of a build with rows, but the error for
// prompts longer than in any row doubles (docs/measured/throughput_latency.md).
constexpr double kMostOfPrompts = 0.5;

// Mean over blocks of the mean log density of their points, without constants.
double density(const std::vector<GpAnswer>& left_out, const std::vector<uint32_t>& block) {
  uint32_t blocks = 0;
  for (const uint32_t id : block) blocks = std::max(blocks, id + 1);
  std::vector<double> sum(blocks, 0);
  std::vector<double> count(blocks, 0);
  for (size_t i = 0; i < block.size(); ++i) {
    const double z = left_out[i].mean / left_out[i].sd;
    sum[block[i]] += -2.5 * std::log1p(squared(z) / 4) - std::log(left_out[i].sd);
    count[block[i]] += 1;
  }
  double total = 0;
  double present = 0;
  for (size_t b = 0; b < blocks; ++b) {
    if (count[b] == 0) continue;
    total += sum[b] / count[b];
    present += 1;
  }
  return total / present;
}

struct Search {
  const LatencyParameters& start;
  const std::vector<KernelPoint>& points;
  const std::vector<double>& y;
  const Blocks& blockings;

  Result<double> score(const LatencyParameters& at) const {
    ASSAY_TRY_ASSIGN(const GaussianProcess process,
                     GaussianProcess::fit(latency_kernel(), kernel_parameters(at), points, y));
    double total = 0;
    for (const std::vector<uint32_t>& block : blockings)
      total += density(process.leave_out(block), block);
    // Weak pull to the start that only decides between otherwise equal parameters.
    constexpr double kPull = 0.02;
    for (size_t k = 0; k < kLatencyScales; ++k) {
      if (start.scale[k] > 0) total -= kPull * squared(std::log(at.scale[k] / start.scale[k]));
    }
    return total;
  }
};

// One coordinate of the search, with its step and limit.
struct Move {
  double LatencyParameters::* length = nullptr;  // null = the scale at index `scale`
  size_t scale = 0;
  double step = 0.5;  // of the logarithm
  double most = kMost;
};

double most_of(size_t scale) {
  const bool prompts = scale < choices().size() && choices()[scale].extent == Extent::kPrompts;
  return prompts ? kMostOfPrompts : kMost;
}

}  // namespace

std::string_view latency_target_name(LatencyTarget target) {
  static constexpr std::array<std::string_view, kLatencyTargets> kNames = {"TTFT", "TPOT",
                                                                           "end to end"};
  return kNames[static_cast<size_t>(target)];
}

const std::array<std::string_view, kLatencyScales>& latency_scale_names() {
  static const std::array<std::string_view, kLatencyScales> names = [] {
    std::array<std::string_view, kLatencyScales> out;
    for (size_t k = 0; k < choices().size(); ++k) out[k] = choices()[k].name;
    out.back() = "noise";
    return out;
  }();
  return names;
}

const LatencyParameters& latency_defaults(LatencyTarget target) {
  // Order of scales: b, G, F, S, H, M, P, C, V, K, KC, Vp, Kp, noise. Then the wide and the narrow
  // length. TTFT has neither Vp nor Kp.
  static const LatencyParameters kTtft = {
      {0.73, 0.0615, 0.167, 0.141, 0.07, 0.406, 0.0417, 0.0405, 0.176, 0.16, 0.115, 0, 0, 0.11},
      0.711,
      1.4};
  static const LatencyParameters kTpot = {{0.8, 0.24, 0.0472, 0.0562, 0.0106, 0.164, 0.0659, 0.0214,
                                           0.0475, 0.0244, 0.0145, 0.5, 0.5, 0.0309},
                                          3,
                                          0.772};
  return target == LatencyTarget::kTtft ? kTtft : kTpot;
}

const KernelSpec& latency_kernel() {
  static const KernelSpec spec = make_spec();
  return spec;
}

std::vector<double> kernel_parameters(const LatencyParameters& parameters) {
  std::vector<double> out;
  for (size_t k = 0; k < choices().size(); ++k) {
    out.push_back(parameters.scale[k]);
    for (const KernelDim dim : choices()[k].dims) {
      const bool sibling = dim == KernelDim::kFlops;
      const bool wide = choices()[k].extent == Extent::kWide;
      out.push_back(sibling ? kSiblingLength : wide ? parameters.wide : parameters.narrow);
    }
  }
  out.push_back(parameters.scale.back());
  return out;
}

Result<LatencyParameters> find_latency_parameters(
    const LatencyParameters& start, const std::vector<KernelPoint>& points,
    const std::vector<double>& y, const std::vector<std::vector<uint32_t>>& blockings, int sweeps) {
  constexpr double kLeast = 0.01;
  constexpr double kBetter = 1e-5;
  const Search search{start, points, y, blockings};
  LatencyParameters best = start;
  ASSAY_TRY_ASSIGN(double at, search.score(best));
  std::vector<Move> moves;
  for (size_t k = 0; k < kLatencyScales; ++k) {
    if (start.scale[k] > 0) moves.push_back({nullptr, k, 0.5, most_of(k)});
  }
  moves.push_back({&LatencyParameters::wide, 0, 0.34});
  moves.push_back({&LatencyParameters::narrow, 0, 0.34});
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (Move& move : moves) {
      bool moved = false;
      for (const double sign : {1.0, -1.0}) {
        LatencyParameters next = best;
        double& value = move.length != nullptr ? next.*move.length : next.scale[move.scale];
        value = std::clamp(value * std::exp(sign * move.step), kLeast, move.most);
        ASSAY_TRY_ASSIGN(const double there, search.score(next));
        if (there <= at + kBetter) continue;
        best = next;
        at = there;
        moved = true;
        break;
      }
      if (!moved) move.step /= 2;
    }
  }
  return best;
}

}  // namespace assay
