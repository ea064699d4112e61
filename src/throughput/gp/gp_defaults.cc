// The kernels and their parameters. Defaults are the maximum a posteriori on public data, by L-BFGS
// from the medians of the priors. The data are the rows of LLM-Inference-Bench (Argonne National
// Laboratory, results of its repository) with a configuration in fold 0 or 1 of the hash splits.
// The other three fifths of the configurations were not used.

#include <span>

#include "throughput/gp/kernel.h"

namespace assay {
namespace {

struct ScaleChoice {
  double prior;
  double found;
};

struct DimChoice {
  KernelDim dim;
  double prior;
  double found;
};

struct ComponentChoice {
  const char* name;
  KernelForm form;
  KernelGroup group;
  ScaleChoice scale;
  std::span<const DimChoice> dims;
};

const char* dim_name(KernelDim dim) {
  static constexpr const char* kNames[kKernelDims] = {"L",  "B",  "n", "P",  "Pt", "kv",
                                                      "bw", "fl", "o", "wb", "ai"};
  return kNames[static_cast<size_t>(dim)];
}

KernelSpec make_spec(std::span<const ComponentChoice> components, ScaleChoice noise) {
  KernelSpec spec;
  const auto add = [&spec](std::string name, double prior, double found) {
    spec.names.push_back(std::move(name));
    spec.prior.push_back(prior);
    spec.defaults.push_back(found);
  };
  for (const ComponentChoice& c : components) {
    spec.components.push_back({c.name, c.form, c.group, {}});
    add(std::string(c.name) + ".s", c.scale.prior, c.scale.found);
    for (const DimChoice& d : c.dims) {
      spec.components.back().dims.push_back(d.dim);
      add(std::string(c.name) + "." + dim_name(d.dim), d.prior, d.found);
    }
  }
  add("noise", noise.prior, noise.found);
  return spec;
}

constexpr DimChoice kPhysicsG[] = {
    {KernelDim::kLength, 4.0, 6.13},    {KernelDim::kBatch, 4.0, 6.96},
    {KernelDim::kDevices, 3, 4.29},     {KernelDim::kActive, 3, 4.0},
    {KernelDim::kExperts, 4.0, 4.75},   {KernelDim::kKv, 4.0, 6.04},
    {KernelDim::kBandwidth, 4.0, 4.07}, {KernelDim::kFlops, 4.0, 5.16},
    {KernelDim::kOverflow, 4.0, 4.38}};
constexpr DimChoice kPhysicsF[] = {{KernelDim::kLength, 4.0, 10.5},  {KernelDim::kBatch, 4.0, 3.14},
                                   {KernelDim::kDevices, 3, 2.63},   {KernelDim::kActive, 3, 5.37},
                                   {KernelDim::kExperts, 4.0, 1.54}, {KernelDim::kKv, 2, 4.84},
                                   {KernelDim::kBandwidth, 1, 1.83}, {KernelDim::kFlops, 6, 7.0},
                                   {KernelDim::kOverflow, 4.0, 4.27}};
constexpr DimChoice kPhysicsH[] = {{KernelDim::kLength, 6, 14.0},   {KernelDim::kBatch, 5, 10.8},
                                   {KernelDim::kDevices, 2, 1.71},  {KernelDim::kActive, 6, 6.91},
                                   {KernelDim::kExperts, 3, 2.87},  {KernelDim::kKv, 10, 23.3},
                                   {KernelDim::kOverflow, 1, 0.789}};
constexpr DimChoice kPhysicsH2[] = {
    {KernelDim::kLength, 2, 0.681},    {KernelDim::kBatch, 1.5, 2.61},
    {KernelDim::kDevices, 1, 3.98},    {KernelDim::kActive, 2, 4.18},
    {KernelDim::kExperts, 1, 4.14},    {KernelDim::kKv, 2, 0.628},
    {KernelDim::kOverflow, 0.7, 0.772}};
constexpr DimChoice kPhysicsM[] = {{KernelDim::kLength, 4, 5.09}, {KernelDim::kBatch, 3, 2.24}};
constexpr DimChoice kPhysicsC[] = {{KernelDim::kLength, 3, 3.14},
                                   {KernelDim::kBatch, 1.5, 0.618},
                                   {KernelDim::kOverflow, 2, 3.25}};
constexpr ComponentChoice kPhysics[] = {
    {"G", KernelForm::kRbf, KernelGroup::kAll, {0.8, 0.257}, kPhysicsG},
    {"F", KernelForm::kRbf, KernelGroup::kFramework, {0.3, 0.209}, kPhysicsF},
    {"H", KernelForm::kRbf, KernelGroup::kHardwareFramework, {0.6, 0.754}, kPhysicsH},
    {"H2", KernelForm::kRbf, KernelGroup::kHardwareFramework, {0.1, 0.0699}, kPhysicsH2},
    {"M", KernelForm::kRbf, KernelGroup::kModelFramework, {0.13, 0.0482}, kPhysicsM},
    {"K", KernelForm::kRbf, KernelGroup::kConfig, {0.03, 0.0171}, {}},
    {"C", KernelForm::kRbf, KernelGroup::kConfig, {0.06, 0.066}, kPhysicsC},
    {"Cl", KernelForm::kShares, KernelGroup::kConfig, {0.05, 0.0246}, {}},
    {"b", KernelForm::kRbf, KernelGroup::kAll, {1.0, 0.812}, {}},
    {"Hl", KernelForm::kShares, KernelGroup::kHardwareFramework, {0.2, 0.397}, {}},
    {"Ml", KernelForm::kShares, KernelGroup::kModelFramework, {0.08, 0.146}, {}},
};

constexpr DimChoice kPlainG[] = {{KernelDim::kLength, 4.0, 5.268},
                                 {KernelDim::kBatch, 4.0, 4.947},
                                 {KernelDim::kDevices, 4.0, 6.577}};
constexpr DimChoice kPlainF[] = {{KernelDim::kLength, 4.0, 9.735},
                                 {KernelDim::kBatch, 4.0, 7.043},
                                 {KernelDim::kDevices, 4.0, 5.455}};
constexpr DimChoice kPlainW[] = {{KernelDim::kLength, 4.0, 11.37},
                                 {KernelDim::kBatch, 4.0, 16.25},
                                 {KernelDim::kDevices, 4.0, 2.243}};
constexpr DimChoice kPlainN[] = {{KernelDim::kLength, 4.0, 16.41},
                                 {KernelDim::kBatch, 4.0, 20.76},
                                 {KernelDim::kDevices, 4.0, 7.662}};
constexpr DimChoice kPlainH[] = {{KernelDim::kLength, 4.0, 0.7974},
                                 {KernelDim::kBatch, 4.0, 3.909},
                                 {KernelDim::kDevices, 4.0, 5.051}};
constexpr DimChoice kPlainH2[] = {{KernelDim::kLength, 1.5, 3.702},
                                  {KernelDim::kBatch, 1.5, 3.117},
                                  {KernelDim::kDevices, 1.5, 1.365}};
constexpr DimChoice kPlainM[] = {{KernelDim::kLength, 4.0, 4.309}, {KernelDim::kBatch, 4.0, 3.476}};
constexpr DimChoice kPlainC[] = {{KernelDim::kLength, 4.0, 1.96}, {KernelDim::kBatch, 4.0, 0.9883}};
constexpr ComponentChoice kPlain[] = {
    {"G", KernelForm::kRbf, KernelGroup::kAll, {1.0, 1.145}, kPlainG},
    {"F", KernelForm::kRbf, KernelGroup::kFramework, {0.6, 1.17}, kPlainF},
    {"W", KernelForm::kRbf, KernelGroup::kHardware, {0.5, 0.5937}, kPlainW},
    {"N", KernelForm::kRbf, KernelGroup::kModel, {0.5, 0.588}, kPlainN},
    {"H", KernelForm::kRbf, KernelGroup::kHardwareFramework, {0.5, 0.05591}, kPlainH},
    {"H2", KernelForm::kRbf, KernelGroup::kHardwareFramework, {0.15, 0.21}, kPlainH2},
    {"M", KernelForm::kRbf, KernelGroup::kModelFramework, {0.2, 0.1764}, kPlainM},
    {"C", KernelForm::kRbf, KernelGroup::kConfig, {0.15, 0.09239}, kPlainC},
    {"K", KernelForm::kRbf, KernelGroup::kConfig, {0.15, 0.2635}, {}},
    {"b", KernelForm::kRbf, KernelGroup::kAll, {1.0, 0.604}, {}},
};

}  // namespace

const KernelSpec& physics_kernel() {
  static const KernelSpec spec = make_spec(kPhysics, {0.012, 0.0116});
  return spec;
}

const KernelSpec& plain_kernel() {
  static const KernelSpec spec = make_spec(kPlain, {0.02, 0.03364});
  return spec;
}

}  // namespace assay
