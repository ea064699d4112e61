#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/export_file.h"
#include "base/files.h"
#include "cli/amd_recording.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/recording.h"
#include "cli/torch_build.h"
#include "cli/verbs.h"
#include "ingest/assaytrace/reader.h"
#include "ingest/load.h"
#include "report/perfetto/chrome_json.h"

namespace assay {
namespace {

using wire::Kind;
using wire::NoteCode;

struct RecordVerb {
  RecordRequest request;
  std::string format = "assaytrace";
  std::string start_signal;
  std::string stop_signal;
  bool torch = false;
  bool build_torch = false;
  std::string python = "python3";
};

struct RecordedFile {
  std::string path;
  RecordingFacts facts;
};

void say_of_recording(const std::string& line) { fmt::print(stderr, "assay record: {}\n", line); }

// Suggestion for a note; empty if its own text is enough.
std::string remedy(const RecordingFacts::Note& note) {
  switch (note.code) {
    case NoteCode::kNoTracer:
      return "CUPTI is part of the CUDA toolkit (extras/CUPTI/lib64) and of pip's "
             "nvidia-cuda-cupti package: install one, or name the library with --cupti";
    case NoteCode::kNoPermission:
      return "profiling needs root, CAP_SYS_ADMIN, or the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0 "
             "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)";
    case NoteCode::kOtherSubscriber:
      return "another profiler holds CUPTI in this process (nsys, a debugger, a profiler inside "
             "the "
             "program): run without it";
    case NoteCode::kOldDriver:
      return fmt::format(
          "this CUPTI does not take the driver (CUDA {}.{}): update the driver, or name an older "
          "libcupti with --cupti",
          note.value / 1000, note.value % 1000 / 10);
    case NoteCode::kOldTracer:
      return "CUPTI of CUDA 11.6 or later is needed: name one with --cupti";
    case NoteCode::kTakenOver:
      return "the program profiles itself (torch.profiler?): record it with that switched off";
    case NoteCode::kUnsupportedGpu:
      return "CUPTI does not trace this kind of device (MIG, vGPU, WSL, confidential computing)";
    case NoteCode::kNoOperators:
      return note.value == 0 ? "" : "assay record --build-torch compiles what fits a PyTorch";
    case NoteCode::kOldRocprofiler:
      return "ROCm 6.3 or later has one that does";
    case NoteCode::kByteLimit:
      return "raise it with --max-bytes, or record less with --capture-range";
    default:
      return "";
  }
}

std::string plural(uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string bytes_text(uint64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / (1 << 10));
}

std::string counts_text(const RecordingFacts& facts) {
  std::string text = plural(facts.count(Kind::kKernel), "kernel", "kernels");
  const auto add = [&](Kind kind, const char* one, const char* many) {
    if (facts.count(kind) > 0) text += ", " + plural(facts.count(kind), one, many);
  };
  add(Kind::kCopy, "copy", "copies");
  add(Kind::kFill, "fill", "fills");
  add(Kind::kGraphRun, "whole graph", "whole graphs");
  add(Kind::kApiCall, "call", "calls");
  add(Kind::kRange, "range", "ranges");
  add(Kind::kOperator, "operator", "operators");
  return text;
}

const char* why_nothing_was_seen(const RecordingFacts& facts) {
  if (facts.tracer == wire::TracerKind::kRocprofiler && facts.tracer_version != 0) {
    return "the process loaded HIP, and launched nothing while recording";
  }
  return facts.tracer_version == 0
             ? "the process never started the CUDA driver"
             : "the process started the driver, and launched nothing while recording";
}

bool has_note(const RecordingFacts& facts, NoteCode code) {
  return std::any_of(facts.notes.begin(), facts.notes.end(),
                     [code](const RecordingFacts::Note& note) { return note.code == code; });
}

// The footer counts records that the recorder had in memory. Activity after the end of the file was
// neither recorded nor counted.
std::string lost_text(const RecordingFacts& facts) {
  if (!facts.closed) return "the rest lost, uncounted";
  uint64_t lost = 0;
  for (const auto& [reason, count] : facts.lost) lost += count;
  const bool ended_early =
      has_note(facts, NoteCode::kByteLimit) || has_note(facts, NoteCode::kWriteFailed);
  return fmt::format("{}{} lost", ended_early ? "at least " : "", lost);
}

bool still_runs(const RecordingFacts& facts) {
  return facts.pid != 0 && ::kill(static_cast<pid_t>(facts.pid), 0) == 0;
}

void report_file(const RecordedFile& file) {
  const RecordingFacts& facts = file.facts;
  say_of_recording(fmt::format("{}: process {} ({}): {}; {}; {}", file.path, facts.pid,
                               facts.program, counts_text(facts), lost_text(facts),
                               bytes_text(facts.bytes)));
  if (!facts.closed) {
    const std::string why =
        still_runs(facts)
            ? fmt::format("process {} still runs: wait for it in the command", facts.pid)
            : "the process was killed or crashed before it wrote the rest, or no space was left to "
              "write to";
    say_of_recording(fmt::format("{}: not closed: {}. Activity since the last flush is missing",
                                 file.path, why));
  }
  std::string told;
  for (const RecordingFacts::Note& note : facts.notes) {
    if (note.code == NoteCode::kClockCallback || note.text == told) continue;
    if (note.code != NoteCode::kNotShared) told = note.text;
    const std::string what_to_do = remedy(note);
    say_of_recording(fmt::format("{}: {}{}{}", file.path, note.text, what_to_do.empty() ? "" : ". ",
                                 what_to_do));
  }
  if (facts.device_rows() == 0 && told.empty() && facts.closed) {
    say_of_recording(
        fmt::format("{}: no work of a GPU was seen: {}", file.path, why_nothing_was_seen(facts)));
  }
}

std::string why_no_nvidia() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return "no NVIDIA driver is installed here (libcuda.so.1)";
  ::dlclose(driver);
  return "the program never started the CUDA driver and has no NVTX ranges (or it drops the "
         "environment of what it starts)";
}

std::string why_no_amd() {
  if (find_rocprofiler().empty()) {
    return "AMD's rocprofiler-sdk is not installed here (librocprofiler-sdk.so): install the "
           "package rocprofiler-sdk of ROCm 6.3 or later";
  }
  return "the program never loaded HIP (or it drops the environment of what it starts)";
}

void report_nothing(const RecordRun& run) {
  const std::string nvidia = run.for_nvidia ? why_no_nvidia() : "";
  const std::string amd = run.for_amd ? why_no_amd() : "";
  const char* both = nvidia.empty() || amd.empty() ? "" : "; ";
  say_of_recording("nothing was recorded, and no file written: " + nvidia + both + amd);
}

// A recording is written to a temporary name and renamed when complete, so the target must be a
// regular file.
Status check_recording(const std::string& output) {
  if (!file_exists(output) || is_regular_file(output)) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "is not a file, and a recording is written to files only", output, -1};
}

// Reports a file with the requested name that an earlier run wrote.
void report_older(const std::vector<RecordedFile>& files, const std::string& output) {
  if (!file_exists(output)) return;
  const bool ours = std::any_of(files.begin(), files.end(), [&output](const RecordedFile& file) {
    return file.path == output;
  });
  if (!ours) say_of_recording(output + " is of an earlier run: it was left as it is");
}

// Renames the only file with GPU activities to the requested name; if there is none, the only file.
void name_output(std::vector<RecordedFile>& files, const std::string& output) {
  const auto worked = [](const RecordedFile& file) { return file.facts.device_rows() > 0; };
  const auto with_work = std::count_if(files.begin(), files.end(), worked);
  auto chosen = files.begin();
  if (with_work == 1) chosen = std::find_if(files.begin(), files.end(), worked);
  if (files.empty() || (with_work != 1 && files.size() != 1)) return;
  // A file that was not converted to the requested format keeps its own name.
  if (extension_of(chosen->path) != extension_of(output)) return;
  if (rename_file(chosen->path, output)) chosen->path = output;
}

// Writes Chrome JSON next to the recording and removes the recording.
Status convert(RecordedFile& file) {
  ASSAY_TRY_ASSIGN(const Trace trace, load_trace(file.path, {.keep_op_inputs = true}));
  const std::string path = with_extension(file.path, ".json");
  ASSAY_TRY(export_file(path, chrome_json(trace)));
  ASSAY_TRY(remove_file(file.path));
  file.path = path;
  return Ok{};
}

bool lacks_its_end(const RecordedFile& file) {
  return !file.facts.closed || has_note(file.facts, NoteCode::kWriteFailed);
}

// The command's exit code. If that is 0 but the recording is incomplete, an error code, for callers
// that check only the exit code.
int exit_code_of(const RecordRun& run, const std::vector<RecordedFile>& files) {
  if (run.exit_code != kExitFine) return run.exit_code;
  if (files.empty()) return kExitError;
  const bool left = std::any_of(run.rescued.begin(), run.rescued.end(),
                                [](const auto& one) { return !one.problem.empty(); });
  return left || std::any_of(files.begin(), files.end(), lacks_its_end) ? kExitDataLost : kExitFine;
}

// Path from ASSAY_TORCH_OPERATORS, or of a library that was built earlier or is installed.
Result<std::string> find_observer() {
  constexpr const char* kName = "libassay_torch.so";
  const char* named = std::getenv("ASSAY_TORCH_OPERATORS");
  if (named != nullptr && *named != '\0') return std::string(named);
  for (const std::string& folder :
       {built_folder(), program_folder(), program_folder() + "/../lib/assay"}) {
    const std::string path = joined(folder, kName);
    if (!folder.empty() && file_exists(path) && check_trusted(path)) return path;
  }
  return Error{ErrorCode::kInvalidArgument,
               std::string(kName) +
                   " is not here: it must be compiled against the PyTorch of the program. 'assay "
                   "record --build-torch --python PYTHON' does that in about a minute (needs g++)",
               "", -1};
}

Result<int> record_command(RecordVerb& verb) {
  RecordRequest& request = verb.request;
  if (request.command.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "command is required: assay record [options] -- COMMAND", "", -1};
  }
  if (verb.torch || request.modules) {
    ASSAY_TRY_ASSIGN(request.operators, find_observer());
  }
  for (auto [name, number] : {std::pair{&verb.start_signal, &request.start_signal},
                              std::pair{&verb.stop_signal, &request.stop_signal}}) {
    if (name->empty()) continue;
    *number = signal_from_name(*name);
    if (*number == 0) {
      return Error{ErrorCode::kInvalidArgument, "no signal is called " + *name, "", -1};
    }
  }
  if (request.start_signal == 0 && request.stop_signal != 0) {
    return Error{ErrorCode::kInvalidArgument, "--stop-signal needs --start-signal", "", -1};
  }
  if (request.stop_signal == 0) request.stop_signal = request.start_signal;
  const bool json = verb.format == "kineto";
  ASSAY_TRY(check_recording(request.output));
  std::string asked = request.output;
  if (json) {
    request.output = with_extension(asked, ".assaytrace");
    asked = with_extension(asked, ".json");
  }
  ASSAY_TRY_ASSIGN(const RecordRun run, run_recorded(request));
  std::vector<RecordedFile> files;
  for (const std::string& path : run.files) {
    auto facts = read_recording_facts(path);
    if (!facts) {
      say_of_recording(path + ": " + facts.error().describe());
      continue;
    }
    files.push_back({path, *std::move(facts)});
  }
  // Report files under their original names, before they are renamed below.
  for (const auto& rescued : run.rescued) {
    if (rescued.problem.empty()) continue;
    say_of_recording(fmt::format("{}: what process {} left in shared memory is lost: {}",
                                 rescued.file, rescued.pid, rescued.problem));
  }
  for (RecordedFile& file : files) {
    if (!json) continue;
    if (const Status converted = convert(file); !converted)
      say_of_recording(converted.error().describe());
  }
  name_output(files, asked);
  for (const RecordedFile& file : files) report_file(file);
  if (files.empty()) report_nothing(run);
  report_older(files, asked);
  return exit_code_of(run, files);
}

}  // namespace

void add_record_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<RecordVerb>();
  verb->request.output = "out.assaytrace";
  Verb& sub = app.verb(
      "record",
      "Runs a command and records what it does on NVIDIA and AMD GPUs, with little overhead");
  sub.example("assay record -o run.assaytrace -- ./program");
  sub.option("-o,--output", verb->request.output,
             "the trace; several processes get OUT.PID.assaytrace each")
      .shows_default()
      .called("FILE");
  sub.option("--format", verb->format, "assaytrace, or kineto: Chrome JSON, for Perfetto")
      .one_of({"assaytrace", "kineto"})
      .shows_default();
  sub.option("--max-bytes", verb->request.max_bytes,
             "end recording when a file has this size, e.g. 500MB; default 4 GiB")
      .size();
  sub.option("--capture-range", verb->request.capture_range,
             "record only while an NVTX or roctx range of this name is open")
      .called("NAME");
  sub.option("--start-signal", verb->start_signal,
             "record only after this signal (USR1) is sent to assay; the next one stops")
      .called("SIGNAL");
  sub.option("--stop-signal", verb->stop_signal, "another signal for stopping").called("SIGNAL");
  sub.option("--flush-ms", verb->request.flush_ms,
             "write down what there is this often; default 1000")
      .between(10u, 3'600'000u);
  sub.flag("--torch", verb->torch,
           "PyTorch's operators, too, with shapes and sequence numbers, without its profiler");
  sub.flag(
      "--torch-modules", verb->request.modules,
      "--torch and the calls of modules, by hooks on every module: they slow its calls and may "
      "change what torch.compile makes");
  sub.flag("--build-torch", verb->build_torch,
           "compile what --torch needs against the PyTorch of --python, once; runs nothing");
  sub.option("--python", verb->python, "the Python with that PyTorch")
      .shows_default()
      .called("PYTHON");
  sub.flag("--whole-graphs", verb->request.whole_graphs,
           "one row per CUDA graph launch instead of its kernels: less overhead");
  sub.flag("--all-api-calls", verb->request.all_calls,
           "also the calls that PyTorch's profiler leaves out: questions about device, context and "
           "errors, the making of events; on AMD's GPUs those of HSA");
  sub.flag("--tracer-clock", verb->request.tracer_clock,
           "leave CUPTI its own clock (CLOCK_REALTIME) instead of CLOCK_MONOTONIC");
  sub.option(
         "--gpu", verb->request.gpu,
         "vendor of the GPUs: nvidia, amd, or auto: NVIDIA's, and AMD's if its driver or HIP is "
         "here")
      .one_of({"auto", "nvidia", "amd"})
      .shows_default();
  sub.option("--cupti", verb->request.cupti, "the libcupti to load; default: looked for")
      .called("FILE");
  sub.option("--recorder", verb->request.library,
             "libassay_record.so, if it is not in the folder of this binary "
             "(ASSAY_RECORD_LIBRARY; of AMD's GPUs ASSAY_RECORD_AMD_LIBRARY)")
      .called("FILE");
  sub.input("command", verb->request.command, "what to run, after --");
  sub.footer(
      "The exit code is the command's: 128 + number if a signal ended it, 127 if it was not "
      "found. If that is 0, it is 2 when nothing was recorded and 3 when a recording lacks its "
      "end. If recording is impossible, the program runs all the same, and stderr says why. CUPTI "
      "serves one profiler per process. A program that profiles itself takes it from this "
      "recorder, or finds it taken and has no GPU rows. It may use torch.profiler, also started "
      "by a framework on a signal or a schedule. Record it with that profiler off. Nothing else "
      "of the program is changed.");
  sub.run([verb, &exit_code] {
    if (verb->build_torch) {
      exit_code = build_for_torch("operators", verb->python);
      return;
    }
    const Result<int> code = record_command(*verb);
    exit_code = code ? *code : fail(code.error());
  });
}

}  // namespace assay
