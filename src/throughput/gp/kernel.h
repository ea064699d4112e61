#pragma once

// The covariance function of the Gaussian process: the similarity of runs. It is a sum of
// components: RBFs over some distances, products of shares, or constants. Each applies to all runs,
// or to runs that have something in common.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay {

// log2 of lengths, batch, devices, active weights, total over active weights, KV bytes per token,
// bandwidth and FLOP/s. Then log2 of the excess of the sequences over the memory (0 if they fit),
// bytes per weight, and the device's FLOP per byte in the row's precision.
enum class KernelDim : uint8_t {
  kLength,
  kBatch,
  kDevices,
  kActive,
  kExperts,
  kKv,
  kBandwidth,
  kFlops,
  kOverflow,
  kWeightBytes,
  kIntensity
};
inline constexpr size_t kKernelDims = 11;
inline constexpr size_t kKernelShares = 5;

// Properties that two runs may have in common. kVendorFramework and those after it are only for
// latencies (serving/); other models set them equal for all runs.
enum class KernelGroup : uint8_t {
  kAll,
  kHardware,
  kFramework,
  kModel,
  kHardwareFramework,
  kModelFramework,
  kConfig,
  kVendorFramework,
  kModelPrecision,
  kBuild,           // of the engine
  kCampaign,        // a benchmark run: a build, a day and a method
  kCampaignConfig,  // a configuration within one benchmark run
};
inline constexpr size_t kKernelGroups = 12;

struct KernelPoint {
  // Input and output lengths are separate. Half of each squared distance counts, so that a change
  // of both counts as much as one length.
  double in_len = 0;
  double out_len = 0;
  std::array<double, kKernelDims> x{};  // x[kLength] is not used
  std::array<double, kKernelShares> share{};
  std::array<uint32_t, kKernelGroups> id{};
};

enum class KernelForm : uint8_t { kRbf, kShares };

struct KernelComponent {
  std::string name;
  KernelForm form = KernelForm::kRbf;
  KernelGroup group = KernelGroup::kAll;
  std::vector<KernelDim> dims;  // none: a constant
};

// A kernel's parameters, in the order of names: per component its scale "G.s" and its lengths
// "G.L", ..., then "noise".
struct KernelSpec {
  std::vector<KernelComponent> components;
  std::vector<std::string> names;
  std::vector<double> prior;     // medians of the log-normal priors
  std::vector<double> defaults;  // found once on public data (gp_defaults.cc)
  double prior_log_sd = 0.7;
};

// Kernel for residuals of the analytical base: spec page throughput, 4.
const KernelSpec& physics_kernel();
// The kernel without specifications of models and devices: lengths, batch and devices only.
const KernelSpec& plain_kernel();

// Covariances without noise, column-major: out[j * a.size() + i] = k(a[i], b[j]).
void kernel_matrix(const KernelSpec& spec, const std::vector<double>& parameters,
                   const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b,
                   double* out);
// Covariances of points with themselves, on and below the diagonal. Does not write above it.
void kernel_lower(const KernelSpec& spec, const std::vector<double>& parameters,
                  const std::vector<KernelPoint>& points, double* out);
// Single rows and columns of these covariances, with common parts computed once. All arguments must
// outlive it.
class CrossKernel {
 public:
  CrossKernel(const KernelSpec& spec, const std::vector<double>& parameters,
              const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b);
  CrossKernel(KernelSpec&& spec, const std::vector<double>& parameters,
              const std::vector<KernelPoint>& a, const std::vector<KernelPoint>& b) = delete;
  ~CrossKernel();
  CrossKernel(const CrossKernel&) = delete;
  CrossKernel& operator=(const CrossKernel&) = delete;
  size_t rows() const;
  size_t columns() const;
  void row(size_t i, double* out) const;     // k(a[i], b[...])
  void column(size_t j, double* out) const;  // k(a[...], b[j])

 private:
  struct State;
  std::unique_ptr<State> state_;
};
// Groups of points that differ only in lengths, batch, overflow and shares, in the order of their
// first points.
std::vector<std::vector<size_t>> alike_points(const std::vector<KernelPoint>& points);
// The points at these indices, in their order.
std::vector<KernelPoint> pick(const std::vector<KernelPoint>& points,
                              const std::vector<size_t>& which);
double kernel_variance(const KernelSpec& spec, const std::vector<double>& parameters,
                       const KernelPoint& point);
// Sum over all pairs of weight * dk/dlog(parameter), one value per parameter except the noise.
// `weight` is symmetric, a.size() x a.size().
std::vector<double> kernel_gradient(const KernelSpec& spec, const std::vector<double>& parameters,
                                    const std::vector<KernelPoint>& a, const double* weight);

}  // namespace assay
