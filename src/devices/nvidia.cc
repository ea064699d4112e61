#include "devices/nvidia.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/dynamic_library.h"
#include "devices/gpu_blas.h"
#include "devices/gpu_device.h"
#include "devices/nvml_abi.h"

namespace assay {
namespace {

// ISA 6.0 and sm_50, which every driver since CUDA 9 compiles for the installed GPU.
constexpr const char* kPtxHelpers = R"ptx(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_stamp(.param .u64 out)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u64 %rd3, %globaltimer;
  st.volatile.global.u64 [%rd2], %rd3;
  membar.sys;
  ret;
}
.visible .entry assay_fill(.param .u64 out, .param .u64 words, .param .u32 keep0,
                           .param .u32 set0, .param .u32 keep1, .param .u32 set1)
{
  .reg .pred %p<3>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u64 %rd2, [words];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd3, %r1, %r2;
  cvt.u64.u32 %rd4, %r3;
  add.u64 %rd3, %rd3, %rd4;
  mul.wide.u32 %rd5, %r4, %r2;
  ld.param.u32 %r5, [keep0];
  ld.param.u32 %r6, [set0];
  ld.param.u32 %r7, [keep1];
  ld.param.u32 %r8, [set1];
FILL_NEXT:
  setp.ge.u64 %p1, %rd3, %rd2;
  @%p1 bra FILL_DONE;
  cvt.u32.u64 %r9, %rd3;
  mul.lo.u32 %r10, %r9, 2654435761;
  shr.u32 %r11, %r10, 16;
  xor.b32 %r12, %r10, %r11;
  mul.lo.u32 %r13, %r12, 2246822507;
  shr.u32 %r14, %r13, 13;
  xor.b32 %r15, %r13, %r14;
  and.b32 %r16, %r9, 1;
  setp.eq.u32 %p2, %r16, 0;
  selp.b32 %r17, %r5, %r7, %p2;
  selp.b32 %r18, %r6, %r8, %p2;
  and.b32 %r19, %r15, %r17;
  or.b32 %r20, %r19, %r18;
  shl.b64 %rd6, %rd3, 2;
  add.u64 %rd7, %rd1, %rd6;
  st.global.u32 [%rd7], %r20;
  add.u64 %rd3, %rd3, %rd5;
  bra FILL_NEXT;
FILL_DONE:
  ret;
}
.visible .entry assay_triad(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 words)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u64 %rd4, [words];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  cvta.to.global.u64 %rd3, %rd3;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd5, %r1, %r2;
  cvt.u64.u32 %rd6, %r3;
  add.u64 %rd5, %rd5, %rd6;
  mul.wide.u32 %rd7, %r4, %r2;
TRIAD_NEXT:
  setp.ge.u64 %p1, %rd5, %rd4;
  @%p1 bra TRIAD_DONE;
  shl.b64 %rd8, %rd5, 2;
  add.u64 %rd9, %rd2, %rd8;
  add.u64 %rd10, %rd3, %rd8;
  add.u64 %rd11, %rd1, %rd8;
  ld.global.f32 %f1, [%rd9];
  ld.global.f32 %f2, [%rd10];
  fma.rn.f32 %f3, %f2, 0f40400000, %f1;
  st.global.f32 [%rd11], %f3;
  add.u64 %rd5, %rd5, %rd7;
  bra TRIAD_NEXT;
TRIAD_DONE:
  ret;
}
)ptx";

constexpr unsigned kDriverTextLength = 96;
constexpr int64_t kSecond = 1'000'000'000;

Status bind(const DynamicLibrary& library, nvml::Api& api) {
  ASSAY_TRY(library.bind("nvmlInit_v2", api.init));
  ASSAY_TRY(library.bind("nvmlErrorString", api.error_text));
  ASSAY_TRY(library.bind("nvmlDeviceGetHandleByPciBusId_v2", api.by_bus_id));
  ASSAY_TRY(library.bind("nvmlSystemGetDriverVersion", api.driver_version));
  ASSAY_TRY(library.bind("nvmlDeviceGetUUID", api.uuid));
  ASSAY_TRY(library.bind("nvmlDeviceGetPowerUsage", api.power_usage));
  ASSAY_TRY(library.bind("nvmlDeviceGetFieldValues", api.field_values));
  ASSAY_TRY(library.bind("nvmlDeviceGetTotalEnergyConsumption", api.energy));
  ASSAY_TRY(library.bind("nvmlDeviceGetEnforcedPowerLimit", api.enforced_limit));
  return library.bind("nvmlDeviceGetMigMode", api.mig_mode);
}

const char* reading_name(SensorChoice reading) {
  switch (reading) {
    case SensorChoice::kInstant:
      return "instant";
    case SensorChoice::kAverage:
      return "average";
    case SensorChoice::kSamples:
      return "samples";
    case SensorChoice::kAuto:
    case SensorChoice::kUsage:
      break;
  }
  return "usage";
}

double watts_of(const nvml::Value& value, int type) {
  switch (type) {
    case nvml::kDouble:
      return value.d * 1e-3;
    case nvml::kUnsignedLong:
      return static_cast<double>(value.ul) * 1e-3;
    case nvml::kUnsignedLongLong:
      return static_cast<double>(value.ull) * 1e-3;
    default:
      return value.u * 1e-3;
  }
}

class NvmlSensor final : public GpuSensor {
 public:
  static Result<std::unique_ptr<GpuSensor>> open(const std::vector<std::string>& libraries,
                                                 const std::string& bus_id, SensorChoice choice) {
    ASSAY_TRY_ASSIGN(
        const DynamicLibrary library,
        DynamicLibrary::open(libraries, "NVML, which comes with the NVIDIA driver, is missing"));
    auto sensor = std::make_unique<NvmlSensor>();
    ASSAY_TRY(bind(library, sensor->api_));
    if (choice == SensorChoice::kSamples) {
      ASSAY_TRY(library.bind("nvmlDeviceGetSamples", sensor->api_.samples));
    }
    ASSAY_TRY(sensor->check(sensor->api_.init(), "starting NVML"));
    ASSAY_TRY(sensor->check(sensor->api_.by_bus_id(bus_id.c_str(), &sensor->device_),
                            "finding GPU " + bus_id));
    ASSAY_TRY(sensor->look_around());
    ASSAY_TRY(sensor->choose(choice));
    return std::unique_ptr<GpuSensor>(std::move(sensor));
  }

  Result<std::vector<SensorReading>> read() override {
    if (reading_ == SensorChoice::kSamples) return buffered();
    ASSAY_TRY_ASSIGN(const double watts, current(reading_));
    return std::vector<SensorReading>{{0, watts}};
  }

  Result<std::optional<double>> energy_j() override {
    unsigned long long mj = 0;
    const int code = api_.energy(device_, &mj);
    if (code == nvml::kNotSupported) return std::optional<double>();
    ASSAY_TRY(check(code, "reading the energy counter"));
    return std::optional<double>(static_cast<double>(mj) * 1e-3);
  }

  void describe(DeviceFacts& facts) const override {
    facts.driver = driver_;
    facts.uuid = uuid_;
    facts.power_limit_w = limit_w_;
    facts.documented.reading = reading_name(reading_);
    if (reading_ == SensorChoice::kInstant || reading_ == SensorChoice::kSamples) {
      facts.documented.source =
          std::string("NVML ") + facts.documented.reading + " power; its window is not documented";
      return;
    }
    // NVML documents 1 s for average, and for usage on Ampere and later. The period is not
    // documented; Yang et al. measured 100 ms on Ampere and Hopper.
    facts.documented.mode = SensorMode::kOneSecondAverage;
    facts.documented.window_ns = kSecond;
    facts.documented.period_ns = kSecond / 10;
    facts.documented.source = "documented by NVML: 1 s average";
  }

 private:
  Status check(int code, const std::string& doing) const {
    if (code == nvml::kSuccess) return Ok{};
    const char* text = api_.error_text(code);
    std::string hint;
    if (code == nvml::kNoPermission) hint = "; ask for permission to read this GPU's sensors";
    if (code == nvml::kDriverNotLoaded) hint = "; is the NVIDIA kernel module loaded?";
    return Error{ErrorCode::kIo,
                 doing + " failed: " + (text != nullptr ? text : std::to_string(code)) + hint, "",
                 -1};
  }

  Status look_around() {
    std::array<char, kDriverTextLength> text = {};
    ASSAY_TRY(
        check(api_.driver_version(text.data(), kDriverTextLength - 1), "asking for the driver"));
    driver_ = text.data();
    text = {};
    ASSAY_TRY(check(api_.uuid(device_, text.data(), kDriverTextLength - 1), "asking for the UUID"));
    uuid_ = text.data();
    unsigned current = 0;
    unsigned pending = 0;
    if (api_.mig_mode(device_, &current, &pending) == nvml::kSuccess && current != 0) {
      return Error{ErrorCode::kUnsupported,
                   "this GPU is split by MIG: its sensor measures the whole GPU, so the power of "
                   "one instance is unknown",
                   "", -1};
    }
    unsigned mw = 0;
    if (api_.enforced_limit(device_, &mw) == nvml::kSuccess) limit_w_ = mw * 1e-3;
    return Ok{};
  }

  // Uses the requested kind of sample, or the available one with the shortest window.
  Status choose(SensorChoice choice) {
    if (choice == SensorChoice::kSamples) {
      reading_ = choice;
      // Discard the samples buffered so far: they precede any run.
      return explain(buffered(), choice);
    }
    if (choice != SensorChoice::kAuto) {
      reading_ = choice;
      return explain(current(choice), choice);
    }
    for (const SensorChoice reading : {SensorChoice::kInstant, SensorChoice::kAverage}) {
      reading_ = reading;
      if (current(reading)) return Ok{};
    }
    reading_ = SensorChoice::kUsage;
    auto usage = current(reading_);
    return usage ? Status(Ok{}) : Status(usage.take_error());
  }

  template <typename Value>
  static Status explain(Result<Value> tried, SensorChoice choice) {
    if (tried) return Ok{};
    Error error = tried.take_error();
    error.message = std::string("--sensor ") + reading_name(choice) + ": " + error.message +
                    "; --sensor auto takes what this GPU has";
    return error;
  }

  Result<double> current(SensorChoice reading) {
    if (reading == SensorChoice::kUsage) {
      unsigned mw = 0;
      ASSAY_TRY(check(api_.power_usage(device_, &mw), "reading power"));
      return mw * 1e-3;
    }
    nvml::FieldValue value = {};
    value.field =
        reading == SensorChoice::kInstant ? nvml::kFieldPowerInstant : nvml::kFieldPowerAverage;
    ASSAY_TRY(check(api_.field_values(device_, 1, &value), "reading power"));
    ASSAY_TRY(check(value.result, "reading power"));
    return value.value.u * 1e-3;
  }

  // Samples that the driver buffered since the last call, in time order.
  Result<std::vector<SensorReading>> buffered() {
    int type = nvml::kUnsigned;
    unsigned count = 0;
    int code = api_.samples(device_, nvml::kTotalPowerSamples, seen_us_, &type, &count, nullptr);
    if (code == nvml::kNotFound) return std::vector<SensorReading>();
    ASSAY_TRY(check(code, "asking for the buffer of power samples"));
    std::vector<nvml::Sample> samples(count);
    code = api_.samples(device_, nvml::kTotalPowerSamples, seen_us_, &type, &count, samples.data());
    if (code == nvml::kNotFound) return std::vector<SensorReading>();
    ASSAY_TRY(check(code, "reading the buffer of power samples"));
    samples.resize(std::min<size_t>(count, samples.size()));
    std::vector<SensorReading> readings;
    for (const nvml::Sample& sample : samples) {
      if (sample.timestamp_us <= seen_us_) continue;
      seen_us_ = sample.timestamp_us;
      readings.push_back({static_cast<int64_t>(sample.timestamp_us) * 1000,
                          watts_of(sample.value, type), true, true});
    }
    return readings;
  }

  nvml::Api api_ = {};
  void* device_ = nullptr;
  SensorChoice reading_ = SensorChoice::kUsage;
  unsigned long long seen_us_ = 0;  // of the last buffered sample
  std::string driver_;
  std::string uuid_;
  double limit_w_ = 0;
};

// cuBLAS 11 to 13 (cublas_api.h, library_types.h).
class CuBlas final : public GpuBlas {
 public:
  static Result<std::unique_ptr<GpuBlas>> open(const std::vector<std::string>& libraries,
                                               void* stream) {
    constexpr BlasNames kNames = {"cuBLAS",
                                  "gemm and gemv need cuBLAS 11, 12 or 13, which is not installed "
                                  "here",
                                  "cublasCreate_v2", "cublasSetStream_v2", "cublasGemmEx"};
    auto blas = std::make_unique<CuBlas>();
    ASSAY_TRY(blas->handle_.open(kNames, libraries, stream, blas->gemm_));
    return std::unique_ptr<GpuBlas>(std::move(blas));
  }

  Status gemm(const Workload& work, void* a, void* b, void* c) override {
    constexpr std::array<int, 4> kTypes = {2, 14, 0, 1};  // CUDA_R_16F, 16BF, 32F, 64F
    constexpr int kCompute32 = 68;                        // CUBLAS_COMPUTE_32F
    constexpr int kCompute64 = 70;                        // CUBLAS_COMPUTE_64F
    constexpr int kDefaultAlgorithm = -1;                 // CUBLAS_GEMM_DEFAULT
    const int type = kTypes[static_cast<size_t>(work.type)];
    const GemmArguments args(work);
    return handle_.check(gemm_(handle_.get(), 0, 0, args.m(), args.n(), args.k(), args.one(), a,
                               type, args.m(), b, type, args.k(), args.zero(), c, type, args.m(),
                               args.wide() ? kCompute64 : kCompute32, kDefaultAlgorithm),
                         "running a matrix product");
  }

 private:
  BlasHandle handle_;
  int (*gemm_)(void* handle, int transa, int transb, int m, int n, int k, const void* alpha,
               const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
               const void* beta, void* c, int c_type, int ldc, int compute,
               int algorithm) = nullptr;
};

}  // namespace

Result<std::unique_ptr<PowerDevice>> open_nvidia_device(int ordinal,
                                                        const NvidiaLibraries& libraries,
                                                        SensorChoice sensor) {
  ASSAY_TRY_ASSIGN(GpuRuntime runtime,
                   GpuRuntime::open(GpuVendor::kNvidia, ordinal, libraries.driver));
  GpuParts parts;
  parts.vendor = GpuVendor::kNvidia;
  parts.cpu_clock = CLOCK_REALTIME;
  ASSAY_TRY_ASSIGN(parts.sensor, NvmlSensor::open(libraries.nvml, runtime.bus_id(), sensor));
  parts.helpers = kPtxHelpers;
  parts.driver_libraries = libraries.driver;
  parts.collective_libraries = libraries.collectives;
  parts.blas_libraries = libraries.blas;
  parts.compiler_libraries = libraries.compiler;
  parts.open_blas = CuBlas::open;
  return make_gpu_device(std::move(runtime), std::move(parts));
}

}  // namespace assay
