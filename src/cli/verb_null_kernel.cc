#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "base/stats.h"
#include "cli/common.h"
#include "cli/export_file.h"
#include "cli/recording.h"
#include "cli/verbs.h"
#include "ingest/assaytrace_reader.h"
#include "ingest/load.h"
#include "trace/links.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKernelName = "assay_null_kernel";
// docs/formats/floor.md: what lies between is clock noise, what lies below is left out.
constexpr int64_t kNoiseNs = -10'000;

struct NullKernelVerb {
  std::string output = "floor.json";
  std::string device = "0";
  uint64_t warmups = 50;  // TaxBreak's W and R
  uint64_t runs = 150;
  std::string cupti;
  std::string recorder;
};

// Launch times and durations of one GPU, by start.
struct Samples {
  std::vector<std::pair<int64_t, int64_t>> launch_ns;  // kernel start, launch time
  std::vector<std::pair<int64_t, int64_t>> duration_ns;
};

// A folder that goes with everything in it.
class Scratch {
 public:
  static Result<Scratch> make() {
    std::error_code failed;
    std::string path = (fs::temp_directory_path(failed) / "assay-null-XXXXXX").string();
    if (failed || ::mkdtemp(path.data()) == nullptr) {
      return Error{ErrorCode::kIo, "cannot make a temporary folder", path, -1};
    }
    return Scratch(path);
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code failed;
    if (!path_.empty()) fs::remove_all(path_, failed);
  }
  std::string file(const char* name) const { return (fs::path(path_) / name).string(); }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

std::map<int64_t, Samples> samples_of(const Trace& trace) {
  const Links links = link_trace(trace);
  std::map<int64_t, Samples> by_device;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const bool ours = trace.activities.kind[i] == ActivityKind::kKernel &&
                      trace.text(trace.activities.name[i]) == kKernelName;
    const ApiCallId call = links.activity_call[i];
    if (!ours || !call) continue;
    const int64_t start = trace.activities.start_ns[i];
    Samples& samples = by_device[trace.streams[trace.activities.stream[i].index()].device];
    samples.launch_ns.emplace_back(start, start - trace.api_calls.start_ns[call.index()]);
    samples.duration_ns.emplace_back(start, trace.activities.dur_ns[i]);
  }
  return by_device;
}

// The last `runs` of them, sorted; `clean`: with the rules for launch times.
std::vector<double> counted(std::vector<std::pair<int64_t, int64_t>> all, uint64_t runs,
                            bool clean) {
  std::sort(all.begin(), all.end());
  if (all.size() > runs) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(runs));
  std::vector<double> values;
  for (const auto& [start, value] : all) {
    if (clean && value <= kNoiseNs) continue;
    values.push_back(static_cast<double>(clean ? std::max<int64_t>(value, 0) : value));
  }
  std::sort(values.begin(), values.end());
  return values;
}

struct Summary {
  double mean = 0;
  double std = 0;
};

Summary summary_of(const std::vector<double>& values) {
  Summary summary;
  for (const double value : values) summary.mean += value;
  summary.mean /= static_cast<double>(values.size());
  for (const double value : values) {
    summary.std += (value - summary.mean) * (value - summary.mean);
  }
  summary.std =
      values.size() > 1 ? std::sqrt(summary.std / static_cast<double>(values.size() - 1)) : 0;
  return summary;
}

std::string sample_json(const std::vector<double>& sorted) {
  const Summary summary = summary_of(sorted);
  return fmt::format(
      R"({{"n": {}, "mean_ns": {:.1f}, "std_ns": {:.1f}, "min_ns": {:.1f}, "p5_ns": {:.1f}, )"
      R"("p50_ns": {:.1f}, "p95_ns": {:.1f}, "max_ns": {:.1f}}})",
      sorted.size(), summary.mean, summary.std, sorted.front(), quantile_sorted(sorted, 0.05),
      quantile_sorted(sorted, 0.5), quantile_sorted(sorted, 0.95), sorted.back());
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out;
}

// The kernel module's version, which nvidia-smi shows; else the CUDA version that the driver tells.
std::string driver_text(const RecordingFacts& facts) {
  std::string version;
  std::ifstream file("/sys/module/nvidia/version");
  if (file && std::getline(file, version) && !version.empty()) return version;
  const uint32_t cuda = facts.driver_version;
  return cuda == 0 ? "" : fmt::format("CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
}

Error nothing_recorded(const RecordingFacts* facts) {
  std::string why = "the recorder saw no launch of the empty kernel";
  if (facts != nullptr) {
    for (const RecordingFacts::Note& note : facts->notes) why += "; " + note.text;
  }
  return Error{ErrorCode::kIo, why, "", -1};
}

Result<std::string> floor_json(const NullKernelVerb& verb, const Trace& trace,
                               const RecordingFacts& facts) {
  const std::map<int64_t, Samples> by_device = samples_of(trace);
  if (by_device.empty()) return nothing_recorded(&facts);
  std::string gpus;
  std::string first_name;
  for (const auto& [device, samples] : by_device) {
    std::string name = "unknown";
    std::string uuid;
    for (const RecordingFacts::Device& known : facts.devices) {
      if (known.id != device) continue;
      name = known.name;
      uuid = known.uuid;
    }
    if (first_name.empty()) first_name = name;
    if (name != first_name) {
      return Error{ErrorCode::kInvalidArgument,
                   "the GPUs are of two kinds, " + first_name + " and " + name +
                       ": a floor is of one kind; measure them one by one with --device",
                   "", -1};
    }
    const std::vector<double> launch = counted(samples.launch_ns, verb.runs, true);
    const std::vector<double> duration = counted(samples.duration_ns, verb.runs, false);
    if (launch.empty()) return nothing_recorded(&facts);
    gpus += fmt::format("{}\n  {{\"name\": \"{}\", {}\"launch\": {},\n   \"duration\": {}}}",
                        gpus.empty() ? "" : ",", escaped(name),
                        uuid.empty() ? "" : "\"uuid\": \"" + uuid + "\",\n   ", sample_json(launch),
                        sample_json(duration));
    fmt::print(stderr,
               "GPU {} ({}): launch {:.2f} us mean, p5 {:.2f}, p50 {:.2f}, p95 {:.2f}; "
               "kernel {:.2f} us; {} runs\n",
               device, name, summary_of(launch).mean / 1e3, quantile_sorted(launch, 0.05) / 1e3,
               quantile_sorted(launch, 0.5) / 1e3, quantile_sorted(launch, 0.95) / 1e3,
               summary_of(duration).mean / 1e3, launch.size());
  }
  const std::string driver = driver_text(facts);
  return fmt::format(
      "{{\"kind\": \"assay-floor\", \"schema_version\": 1, \"tracer\": \"cupti\", {}"
      "\"warmups\": {}, \"runs\": {},\n \"gpus\": [{}]}}\n",
      driver.empty() ? "" : "\"driver\": \"" + escaped(driver) + "\", ", verb.warmups, verb.runs,
      gpus);
}

Status measure(const NullKernelVerb& verb) {
  ASSAY_TRY(check_export(verb.output, {}));
  ASSAY_TRY_ASSIGN(const std::string program,
                   find_collector("assay_null_kernel", "ASSAY_NULL_KERNEL"));
  ASSAY_TRY_ASSIGN(const Scratch scratch, Scratch::make());
  RecordRequest request;
  request.command = {program, verb.device, std::to_string(verb.warmups), std::to_string(verb.runs)};
  request.output = scratch.file("null.assaytrace");
  request.cupti = verb.cupti;
  request.library = verb.recorder;
  ASSAY_TRY_ASSIGN(const RecordRun run, run_recorded(request));
  if (run.exit_code != 0) {
    return Error{ErrorCode::kUnsupported, "the empty kernel could not be launched (see above)", "",
                 -1};
  }
  if (run.files.size() != 1) return nothing_recorded(nullptr);
  ASSAY_TRY_ASSIGN(const RecordingFacts facts, read_recording_facts(run.files.front()));
  ASSAY_TRY_ASSIGN(const Trace trace, load_trace(run.files.front(), {}));
  ASSAY_TRY_ASSIGN(const std::string json, floor_json(verb, trace, facts));
  return export_file(verb.output, json);
}

}  // namespace

void add_null_kernel_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<NullKernelVerb>();
  CLI::App* sub = app.add_subcommand(
      "null-kernel", "Measures what an empty kernel costs to launch on this machine, for --floor");
  sub->add_option("-o,--output", verb->output, "the floor file")->capture_default_str();
  sub->add_option("--device", verb->device, "number of the GPU, or all")
      ->check(CLI::NonNegativeNumber | CLI::IsMember({"all"}))
      ->capture_default_str();
  sub->add_option("--warmups", verb->warmups, "launches that do not count")->capture_default_str();
  sub->add_option("--runs", verb->runs, "launches that count")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  sub->add_option("--cupti", verb->cupti, "the libcupti to load; default: looked for");
  sub->add_option("--recorder", verb->recorder,
                  "libassay_record.so, if it is not beside this binary (ASSAY_RECORD_LIBRARY)");
  sub->callback([verb, &exit_code] {
    const Status done = measure(*verb);
    exit_code = done ? kExitFine : fail(done.error());
  });
}

}  // namespace assay
