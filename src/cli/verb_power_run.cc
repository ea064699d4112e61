#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "answers/files/sensor_choice.h"
#include "answers/inputs/facts.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/platform/platform.h"
#include "cli/common.h"
#include "cli/facts_option.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "devices/deadline.h"
#include "devices/device.h"
#include "ingest/power/json.h"
#include "ingest/power/recording.h"
#include "power/across.h"
#include "power/calibration.h"
#include "power/procedure.h"
#include "power/report.h"
#include "report/power/device.h"
#include "report/power/section.h"
#include "text/plain_text.h"

namespace assay {
namespace {

// Seed of a simulated device with a kernel and a sensor as in FinGraV's Figure 8. The same for
// every verb, so that `run` uses the device that `calibrate` measured.
constexpr uint64_t kSimulatedSeed = 26;
// Several times the longest calibration of a known sensor.
constexpr uint32_t kCalibrationBudgetS = 600;

struct RunVerb {
  CommonOptions common;
  std::string device = "auto";
  SensorChoice sensor = SensorChoice::kAuto;
  std::vector<std::string> workloads;
  std::string record;
  std::string calibration;
  std::string facts;
  uint64_t seed = kSimulatedSeed;
  std::optional<uint32_t> runs;
  uint32_t rounds = 5;
  uint32_t budget_s = 0;
  bool force = false;
  bool paper_counts = false;
};

struct CalibrateVerb {
  CommonOptions common;
  std::string device = "auto";
  SensorChoice sensor = SensorChoice::kAuto;
  std::string calibration;
  std::string record;
  uint64_t seed = kSimulatedSeed;
  uint32_t budget_s = kCalibrationBudgetS;
};

// A progress line on stderr, if it is a terminal.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
  }
  void show(const ProcedureProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    drawn_ = true;
    fmt::print(stderr, "\r{} {}/{}\x1b[K", progress.stage, progress.done, progress.total);
    std::fflush(stderr);
  }

 private:
  bool terminal_ = platform::is_terminal(STDERR_FILENO);
  bool drawn_ = false;
  // The first line appears after 0.2 s.
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// File for a calibration: as given, otherwise in the cache folder.
Result<std::string> calibration_file(const std::string& given, const DeviceFacts& facts) {
  if (!given.empty()) {
    const std::string folder = folder_of(given);
    if (folder.empty() || is_folder(folder)) return given;
    return Error{ErrorCode::kInvalidArgument,
                 "its folder does not exist: make it, or name a file elsewhere", given, -1};
  }
  std::string path = calibration_path(facts.uuid, facts.driver, facts.documented.reading);
  if (!path.empty()) return path;
  return Error{ErrorCode::kInvalidArgument,
               "neither XDG_CACHE_HOME nor HOME is set: say where to keep the calibration with "
               "--calibration FILE",
               "", -1};
}

std::string folder_name(const std::string& workload) {
  std::string name;
  for (const char c : workload) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (kept) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

// Folder of a workload's raw records; empty = do not keep them, only for simulations.
std::string record_folder(const RunVerb& verb, const std::string& workload, bool virtual_time) {
  if (verb.record.empty() && virtual_time) return {};
  const std::string name = folder_name(workload);
  if (verb.record.empty()) return "assay-power-" + name;
  if (verb.workloads.size() == 1) return verb.record;
  return joined(verb.record, name);
}

// Writes every record as soon as it is measured.
class Keeper {
 public:
  explicit Keeper(std::string folder) : folder_(std::move(folder)) {}

  // State of an earlier run in the folder, for resuming it.
  Result<std::optional<ProcedureResume>> left_over() {
    if (folder_.empty() || !file_exists(folder_)) {
      return std::optional<ProcedureResume>();
    }
    if (!is_folder(folder_)) {
      return Error{ErrorCode::kInvalidArgument, "is not a folder", folder_, -1};
    }
    if (is_empty_folder(folder_)) {
      return std::optional<ProcedureResume>();
    }
    if (!file_exists(joined(folder_, "plan.json")) || !file_exists(joined(folder_, "meta.json"))) {
      return Error{ErrorCode::kInvalidArgument,
                   "is not empty and holds no recording (plan.json, meta.json) to go on with: name "
                   "a new folder with --record",
                   folder_, -1};
    }
    ProcedureResume left;
    ASSAY_TRY_ASSIGN(left.plan, read_power_plan(folder_));
    ASSAY_TRY_ASSIGN(left.recording, read_power_recording(folder_));
    return std::optional<ProcedureResume>(std::move(left));
  }

  // Also records the sensor's samples and the load's times during calibration.
  void keep_readings(const DeviceFacts& facts, CalibrationOptions& options) {
    if (folder_.empty()) return;
    PowerRecording head = recording_head(facts);
    head.workload = "calibration";
    head.kernels = {"load"};
    head.kernel_flop = {0};
    head.kernel_bytes = {0};
    // Create the folder only with the first record, so that a run that fails early can be repeated.
    options.recorded = [this, head](const PowerRunRecord& record) -> Status {
      ASSAY_TRY_ASSIGN(PowerRecordingWriter writer, PowerRecordingWriter::create(folder_, head));
      ASSAY_TRY(writer.append(record.samples));
      return writer.append(record.executions);
    };
  }

  void watch(ProcedureObserver& observer) {
    if (folder_.empty()) return;
    observer.planned = [this](const PowerRecording& head, const PowerPlan& plan) -> Status {
      ASSAY_TRY_ASSIGN(PowerRecordingWriter writer, PowerRecordingWriter::create(folder_, head));
      writer_ = std::move(writer);
      return write_power_plan(plan, folder_);
    };
    observer.recorded = [this](const PowerRunRecord& record) -> Status {
      if (!writer_) {
        ASSAY_TRY_ASSIGN(PowerRecordingWriter writer, PowerRecordingWriter::resume(folder_));
        writer_ = std::move(writer);
      }
      ASSAY_TRY(writer_->append(record.probes));
      ASSAY_TRY(writer_->append(record.samples));
      return writer_->append(record.executions);
    };
  }

 private:
  std::string folder_;
  std::optional<PowerRecordingWriter> writer_;
};

ProcedureOptions options_of(const RunVerb& verb, bool interleaved) {
  ProcedureOptions options;
  options.seed = verb.seed;
  options.runs = verb.runs;
  options.rounds = verb.rounds;
  options.budget_ns = verb.budget_s * kSecondNs;
  options.paper_counts = verb.paper_counts;
  options.profile.force = verb.force;
  // Only a kernel that runs alone can fill an averaging window.
  options.profile.strict = !verb.paper_counts && !interleaved;
  return options;
}

struct Campaign {
  std::string folder;
  PowerReport report;
  std::vector<std::string> verdict;
  std::vector<Section> sections;
};

// A device and the known properties of its sensor.
struct Bench {
  std::unique_ptr<PowerDevice> device;
  SensorModel sensor;
};

Result<Bench> open_bench(const RunVerb& verb, SensorChoice choice) {
  Bench bench;
  ASSAY_TRY_ASSIGN(bench.device, open_device(verb.device, verb.seed, choice));
  const DeviceFacts& about = bench.device->facts();
  bench.sensor = about.documented;
  // A simulated device with a known sensor must not depend on a stored calibration.
  const bool sensor_known = about.virtual_time && about.documented.window_ns > 0;
  if (verb.calibration.empty() && sensor_known) return bench;
  ASSAY_TRY_ASSIGN(const auto kept, kept_calibration(verb.calibration, {about.uuid, about.driver,
                                                                        about.documented.reading}));
  if (kept) bench.sensor = *kept;
  return bench;
}

// Without a calibration, prefers a sensor with a documented averaging window, unless the user chose
// one.
Result<Bench> open_known_bench(const RunVerb& verb) {
  ASSAY_TRY_ASSIGN(Bench bench, open_bench(verb, verb.sensor));
  const bool known = bench.sensor.window_ns > 0;
  if (known || verb.sensor != SensorChoice::kAuto || bench.device->facts().virtual_time) {
    return bench;
  }
  auto documented = open_bench(verb, SensorChoice::kAverage);
  if (!documented || documented->sensor.window_ns <= 0) return bench;
  documented->sensor.source +=
      fmt::format("; the {} reading is not calibrated", bench.sensor.reading);
  return documented;
}

Result<Campaign> run_campaign(const RunVerb& verb, const std::string& workload,
                              const FactBook& facts) {
  ASSAY_TRY_ASSIGN(const auto steps, parse_workload_list(workload));
  ASSAY_TRY_ASSIGN(const Bench bench, open_known_bench(verb));
  const std::unique_ptr<PowerDevice>& device = bench.device;
  ProcedureOptions options = options_of(verb, steps.size() > 1);
  options.sensor = bench.sensor;
  Campaign campaign;
  campaign.folder = record_folder(verb, workload, device->facts().virtual_time);
  Keeper keeper(campaign.folder);
  ASSAY_TRY_ASSIGN(const std::optional<ProcedureResume> left, keeper.left_over());
  ProgressLine line;
  ProcedureObserver observer;
  observer.progress = [&line](const ProcedureProgress& progress) { line.show(progress); };
  keeper.watch(observer);
  ASSAY_TRY_ASSIGN(const ProcedureResult result,
                   run_procedure(*device, steps, options, observer, left ? &*left : nullptr));
  campaign.report =
      report_power(result.recording, {result.profile}, facts, device->facts().power_limit_w);
  const PowerReport& report = campaign.report;
  campaign.verdict = power_verdict_words(report);
  for (std::string& words : procedure_words(result)) {
    campaign.verdict.push_back(std::move(words));
  }
  campaign.sections = power_sections(report);
  campaign.sections.push_back(procedure_section(result));
  if (const auto truth = device->truth()) {
    campaign.sections.push_back(truth_section(*truth, result.profile.name));
  }
  return campaign;
}

Result<Document> run_document(const RunVerb& verb) {
  ASSAY_TRY_ASSIGN(const FactBook facts, load_facts(verb.facts));
  Document document = new_document("Power run");
  document.parts_key = "workloads";
  std::vector<PowerReport> reports;
  for (const std::string& workload : verb.workloads) {
    auto campaign = run_campaign(verb, workload, facts);
    if (!campaign) {
      Error error = campaign.take_error();
      if (verb.workloads.size() > 1) error.message = workload + ": " + error.message;
      return error;
    }
    if (!campaign->folder.empty()) document.inputs.push_back({campaign->folder, {}});
    if (verb.workloads.size() == 1) {
      document.verdict = std::move(campaign->verdict);
      document.sections = std::move(campaign->sections);
      continue;
    }
    reports.push_back(std::move(campaign->report));
    document.parts.push_back(
        {workload, {}, {}, std::move(campaign->verdict), std::move(campaign->sections)});
  }
  if (reports.size() > 1) {
    document.sections = {across_section(report_across(reports, verb.workloads))};
  }
  return document;
}

// Adds the consequence for later measurements.
Error not_calibrated(Error error) {
  error.message +=
      "; no calibration was kept: `assay power run` uses the sensor as the vendor documents it, if "
      "it does";
  return error;
}

Result<Document> calibrate_document(const CalibrateVerb& verb) {
  ASSAY_TRY_ASSIGN(auto opened, open_device(verb.device, verb.seed, verb.sensor));
  ASSAY_TRY_ASSIGN(const std::string path, calibration_file(verb.calibration, opened->facts()));
  const auto device = with_deadline(std::move(opened), verb.budget_s * kSecondNs);
  ProgressLine line;
  CalibrationOptions options;
  options.seed = verb.seed;
  options.progress = [&line](const ProcedureProgress& progress) { line.show(progress); };
  Keeper keeper(verb.record);
  keeper.keep_readings(device->facts(), options);
  auto calibrated = calibrate_sensor(*device, options);
  if (!calibrated) return not_calibrated(calibrated.take_error());
  const SensorCalibration& found = *calibrated;
  ASSAY_TRY(write_sensor_calibration(found, path));
  Document document = new_document("Power sensor calibration");
  document.verdict = calibration_verdict_words(found);
  document.sections.push_back(calibration_section(found, path));
  return document;
}

int finish(Result<Document> document, const CommonOptions& common) {
  if (!document) return fail(document.error());
  return write_document(*document, common, false);
}

void add_device_options(Verb& verb, std::string& device, SensorChoice& sensor, uint64_t& seed) {
  verb.option("--device", device,
              "auto, nvidia:0, amd:0, or simulated, which takes settings such as "
              "simulated:window=1ms,period=1ms,drift=42")
      .shows_default()
      .called("DEVICE");
  static const std::vector<std::pair<std::string, int>> kSensors = {
      {"auto", static_cast<int>(SensorChoice::kAuto)},
      {"instant", static_cast<int>(SensorChoice::kInstant)},
      {"average", static_cast<int>(SensorChoice::kAverage)},
      {"usage", static_cast<int>(SensorChoice::kUsage)},
      {"samples", static_cast<int>(SensorChoice::kSamples)}};
  verb.choice(
          "--sensor", kSensors,
          [&sensor](int chosen) { sensor = static_cast<SensorChoice>(chosen); },
          "which power value of NVML: instant, average (1 s), usage, samples (buffered by the "
          "driver); auto = the first of these that the GPU has")
      .called("NAME");
  verb.option("--seed", seed, "of random delays, and of a simulated device")
      .at_least_zero()
      .shows_default();
}

void add_run_verb(Verb& power, int& exit_code) {
  auto verb = std::make_shared<RunVerb>();
  Verb& sub =
      power.verb("run", "Runs a kernel by FinGraV's nine steps and gives its power profile");
  sub.example("assay power run --workload gemm:4096 -o gemm.html");
  add_common_options(sub, verb->common, false);
  add_figure_option(sub, verb->common);
  add_device_options(sub, verb->device, verb->sensor, verb->seed);
  sub.option("--workload", verb->workloads,
             // language: allow too_many_commas
             // language: allow sentence_too_long
             "gemm:N, gemm:MxNxK:bf16, gemv:N, copy:1GiB, triad:1GiB, all_reduce:512MB, "
             "all_gather:512MB:f32 (over all GPUs), so:FILE:symbol, cu:FILE:kernel, "
             "hip:FILE:kernel, cmd:COMMAND, or a list. The last of a list is profiled: "
             "'60*gemm:2048 , 1*gemm:8192'. Can be given several times")
      .required()
      .called("WORK");
  sub.option("--record", verb->record,
             "folder for the raw records; an interrupted run there is gone on with. Default: "
             "assay-power-WORKLOAD, none when simulated")
      .called("FOLDER");
  sub.option(
         "--calibration", verb->calibration,
         "the sensor's calibration; default: what `assay power calibrate` kept, and without one "
         "NVML's documented 1 s average")
      .called("FILE");
  sub.option("--runs", verb->runs, "runs, instead of FinGraV's Table I").between(1, 1'000'000);
  sub.option("--rounds", verb->rounds, "further rounds when samples are short")
      .between(0, 100)
      .shows_default();
  sub.option("--budget", verb->budget_s,
             "seconds after which no further run begins (0: no limit); the answer uses the runs "
             "until then")
      .between(0, 86'400)
      .shows_default();
  sub.flag("--force", verb->force, "also kernels under 25 us");
  add_facts_option(sub, verb->facts);
  sub.flag("--paper-counts", verb->paper_counts,
           "max(ceil(w/T), 4) executions per run as published, although their window still "
           "holds some of what was before");
  sub.run([verb, &exit_code] { exit_code = finish(run_document(*verb), verb->common); });
}

void add_calibrate_verb(Verb& power, int& exit_code) {
  auto verb = std::make_shared<CalibrateVerb>();
  Verb& sub = power.verb("calibrate",
                         "Measures how this GPU's power sensor averages and reports, and keeps it");
  sub.example("assay power calibrate", "once for each GPU and driver");
  add_common_options(sub, verb->common, false);
  add_figure_option(sub, verb->common);
  add_device_options(sub, verb->device, verb->sensor, verb->seed);
  sub.option("--calibration", verb->calibration,
             "file to keep it in; default: assay/sensors in the cache folder")
      .called("FILE");
  sub.option("--record", verb->record,
             "folder for what the sensor showed and when the load ran; default: nothing is kept")
      .called("FOLDER");
  sub.option("--budget", verb->budget_s, "seconds after which it gives up and keeps nothing")
      .between(1, 86'400)
      .shows_default();
  sub.run([verb, &exit_code] { exit_code = finish(calibrate_document(*verb), verb->common); });
}

}  // namespace

void add_power_run_verbs(Verb& power, int& exit_code) {
  add_run_verb(power, exit_code);
  add_calibrate_verb(power, exit_code);
}

}  // namespace assay
