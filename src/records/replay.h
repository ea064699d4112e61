#pragma once

// Measurements by the collectors for a trace: the launch-overhead floor of an empty kernel, and the
// replayed kernels of a database. ingest/replay/file.cc reads the files (docs/formats/floor.md,
// docs/formats/replay.md); overhead/measured.h uses them. All times are in nanoseconds.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Source of the timestamps. A launch time includes the tracer's overhead, so measurements are
// comparable only within one tracer. kHost: no tracer and no device, so only host calls have times.
// kHip: no tracer, but the host's clock and HIP events; the launch time is then an upper bound.
enum class CollectorTracer : uint8_t {
  kUnknown,
  kCupti,
  kNsys,
  kKineto,
  kRocprofiler,
  kHost,
  kHip
};
std::string_view tracer_name(CollectorTracer tracer);
// kUnknown for other names.
CollectorTracer tracer_from_name(std::string_view name);

// Summary of a sample.
struct SampleStats {
  uint64_t n = 0;
  double mean_ns = 0;
  double std_ns = 0;  // with n - 1; 0 when n = 1
  double min_ns = 0;
  double p5_ns = 0;
  double p50_ns = 0;
  double p95_ns = 0;
  double max_ns = 0;
};
// Summarizes values in any order; all zero if there are none.
SampleStats sample_stats(std::vector<int64_t> values_ns);

struct GpuIdentity {
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // may be empty
};

// How a measurement was made; shared by floor and replay files.
struct MeasurementHead {
  CollectorTracer tracer = CollectorTracer::kUnknown;
  std::string driver;    // may be empty
  uint64_t warmups = 0;  // W: discarded runs
  uint64_t runs = 0;     // R: measured runs
};

// The API of the launch call: CUDA's runtime, as in frameworks, or its driver, as in Triton. A
// launch-overhead floor is for one of them.
enum class LaunchPath : uint8_t { kUnknown, kRuntime, kDriver };
// "cudaLaunchKernel", "cuLaunchKernel"; empty if unknown.
std::string_view launch_path_name(LaunchPath path);
LaunchPath launch_path_of(std::string_view name);

// Measurement of the empty kernel by one launch call.
struct CallSample {
  LaunchPath path = LaunchPath::kUnknown;
  SampleStats launch;          // start of the launch call to start of the kernel
  SampleStats duration;        // of the kernel
  uint32_t sm_mhz_before = 0;  // the GPU's clock around the measured launches; 0 = unknown
  uint32_t sm_mhz_after = 0;
};

// Measurement of the empty kernel on one GPU.
struct GpuFloor {
  GpuIdentity gpu;
  SampleStats launch;                      // start of the launch call to start of the kernel
  SampleStats duration;                    // of the kernel
  LaunchPath path = LaunchPath::kUnknown;  // of these two
  std::vector<CallSample> paths = {};      // all measured launch calls; empty in older files
};

struct FloorFile {
  std::string source;  // file name
  MeasurementHead head;
  std::vector<GpuFloor> gpus;  // never empty
};

// T_floor^sys of several GPUs: the floor with the smallest mean.
const GpuFloor& lowest_floor(const FloorFile& file);

enum class ReplayStatus : uint8_t {
  kOk,
  kSkippedDynamic,  // it depends on the values of its inputs, or it synchronises
  kOpMissing,       // this build of the framework has no such operator
  kFailed,          // its arguments could not be rebuilt, or it raised an error
};
std::string_view replay_status_name(ReplayStatus status);

// The caller of operators. T_dispatch begins there, so the two are different quantities. TaxBreak
// measures kPython.
enum class ReplayThrough : uint8_t {
  kCpp,     // the dispatcher, by assay-replay
  kPython,  // torch.ops, by replay.py; includes the time of Python's binding
};
// In files and as options: "cpp", "python".
std::string_view replay_through_name(ReplayThrough through);
// nullopt for other names.
std::optional<ReplayThrough> replay_through_from(std::string_view name);
// For display: "C++", "Python".
std::string_view replay_through_words(ReplayThrough through);

using Dim3 = std::array<uint32_t, 3>;

// One kernel that the replayed operator launched, identified by name and launch signature. Its
// samples have at most one value per measured range: its first launch in that range.
struct ReplayCandidate {
  std::string name;  // demangled, as recorded
  Dim3 grid = {0, 0, 0};
  Dim3 block = {0, 0, 0};
  uint32_t shared_memory_bytes = 0;
  uint32_t registers = 0;  // 0 = unknown
  uint64_t count = 0;      // launches over all measured ranges
  SampleStats dispatch;    // T_dispatch: start of the range to start of its launch call
  SampleStats launch;      // T_launch: start of its launch call to its start on the device
  SampleStats duration;
};

// Result of replaying one entry of a kernel database.
struct ReplayEntry {
  std::string key;  // of the database entry
  ReplayStatus status = ReplayStatus::kOk;
  std::string reason;   // why it is not kOk, else empty
  uint64_t ranges = 0;  // measured ranges; 0 unless ok
  std::vector<ReplayCandidate> candidates;
  std::string call = {};                  // the replayed overload and arguments
  std::vector<std::string> assumed = {};  // values that the replay chose because the database lacks
                                          // them
  std::optional<SampleStats> host = {};   // time of the whole call on the host
};

// An input of a kernel's operator in a database (docs/formats/kernel_db.md). dims and strides are
// JSON text; empty = unknown.
struct RecordedInput {
  std::string type;
  std::string dims;
  std::string strides;
  bool value_told = false;
  std::string value;
};

struct ReplayRequest {
  std::string key;
  std::string name;  // cleaned
  std::string op;
  Dim3 grid = {0, 0, 0};
  Dim3 block = {0, 0, 0};
  uint32_t shared_memory_bytes = 0;
  uint64_t frequency = 0;
  bool inputs_told = false;
  std::vector<RecordedInput> inputs;
};

struct ReplayPlan {
  std::string source;  // file name
  std::string gpu;     // of the trace; empty = unknown
  std::vector<ReplayRequest> entries;
};

// Operators that depend on values or wait for the device (spec/overhead 4.2). Their launch-overhead
// floor is used, because a replay with other values would measure something else.
bool is_dynamic_operator(std::string_view op);

struct ReplayFile {
  std::string source;  // file name
  MeasurementHead head;
  GpuIdentity gpu;
  std::string framework;  // "PyTorch 2.11.0"; may be empty
  ReplayThrough through = ReplayThrough::kCpp;
  std::vector<ReplayEntry> entries;  // keys are unique
};

}  // namespace assay
