#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "answers/files/floor_file.h"
#include "base/dynamic_library.h"
#include "base/export_file.h"
#include "base/files.h"
#include "base/temporaries.h"
#include "base/child_process.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/recording.h"
#include "cli/verbs.h"
#include "devices/amd.h"
#include "ingest/assaytrace/reader.h"
#include "ingest/load.h"
#include "text/plain_text.h"
#include "trace/links.h"

namespace assay {
namespace {

constexpr std::string_view kKernelName = "assay_null_kernel";
// Launch times between this and 0 are clock noise; lower ones are excluded (docs/formats/floor.md).
constexpr int64_t kNoiseNs = -10'000;

struct NullKernelVerb {
  std::string output = "floor.json";
  std::string device = "0";
  uint64_t warmups = 50;  // TaxBreak's W and R
  uint64_t runs = 150;
  uint64_t limit_s = 120;
  std::string cupti;
  std::string recorder;
};

// Launch times and durations on one GPU, by kernel start.
struct Samples {
  std::vector<std::pair<int64_t, int64_t>> launch_ns;  // kernel start, launch time
  std::vector<std::pair<int64_t, int64_t>> duration_ns;
};

// The library named by the environment variable (tests, special installations), or the defaults.
std::vector<std::string> libraries(const char* variable, std::vector<std::string> usual) {
  const char* told = std::getenv(variable);
  if (told != nullptr && *told != '\0') return {told};
  return usual;
}

std::vector<std::string> hip_runtimes() {
  return libraries("ASSAY_HIP_RUNTIME", AmdLibraries().hip);
}

using SamplesOfGpu = std::map<LaunchPath, Samples>;

std::map<int64_t, SamplesOfGpu> samples_of(const Trace& trace) {
  const Links links = link_trace(trace);
  std::map<int64_t, SamplesOfGpu> by_device;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const bool ours = trace.activities.kind[i] == ActivityKind::kKernel &&
                      trace.text(trace.activities.name[i]) == kKernelName;
    const ApiCallId call = links.activity_call[i];
    if (!ours || !call) continue;
    const int64_t start = trace.activities.start_ns[i];
    const bool driver = trace.api_calls.kind[call.index()] == ApiKind::kDriver;
    const LaunchPath path = driver ? LaunchPath::kDriver : LaunchPath::kRuntime;
    Samples& samples = by_device[trace.streams[trace.activities.stream[i].index()].device][path];
    samples.launch_ns.emplace_back(start, start - trace.api_calls.start_ns[call.index()]);
    samples.duration_ns.emplace_back(start, trace.activities.dur_ns[i]);
  }
  return by_device;
}

// The last `runs` values by start. `clean`: apply the rules for launch times.
std::vector<int64_t> counted(std::vector<std::pair<int64_t, int64_t>> all, uint64_t runs,
                             bool clean) {
  std::sort(all.begin(), all.end());
  if (all.size() > runs) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(runs));
  std::vector<int64_t> values;
  for (const auto& [start, value] : all) {
    if (clean && value <= kNoiseNs) continue;
    values.push_back(clean ? std::max<int64_t>(value, 0) : value);
  }
  return values;
}

// Version of a kernel module; empty if unknown.
std::string module_version(const char* module) {
  const auto text = file_text(std::string("/sys/module/") + module + "/version");
  return text ? text->substr(0, text->find('\n')) : "";
}

// Driver version of the kernel module, otherwise the driver's CUDA version.
std::string nvidia_driver(const RecordingFacts& facts) {
  const std::string version = module_version("nvidia");
  const uint32_t cuda = facts.driver_version;
  if (!version.empty() || cuda == 0) return version;
  return fmt::format("CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
}

// Version of the installed driver package, unless the system's own driver is used; otherwise HIP's
// version (encoded as major * 10^7 + minor * 10^5 + patch).
std::string amd_driver(int hip) {
  const std::string version = module_version("amdgpu");
  if (!version.empty() || hip <= 0) return version;
  return fmt::format("HIP {}.{}.{}", hip / 10'000'000, hip / 100'000 % 100, hip % 100'000);
}

Error nothing_recorded(const RecordingFacts* facts) {
  std::string why = "the recorder saw no launch of the empty kernel";
  if (facts != nullptr) {
    for (const RecordingFacts::Note& note : facts->notes) why += "; " + note.text;
  }
  return Error{ErrorCode::kIo, why, "", -1};
}

// Frameworks launch by the runtime API: if both APIs were measured, the runtime's value is the
// GPU's.
GpuFloor gpu_floor(const SamplesOfGpu& by_path, int64_t device, uint64_t runs,
                   const std::vector<CudaClocks>& clocks) {
  GpuFloor floor;
  for (const auto& [path, samples] : by_path) {
    CallSample one = {path, sample_stats(counted(samples.launch_ns, runs, true)),
                      sample_stats(counted(samples.duration_ns, runs, false))};
    for (const CudaClocks& told : clocks) {
      if (told.device != device || told.path != path) continue;
      one.sm_mhz_before = told.sm_mhz_before;
      one.sm_mhz_after = told.sm_mhz_after;
    }
    if (one.launch.n > 0) floor.paths.push_back(one);
  }
  if (floor.paths.empty()) return floor;
  const CallSample& first = floor.paths.front();
  floor.path = first.path;
  floor.launch = first.launch;
  floor.duration = first.duration;
  return floor;
}

Result<std::vector<MeasuredFloor>> recorded_floors(const NullKernelVerb& verb, const Trace& trace,
                                                   const RecordingFacts& facts,
                                                   const std::vector<CudaClocks>& clocks) {
  std::vector<MeasuredFloor> floors;
  for (const auto& [device, by_path] : samples_of(trace)) {
    GpuFloor floor = gpu_floor(by_path, device, verb.runs, clocks);
    floor.gpu.name = "unknown";
    for (const RecordingFacts::Device& known : facts.devices) {
      if (known.id == device) floor.gpu = {known.name, known.uuid};
    }
    if (floor.launch.n == 0) return nothing_recorded(&facts);
    floors.push_back({floor});
  }
  if (floors.empty()) return nothing_recorded(&facts);
  return floors;
}

void tell_sample(size_t gpu, const MeasuredFloor& measured, const std::string& launch,
                 const SampleStats& sample, const SampleStats& duration) {
  fmt::print(stderr,
             "GPU {} ({}): {} {:.2f} us mean, p5 {:.2f}, p50 {:.2f}, p95 {:.2f}; kernel {:.2f} "
             "us; {} runs\n",
             gpu, clean_text(measured.floor.gpu.name), launch, sample.mean_ns / 1e3,
             sample.p5_ns / 1e3, sample.p50_ns / 1e3, sample.p95_ns / 1e3, duration.mean_ns / 1e3,
             sample.n);
}

void tell(const std::vector<MeasuredFloor>& floors, const char* launch) {
  for (size_t gpu = 0; gpu < floors.size(); ++gpu) {
    const GpuFloor& floor = floors[gpu].floor;
    for (const CallSample& one : floor.paths) {
      tell_sample(gpu, floors[gpu], std::string(launch_path_name(one.path)), one.launch,
                  one.duration);
    }
    if (floor.paths.empty()) tell_sample(gpu, floors[gpu], launch, floor.launch, floor.duration);
  }
}

Status write_floors(const NullKernelVerb& verb, CollectorTracer tracer, const std::string& driver,
                    const std::vector<MeasuredFloor>& floors, const char* launch) {
  const MeasurementHead head = {tracer, driver, verb.warmups, verb.runs};
  ASSAY_TRY_ASSIGN(const std::string json, floor_file_json(head, floors));
  tell(floors, launch);
  return export_file(verb.output, json);
}

Error not_launched(int exit_code) {
  constexpr int kSignal = 128;
  const std::string why = exit_code > kSignal
                              ? "signal " + std::to_string(exit_code - kSignal) + " ended it"
                              : "see above";
  return Error{ErrorCode::kUnsupported, "the empty kernel could not be launched (" + why + ")", "",
               -1};
}

std::vector<std::string> program_words(const NullKernelVerb& verb, const std::string& program,
                                       const char* api, const std::string& device) {
  return {program,
          api,
          device,
          std::to_string(verb.warmups),
          std::to_string(verb.runs),
          std::to_string(verb.limit_s)};
}

Status measure_nvidia(const NullKernelVerb& verb, const std::string& program,
                      const std::string& device) {
  ASSAY_TRY_ASSIGN(const Temporary scratch, temporary_folder("assay-null-"));
  const std::string clocks_file = joined(scratch.path(), "clocks.txt");
  RecordRequest request;
  request.gpu = "nvidia";
  request.command = program_words(verb, program, "cuda", device);
  request.command.push_back(clocks_file);
  request.output = joined(scratch.path(), "null.assaytrace");
  request.cupti = verb.cupti;
  request.library = verb.recorder;
  ASSAY_TRY_ASSIGN(const RecordRun run, run_recorded(request));
  if (run.exit_code != 0) return not_launched(run.exit_code);
  if (run.files.size() != 1) return nothing_recorded(nullptr);
  ASSAY_TRY_ASSIGN(const RecordingFacts facts, read_recording_facts(run.files.front()));
  ASSAY_TRY_ASSIGN(const Trace trace, load_trace(run.files.front(), {}));
  ASSAY_TRY_ASSIGN(const std::vector<CudaClocks> clocks, read_cuda_clocks(clocks_file));
  ASSAY_TRY_ASSIGN(const std::vector<MeasuredFloor> floors,
                   recorded_floors(verb, trace, facts, clocks));
  return write_floors(verb, CollectorTracer::kCupti, nvidia_driver(facts), floors, "launch");
}

std::string path_list(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ":") + name;
  return all;
}

Status measure_amd(const NullKernelVerb& verb, const std::string& program,
                   const std::string& device) {
  ASSAY_TRY_ASSIGN(const Temporary scratch, temporary_folder("assay-null-"));
  const std::string output = joined(scratch.path(), "null.txt");
  std::vector<std::string> words = program_words(verb, program, "hip", device);
  const std::vector<std::string> compilers = libraries("ASSAY_HIPRTC", AmdLibraries().compiler);
  words.insert(words.end(), {path_list(hip_runtimes()), path_list(compilers), output});
  ASSAY_TRY_ASSIGN(const ChildResult done, run_child(words, false));
  if (done.exit_code != 0) return not_launched(done.exit_code);
  ASSAY_TRY_ASSIGN(const HipFloors measured, read_hip_floors(output));
  fmt::print(stderr,
             "No tracer: the launch times below end when the host sees the kernel's first store. "
             "They are upper bounds of launch call to kernel start.\n");
  return write_floors(verb, CollectorTracer::kHip, amd_driver(measured.runtime_version),
                      measured.floors, "launch at most");
}

enum class Vendor : uint8_t { kNvidia, kAmd };

// The vendor in --device, otherwise the one with an installed driver.
Result<Vendor> choose_vendor(const std::string& named) {
  if (named == "nvidia") return Vendor::kNvidia;
  if (named == "amd") return Vendor::kAmd;
  const auto cuda = DynamicLibrary::open(libraries("ASSAY_CUDA_DRIVER", {"libcuda.so.1"}),
                                         "no NVIDIA driver is installed here");
  if (cuda) return Vendor::kNvidia;
  const auto hip =
      DynamicLibrary::open(hip_runtimes(), "no AMD ROCm runtime is installed here either");
  if (hip) {
    fmt::print(stderr, "{}; AMD's is tried.\n", cuda.error().message);
    return Vendor::kAmd;
  }
  return Error{ErrorCode::kUnsupported, cuda.error().message + "; " + hip.error().message, "", -1};
}

Status measure(const NullKernelVerb& verb) {
  ASSAY_TRY(check_export(verb.output, {}));
  ASSAY_TRY_ASSIGN(const std::string program,
                   find_collector("assay_null_kernel", "ASSAY_NULL_KERNEL"));
  const size_t colon = verb.device.find(':');
  const bool named = colon != std::string::npos;
  ASSAY_TRY_ASSIGN(const Vendor vendor, choose_vendor(named ? verb.device.substr(0, colon) : ""));
  const std::string device = named ? verb.device.substr(colon + 1) : verb.device;
  return vendor == Vendor::kNvidia ? measure_nvidia(verb, program, device)
                                   : measure_amd(verb, program, device);
}

// Checks a --device value: "0", "all", "nvidia:1", "amd:all".
std::string device_problem(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string vendor = colon == std::string::npos ? "nvidia" : text.substr(0, colon);
  const std::string number = colon == std::string::npos ? text : text.substr(colon + 1);
  const bool digits = !number.empty() && number.size() < 4 &&
                      number.find_first_not_of("0123456789") == std::string::npos;
  const bool fine = (vendor == "nvidia" || vendor == "amd") && (digits || number == "all");
  return fine ? "" : "'" + text + "' is none of 0, all, nvidia:0, nvidia:all, amd:0, amd:all";
}

}  // namespace

void add_null_kernel_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<NullKernelVerb>();
  Verb& sub = app.verb(
      "null-kernel", "Measures what an empty kernel costs to launch on this machine, for --floor");
  sub.example("assay null-kernel -o floor.json");
  sub.option("-o,--output", verb->output, "the file to write").shows_default().called("FILE");
  sub.option("--device", verb->device,
             "number of the GPU, or all; nvidia:0 or amd:0 where both kinds are installed")
      .checked_by(device_problem, "DEVICE")
      .shows_default();
  sub.option("--warmups", verb->warmups,
             "launches that do not count; on NVIDIA GPUs as many more as 0.3 s take")
      .shows_default();
  sub.option("--runs", verb->runs, "launches that count").between(1, 1'000'000).shows_default();
  sub.option("--limit", verb->limit_s, "seconds after which a driver that hangs is given up")
      .between(1, 86'400)
      .shows_default();
  sub.option("--cupti", verb->cupti, "the libcupti to load; default: looked for").called("FILE");
  sub.option("--recorder", verb->recorder,
             "libassay_record.so, if it is not in the folder of this binary (ASSAY_RECORD_LIBRARY)")
      .called("FILE");
  sub.run([verb, &exit_code] {
    const Status done = measure(*verb);
    exit_code = done ? kExitFine : fail(done.error());
  });
}

}  // namespace assay
