#include "devices/amd.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <limits>
#include <mutex>
#include <utility>

#include "base/dynamic_library.h"
#include "base/numbers.h"
#include "devices/amd_energy.h"
#include "devices/amd_parts.h"
#include "devices/gpu_blas.h"
#include "devices/gpu_device.h"

namespace assay {
namespace {

// wall_clock64() counts at 100 MHz: ten ns a tick.
constexpr const char* kHipHelpers = R"hip(
extern "C" __global__ void assay_stamp(unsigned long long* out) {
  __hip_atomic_store(out, (unsigned long long)wall_clock64() * 10ull, __ATOMIC_RELEASE,
                     __HIP_MEMORY_SCOPE_SYSTEM);
}
extern "C" __global__ void assay_fill(unsigned* out, unsigned long long words, unsigned keep0,
                                      unsigned set0, unsigned keep1, unsigned set1) {
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < words;
       i += step) {
    unsigned x = (unsigned)i * 2654435761u;
    x = (x ^ (x >> 16)) * 2246822507u;
    x ^= x >> 13;
    out[i] = i % 2 == 0 ? (x & keep0) | set0 : (x & keep1) | set1;
  }
}
extern "C" __global__ void assay_triad(float* a, const float* b, const float* c,
                                       unsigned long long words) {
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < words;
       i += step) {
    a[i] = b[i] + 3.0f * c[i];
  }
}
)hip";

// Power as the energy accumulator's difference over that of its own timestamps: the mean since the
// previous sample, so window and period are equal.
class EnergySensor final : public GpuSensor {
 public:
  explicit EnergySensor(std::unique_ptr<EnergyCounter> counter)
      : counter_(std::move(counter)), source_(counter_->source()) {}

  Result<std::vector<SensorReading>> read() override {
    ASSAY_TRY_ASSIGN(const Count now, count());
    SensorReading reading;
    reading.t_ns = static_cast<int64_t>(now.t_ns);
    reading.fresh = last_.t_ns != 0 && now.t_ns > last_.t_ns && now.restarts == last_.restarts;
    if (reading.fresh) {
      reading.power_w =
          (now.joules - last_.joules) / static_cast<double>(now.t_ns - last_.t_ns) * 1e9;
    }
    if (now.t_ns > last_.t_ns) {
      reading.parts_w = parts();
      last_ = now;
    }
    return std::vector<SensorReading>{reading};
  }

  Result<std::optional<double>> energy_j() override {
    ASSAY_TRY_ASSIGN(const Count now, count());
    return std::optional<double>(now.joules);
  }

  void describe(DeviceFacts& facts) const override {
    facts.driver = source_.driver;
    facts.uuid = source_.uuid;
    facts.power_limit_w = source_.power_limit_w;
    facts.parts = source_.parts;
    facts.documented.mode = SensorMode::kEnergyCounter;
    facts.documented.window_ns = kMillisecondNs;
    facts.documented.period_ns = kMillisecondNs;
    facts.documented.source = "documented: energy accumulator (" + source_.library +
                              "), re-read by the driver every 1 ms at most";
  }

 private:
  struct Count {
    double joules = 0;  // since this sensor was opened
    uint64_t t_ns = 0;
    uint32_t restarts = 0;  // of the accumulator; energy around a restart is lost
  };

  // The table is read directly after the accumulator was updated, so that both times end together
  // except for the duration of the call. Each is divided by its own clock.
  PartPowers parts() {
    const std::optional<PartUnits> now = counter_->read_parts();
    const std::optional<PartUnits> before = std::exchange(last_parts_, now);
    if (!now || !before) return kNoParts;
    return part_powers_w(*before, *now);
  }

  Result<Count> count() {
    std::lock_guard lock(mutex_);
    ASSAY_TRY_ASSIGN(const EnergyUnits now, counter_->read());
    if (counted_) advance(now.units, now.microjoules_each, now.t_ns);
    counted_ = true;
    units_ = now.units;
    t_ns_ = now.t_ns;
    return Count{joules_, now.t_ns, restarts_};
  }

  // Differences are taken in integer units. If the accumulator decreased, it wrapped at 32 bits,
  // provided that this gives a plausible power; otherwise it restarted, as after a GPU reset.
  void advance(uint64_t units, double microjoules, uint64_t t_ns) {
    uint64_t more = units - units_;
    if (units < units_) {
      constexpr uint64_t kWrap = uint64_t{1} << 32;
      const double ns = t_ns > t_ns_ ? static_cast<double>(t_ns - t_ns_) : 0;
      more = units_ < kWrap ? units + kWrap - units_ : 0;
      if (more == 0 || static_cast<double>(more) * microjoules * 1e3 > kMostPackageWatts * ns) {
        ++restarts_;
        return;
      }
    }
    joules_ += static_cast<double>(more) * microjoules * 1e-6;
  }

  std::unique_ptr<EnergyCounter> counter_;
  EnergySource source_;
  Count last_;
  std::optional<PartUnits> last_parts_;
  std::mutex mutex_;  // the logger's thread and energy_j() both read the counter
  bool counted_ = false;
  uint64_t units_ = 0;
  uint64_t t_ns_ = 0;
  double joules_ = 0;
  uint32_t restarts_ = 0;
};

// rocblas-types.h, rocblas-functions.h.
class RocBlas final : public GpuBlas {
 public:
  static Result<std::unique_ptr<GpuBlas>> open(const std::vector<std::string>& libraries,
                                               void* stream) {
    constexpr BlasNames kNames = {"rocBLAS",
                                  "gemm and gemv need rocBLAS, which is not installed here",
                                  "rocblas_create_handle", "rocblas_set_stream", "rocblas_gemm_ex"};
    auto blas = std::make_unique<RocBlas>();
    ASSAY_TRY(blas->handle_.open(kNames, libraries, stream, blas->gemm_));
    return std::unique_ptr<GpuBlas>(std::move(blas));
  }

  Status gemm(const Workload& work, void* a, void* b, void* c) override {
    constexpr std::array<int, 4> kTypes = {150, 168, 151, 152};  // f16_r, bf16_r, f32_r, f64_r
    constexpr int kNone = 111;                                   // rocblas_operation_none
    const int type = kTypes[static_cast<size_t>(work.type)];
    const GemmArguments args(work);
    return handle_.check(
        gemm_(handle_.get(), kNone, kNone, args.m(), args.n(), args.k(), args.one(), a, type,
              args.m(), b, type, args.k(), args.zero(), c, type, args.m(), c, type, args.m(),
              args.wide() ? kTypes[3] : kTypes[2], 0, 0, 0),
        "running a matrix product");
  }

 private:
  BlasHandle handle_;
  int (*gemm_)(void* handle, int transa, int transb, int m, int n, int k, const void* alpha,
               const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
               const void* beta, const void* c, int c_type, int ldc, void* d, int d_type, int ldd,
               int compute, int algorithm, int32_t solution, uint32_t flags) = nullptr;
};

// AMD SMI first, which replaces ROCm-SMI.
Result<std::unique_ptr<EnergyCounter>> open_energy(const AmdLibraries& libraries,
                                                   const std::string& bus_id) {
  auto newer = open_amd_smi_energy(libraries.amd_smi, bus_id, libraries.hsmp_device);
  if (newer) return newer;
  auto older = open_rocm_smi_energy(libraries.smi, bus_id);
  if (older) return older;
  Error error = older.take_error();
  error.message += " (and " + newer.error().message + ")";
  return error;
}

}  // namespace

Result<std::unique_ptr<PowerDevice>> open_amd_device(int ordinal, const AmdLibraries& libraries) {
  ASSAY_TRY_ASSIGN(GpuRuntime runtime, GpuRuntime::open(GpuVendor::kAmd, ordinal, libraries.hip));
  GpuParts parts;
  parts.vendor = GpuVendor::kAmd;
  parts.cpu_clock = CLOCK_BOOTTIME;  // clock of the driver's timestamps
  ASSAY_TRY_ASSIGN(auto energy, open_energy(libraries, runtime.bus_id()));
  parts.sensor = std::make_unique<EnergySensor>(std::move(energy));
  ASSAY_TRY_ASSIGN(parts.helpers, compile_gpu_source(GpuVendor::kAmd, libraries.compiler,
                                                     kHipHelpers, "assay.hip"));
  parts.driver_libraries = libraries.hip;
  parts.collective_libraries = libraries.collectives;
  parts.blas_libraries = libraries.blas;
  parts.compiler_libraries = libraries.compiler;
  parts.open_blas = RocBlas::open;
  return make_gpu_device(std::move(runtime), std::move(parts));
}

}  // namespace assay
