#include "devices/amd.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <limits>
#include <mutex>
#include <utility>

#include "base/dynamic_library.h"
#include "base/numbers.h"
#include "devices/gpu_blas.h"
#include "devices/gpu_device.h"
#include "devices/rsmi_abi.h"

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

constexpr double kMostWatts = 20'000;  // no GPU comes near

Status bind(const DynamicLibrary& library, rsmi::Api& api) {
  ASSAY_TRY(library.bind("rsmi_init", api.init));
  ASSAY_TRY(library.bind("rsmi_status_string", api.error_text));
  ASSAY_TRY(library.bind("rsmi_num_monitor_devices", api.device_count));
  ASSAY_TRY(library.bind("rsmi_dev_pci_id_get", api.pci_id));
  ASSAY_TRY(library.bind("rsmi_dev_unique_id_get", api.unique_id));
  ASSAY_TRY(library.bind("rsmi_dev_energy_count_get", api.energy));
  ASSAY_TRY(library.bind("rsmi_dev_power_cap_get", api.power_cap));
  return library.bind("rsmi_version_str_get", api.driver_version);
}

// "0000:c1:00.0" as ROCm-SMI's number: domain, bus, device, function (rocm_smi.h, BDFID).
std::optional<uint64_t> bus_number(const std::string& bus_id) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  if (std::sscanf(bus_id.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3) {
    return std::nullopt;
  }
  return uint64_t{domain} << 32 | uint64_t{bus} << 8 | uint64_t{device} << 3 | function;
}

// Power as the energy accumulator's difference over that of its own time stamps: the mean since the
// reading before, so that window and period are one.
class EnergySensor final : public GpuSensor {
 public:
  static Result<std::unique_ptr<GpuSensor>> open(const std::vector<std::string>& libraries,
                                                 const std::string& bus_id) {
    ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                     DynamicLibrary::open(libraries, "ROCm-SMI is not installed here"));
    auto sensor = std::make_unique<EnergySensor>();
    ASSAY_TRY(bind(library, sensor->api_));
    ASSAY_TRY(sensor->check(sensor->api_.init(0), "starting ROCm-SMI"));
    ASSAY_TRY(sensor->find(bus_id));
    ASSAY_TRY(sensor->look_around());
    return std::unique_ptr<GpuSensor>(std::move(sensor));
  }

  Result<std::vector<SensorReading>> read() override {
    ASSAY_TRY_ASSIGN(const Count now, count());
    SensorReading reading;
    reading.t_ns = static_cast<int64_t>(now.t_ns);
    reading.fresh = last_.t_ns != 0 && now.t_ns > last_.t_ns && now.restarts == last_.restarts;
    if (reading.fresh) {
      reading.power_w =
          (now.joules - last_.joules) / static_cast<double>(now.t_ns - last_.t_ns) * 1e9;
    }
    if (now.t_ns > last_.t_ns) last_ = now;
    return std::vector<SensorReading>{reading};
  }

  Result<std::optional<double>> energy_j() override {
    ASSAY_TRY_ASSIGN(const Count now, count());
    return std::optional<double>(now.joules);
  }

  void describe(DeviceFacts& facts) const override {
    facts.driver = driver_;
    facts.uuid = uuid_;
    facts.power_limit_w = limit_w_;
    facts.documented.mode = SensorMode::kEnergyCounter;
    facts.documented.window_ns = kMillisecondNs;
    facts.documented.period_ns = kMillisecondNs;
    facts.documented.source =
        "documented: energy accumulator, re-read by the driver every 1 ms at most";
  }

 private:
  struct Count {
    double joules = 0;  // since this sensor was opened
    uint64_t t_ns = 0;
    uint32_t restarts = 0;  // of the accumulator: what it counted around one is lost
  };

  Status check(int code, const std::string& doing) const {
    if (code == 0) return Ok{};
    const char* text = nullptr;
    api_.error_text(code, &text);
    std::string hint;
    if (code == rsmi::kPermission) hint = "; add yourself to the groups render and video";
    if (code == rsmi::kNotSupported)
      hint = "; this GPU has no such counter (Instinct GPUs have it)";
    return Error{ErrorCode::kIo,
                 doing + " failed: " + (text != nullptr ? text : std::to_string(code)) + hint, "",
                 -1};
  }

  Status find(const std::string& bus_id) {
    const auto wanted = bus_number(bus_id);
    uint32_t devices = 0;
    ASSAY_TRY(check(api_.device_count(&devices), "counting GPUs"));
    // The upper bits of ROCm-SMI's number may hold a partition.
    constexpr uint64_t kAddress = 0xffff'0000'ffff;
    for (uint32_t i = 0; i < devices; ++i) {
      uint64_t bdf = 0;
      if (api_.pci_id(i, &bdf) != 0 || !wanted || (bdf & kAddress) != (*wanted & kAddress))
        continue;
      device_ = i;
      return Ok{};
    }
    return Error{ErrorCode::kUnsupported, "ROCm-SMI does not know the GPU at " + bus_id, "", -1};
  }

  Status look_around() {
    std::array<char, 96> text = {};
    if (api_.driver_version(rsmi::kDriverComponent, text.data(), text.size() - 1) == 0)
      driver_ = text.data();
    uint64_t id = 0;
    if (api_.unique_id(device_, &id) == 0) {
      std::snprintf(text.data(), text.size(), "AMD-%016llx", static_cast<unsigned long long>(id));
      uuid_ = text.data();
    }
    uint64_t microwatts = 0;
    if (api_.power_cap(device_, 0, &microwatts) == 0) {
      limit_w_ = static_cast<double>(microwatts) * 1e-6;
    }
    auto first = count();
    return first ? Status(Ok{}) : Status(first.take_error());
  }

  Result<Count> count() {
    uint64_t units = 0;
    float microjoules = 0;
    uint64_t t_ns = 0;
    std::lock_guard lock(mutex_);
    ASSAY_TRY(
        check(api_.energy(device_, &units, &microjoules, &t_ns), "reading the energy accumulator"));
    if (counted_) advance(units, static_cast<double>(microjoules), t_ns);
    counted_ = true;
    units_ = units;
    t_ns_ = t_ns;
    return Count{joules_, t_ns, restarts_};
  }

  // Differences in whole units. An accumulator that goes back was of 32 bits and wrapped, where
  // that gives a power that can be; else it began anew, as after a reset of the GPU.
  void advance(uint64_t units, double microjoules, uint64_t t_ns) {
    uint64_t more = units - units_;
    if (units < units_) {
      constexpr uint64_t kWrap = uint64_t{1} << 32;
      const double ns = t_ns > t_ns_ ? static_cast<double>(t_ns - t_ns_) : 0;
      more = units_ < kWrap ? units + kWrap - units_ : 0;
      if (more == 0 || static_cast<double>(more) * microjoules * 1e3 > kMostWatts * ns) {
        ++restarts_;
        return;
      }
    }
    joules_ += static_cast<double>(more) * microjoules * 1e-6;
  }

  rsmi::Api api_ = {};
  uint32_t device_ = 0;
  std::string driver_;
  std::string uuid_;
  double limit_w_ = 0;
  Count last_;
  std::mutex mutex_;  // read by the logger's thread and for energy
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

}  // namespace

Result<std::unique_ptr<PowerDevice>> open_amd_device(int ordinal, const AmdLibraries& libraries) {
  ASSAY_TRY_ASSIGN(GpuRuntime runtime, GpuRuntime::open(GpuVendor::kAmd, ordinal, libraries.hip));
  GpuParts parts;
  parts.vendor = GpuVendor::kAmd;
  parts.cpu_clock = CLOCK_BOOTTIME;  // what the driver stamps its metrics with
  ASSAY_TRY_ASSIGN(parts.sensor, EnergySensor::open(libraries.smi, runtime.bus_id()));
  ASSAY_TRY_ASSIGN(parts.helpers, compile_gpu_source(GpuVendor::kAmd, libraries.compiler,
                                                     kHipHelpers, "assay.hip"));
  parts.blas_libraries = libraries.blas;
  parts.compiler_libraries = libraries.compiler;
  parts.open_blas = RocBlas::open;
  return make_gpu_device(std::move(runtime), std::move(parts));
}

}  // namespace assay
