#pragma once

// Measurements of the collectors for a trace: the launch-overhead floor of an empty kernel, and the
// kernels of a database, replayed one by one. ingest/replay/file.cc reads the files
// (docs/formats/floor.md, docs/formats/replay.md); overhead/measured.h uses them. All times in
// nanoseconds.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Source of the timestamps. A launch time includes the tracer's own cost, so measurements compare
// only within one tracer. kHost means no tracer and no device: only calls on the host have times.
// kHip means no tracer, but the host's clock and HIP's events; the launch time is then an upper
// bound.
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
// kUnknown for a name that is none.
CollectorTracer tracer_from_name(std::string_view name);

// A sample in eight numbers.
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
// Of values in any order; all zero when there are none.
SampleStats sample_stats(std::vector<int64_t> values_ns);

struct GpuIdentity {
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // may be empty
};

// How a measurement was made; the same for both files.
struct MeasurementHead {
  CollectorTracer tracer = CollectorTracer::kUnknown;
  std::string driver;    // may be empty
  uint64_t warmups = 0;  // W: runs before the first that counts
  uint64_t runs = 0;     // R: runs that count
};

// The call by which the host launches: that of CUDA's runtime, as in frameworks, or of its driver,
// as in Triton. A launch-overhead floor is of one of them.
enum class LaunchPath : uint8_t { kUnknown, kRuntime, kDriver };
// "cudaLaunchKernel", "cuLaunchKernel"; empty where it is not known.
std::string_view launch_path_name(LaunchPath path);
LaunchPath launch_path_of(std::string_view name);

// The empty kernel by one call.
struct CallSample {
  LaunchPath path = LaunchPath::kUnknown;
  SampleStats launch;          // start of the launch call to start of the kernel
  SampleStats duration;        // of the kernel
  uint32_t sm_mhz_before = 0;  // the GPU's clock around the counted launches; 0 = unknown
  uint32_t sm_mhz_after = 0;
};

// The empty kernel on one GPU.
struct GpuFloor {
  GpuIdentity gpu;
  SampleStats launch;                      // start of the launch call to start of the kernel
  SampleStats duration;                    // of the kernel
  LaunchPath path = LaunchPath::kUnknown;  // of these two
  std::vector<CallSample> paths = {};      // all that were measured; empty in older files
};

struct FloorFile {
  std::string source;  // file name
  MeasurementHead head;
  std::vector<GpuFloor> gpus;  // never empty
};

// T_floor^sys of several GPUs: the smallest of their means.
const GpuFloor& lowest_floor(const FloorFile& file);

enum class ReplayStatus : uint8_t {
  kOk,
  kSkippedDynamic,  // its work depends on the values of its inputs, or it synchronises
  kOpMissing,       // this build of the framework has no such operator
  kFailed,          // its arguments could not be rebuilt, or it raised an error
};
std::string_view replay_status_name(ReplayStatus status);

// From where operators were called: T_dispatch begins there, so the two are different quantities.
// TaxBreak's is kPython's.
enum class ReplayThrough : uint8_t {
  kCpp,     // the dispatcher, by assay-replay
  kPython,  // torch.ops, by replay.py: what Python's binding takes is within
};
// In files and as options: "cpp", "python".
std::string_view replay_through_name(ReplayThrough through);
// Absent for a name that is none.
std::optional<ReplayThrough> replay_through_from(std::string_view name);
// For people: "C++", "Python".
std::string_view replay_through_words(ReplayThrough through);

using Dim3 = std::array<uint32_t, 3>;

// One kernel that the replayed operator launched, distinguished by name and launch signature. At
// most one sample per measured range: its first launch in it.
struct ReplayCandidate {
  std::string name;  // as recorded, demangled
  Dim3 grid = {0, 0, 0};
  Dim3 block = {0, 0, 0};
  uint32_t shared_memory_bytes = 0;
  uint32_t registers = 0;  // 0 = not told
  uint64_t count = 0;      // launches over all measured ranges
  SampleStats dispatch;    // T_dispatch: start of the range to start of its launch call
  SampleStats launch;      // T_launch: start of its launch call to its start on the device
  SampleStats duration;
};

// One entry of a kernel database, replayed.
struct ReplayEntry {
  std::string key;  // of the database entry
  ReplayStatus status = ReplayStatus::kOk;
  std::string reason;   // why not ok; else empty
  uint64_t ranges = 0;  // measured ranges; 0 unless ok
  std::vector<ReplayCandidate> candidates;
  std::string call = {};                  // the overload and arguments that were replayed
  std::vector<std::string> assumed = {};  // values that the database lacks and the replay chose
  std::optional<SampleStats> host = {};   // time of the whole call on the host
};

// One kernel of a database as a replay needs it (docs/formats/kernel_db.md). Shapes are JSON text,
// empty = unknown.
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
