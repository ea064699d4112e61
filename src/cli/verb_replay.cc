#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "answers/files/replay_cache.h"
#include "base/export_file.h"
#include "base/files.h"
#include "base/temporaries.h"
#include "base/child_process.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/torch_build.h"
#include "cli/verbs.h"
#include "ingest/load.h"
#include "ingest/replay/file.h"
#include "ingest/replay/job.h"
#include "overhead/replay_ranges.h"
#include "trace/links.h"

namespace assay {
namespace {

constexpr int kCannotWrite = 3;  // exit code of assay-replay if it cannot write its results

struct ReplayVerb {
  std::string database;
  std::string output;
  std::string program;
  std::string through = std::string(replay_through_name(ReplayThrough::kCpp));
  std::string python = "python3";
  std::string tracer = "auto";
  std::string device = "auto";
  std::vector<std::string> libraries;
  uint64_t batch = 64;
  bool build = false;
  bool fresh = false;
  bool no_cache = false;
  ReplayJobOptions job;
};

Error usage(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

bool through_python(const ReplayVerb& verb) {
  return verb.through == replay_through_name(ReplayThrough::kPython);
}

// Searches ASSAY_REPLAY, earlier builds, the folder of this program, and PATH.
Result<std::string> find_compiled() {
  const char* named = std::getenv("ASSAY_REPLAY");
  if (named != nullptr && is_program(named)) return std::string(named);
  for (const std::string& folder :
       {built_folder(), program_folder(), program_folder() + "/../lib/assay"}) {
    const std::string path = joined(folder, "assay-replay");
    if (!folder.empty() && is_own_program(path)) return path;
  }
  const std::string found = find_on_path("assay-replay");
  if (!found.empty()) return found;
  return usage(
      "assay-replay is missing. 'assay replay --build --python PYTHON' compiles it for that "
      "PyTorch in a minute (needs g++); or use --program or ASSAY_REPLAY");
}

Result<std::string> find_script() {
  std::string script = collected_script("replay/replay.py");
  if (!script.empty()) return script;
  return usage(
      "collect/replay/replay.py is not installed with this program: name it with --program, from "
      "Assay's source tree");
}

// Command line of the program that runs the operators.
Result<std::vector<std::string>> find_program(const ReplayVerb& verb) {
  const bool python = through_python(verb);
  if (!verb.program.empty() && !is_program(verb.program)) {
    return Error{ErrorCode::kInvalidArgument, "--program: no such program", verb.program, -1};
  }
  std::string program = verb.program;
  if (program.empty()) {
    ASSAY_TRY_ASSIGN(program, python ? find_script() : find_compiled());
  }
  if (python) return std::vector<std::string>{verb.python, program};
  return std::vector<std::string>{program};
}

// Passes the libraries in an environment variable; paths do not contain newlines.
void name_libraries(const std::vector<std::string>& libraries) {
  std::string lines;
  for (const std::string& path : libraries) lines += absolute_path(path) + "\n";
  if (!lines.empty()) ::setenv("ASSAY_REPLAY_LIBRARIES", lines.c_str(), 1);
}

Result<ReplayProgram> ask_program(const ReplayVerb& verb, std::vector<std::string> command) {
  command.emplace_back("--about");
  ASSAY_TRY_ASSIGN(const ChildResult answer, run_child(command, true));
  if (answer.exit_code != 0) {
    const char* const remedy = through_python(verb)
                                   ? "name a Python that has PyTorch with --python"
                                   : "build it anew for the PyTorch that is installed now (assay "
                                     "replay --build)";
    return Error{
        ErrorCode::kIo,
        fmt::format("ends with code {} when asked what it is: {}", answer.exit_code, remedy),
        command.front(), -1};
  }
  return parse_replay_program(answer.output);
}

// The tracer for the program; kHost = none.
Result<CollectorTracer> choose_tracer(const ReplayVerb& verb, const std::string& device) {
  if (device == "cpu") {
    if (verb.tracer == "auto" || verb.tracer == "none") return CollectorTracer::kHost;
    return usage("--tracer " + verb.tracer + ": on a CPU there are no kernels to trace");
  }
  if (verb.tracer == "none") {
    return usage("--tracer none: on a GPU nothing would be measured but the calls on the host");
  }
  if (verb.tracer == "nsys") return CollectorTracer::kNsys;
  return CollectorTracer::kCupti;
}

struct ReplaySession {
  const ReplayVerb& verb;
  const ReplayPlan& plan;
  std::vector<std::string> program;
  ReplayFile& file;
  const Temporary& scratch;
};

std::vector<std::string> traced_command(const ReplaySession& session, const std::string& trace,
                                        const std::vector<std::string>& command) {
  std::vector<std::string> argv;
  switch (session.file.head.tracer) {
    case CollectorTracer::kCupti:
      argv = {program_path(), "record", "-o", trace, "--"};
      break;
    case CollectorTracer::kNsys:
      argv = {"nsys",
              "profile",
              "--trace=cuda,nvtx",
              "--sample=none",
              "--cpuctxsw=none",
              "--force-overwrite=true",
              "--export=sqlite",
              "-o",
              with_extension(trace, "")};
      break;
    default:
      break;
  }
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

// If the program was stopped, the kernels that its tracer flushed still count.
std::map<uint64_t, ReplayedKernels> kernels_of(const ReplaySession& session,
                                               const std::string& trace, std::string& why_not) {
  if (session.file.head.tracer == CollectorTracer::kHost) return {};
  CommonOptions options;
  options.listener = terminal_listener(options);
  options.allow_truncated = true;
  auto loaded = load_input(trace, options);
  if (!loaded) {
    why_not = "no trace of the replay could be read: " + loaded.error().message;
    return {};
  }
  return replayed_kernels(loaded->trace, loaded->links);
}

ReplayEntry entry_from(const ReplaySession& session, ReplayAnswer answer,
                       std::map<uint64_t, ReplayedKernels>& kernels, const std::string& why_not) {
  ReplayEntry entry;
  entry.key = session.plan.entries[answer.entry].key;
  entry.status = answer.status;
  entry.reason = std::move(answer.reason);
  entry.call = std::move(answer.call);
  entry.assumed = std::move(answer.assumed);
  if (entry.status != ReplayStatus::kOk) return entry;
  entry.ranges = answer.host_ns.size();
  entry.host = sample_stats(std::move(answer.host_ns));
  if (session.file.head.tracer == CollectorTracer::kHost) return entry;
  const auto seen = kernels.find(answer.entry);
  if (seen == kernels.end() || seen->second.ranges == 0) {
    entry.status = ReplayStatus::kFailed;
    entry.reason = why_not.empty() ? "the tracer saw none of its ranges" : why_not;
    return entry;
  }
  entry.ranges = std::min<uint64_t>(seen->second.ranges, session.file.head.runs);
  entry.candidates = std::move(seen->second.candidates);
  return entry;
}

// Runs the program once over these entries of the plan. done: entries that have a result, or at
// which the program ended; empty only if the program could not run at all.
Result<std::vector<ReplayEntry>> run_once(const ReplaySession& session,
                                          const std::vector<size_t>& entries,
                                          std::vector<size_t>& done) {
  const std::string job = joined(session.scratch.path(), "job");
  const std::string answers = joined(session.scratch.path(), "answers");
  const std::string trace = joined(
      session.scratch.path(),
      session.file.head.tracer == CollectorTracer::kNsys ? "trace.sqlite" : "trace.assaytrace");
  for (const std::string& old : {answers, trace}) ASSAY_TRY(remove_file(old));
  ASSAY_TRY(export_file(job, replay_job_text(session.plan, entries, session.verb.job)));
  std::vector<std::string> program = session.program;
  program.insert(program.end(), {job, answers});
  const auto command = traced_command(session, trace, program);
  ASSAY_TRY_ASSIGN(const ChildResult ended, run_child(command, false));
  ASSAY_TRY_ASSIGN(ReplayAnswers found, read_replay_answers(answers, session.plan.entries.size()));
  if (ended.exit_code == kCannotWrite) {
    return Error{ErrorCode::kIo, "assay-replay cannot write what it measured", answers, -1};
  }
  std::string why_not;
  auto kernels = kernels_of(session, trace, why_not);
  std::vector<ReplayEntry> made;
  for (ReplayAnswer& answer : found.answers) {
    done.push_back(answer.entry);
    made.push_back(entry_from(session, std::move(answer), kernels, why_not));
  }
  if (found.unfinished && !interrupt_asked()) {
    done.push_back(*found.unfinished);
    ReplayEntry entry;
    entry.key = session.plan.entries[*found.unfinished].key;
    entry.status = ReplayStatus::kFailed;
    entry.reason = fmt::format("the program ended in it with code {}", ended.exit_code);
    made.push_back(std::move(entry));
  }
  if (made.empty() && !interrupt_asked()) {
    return Error{ErrorCode::kIo,
                 fmt::format("ends with code {} before the first entry", ended.exit_code),
                 command[0], -1};
  }
  return made;
}

Status replay_all(const ReplaySession& session, std::vector<size_t> open,
                  const ReplayCache& cache) {
  const StopOnInterrupt stop;
  while (!open.empty() && !interrupt_asked()) {
    const std::vector<size_t> now(open.begin(),
                                  open.begin() + std::min<size_t>(open.size(), session.verb.batch));
    std::vector<size_t> done;
    ASSAY_TRY_ASSIGN(std::vector<ReplayEntry> made, run_once(session, now, done));
    for (size_t i = 0; i < made.size(); ++i) {
      cache.keep(session.plan.entries[done[i]], made[i]);
      session.file.entries.push_back(std::move(made[i]));
    }
    // Save after every batch, so that an interrupted replay can resume.
    ASSAY_TRY(export_file(session.verb.output, replay_file_json(session.file)));
    std::erase_if(open, [&done](size_t entry) {
      return std::find(done.begin(), done.end(), entry) != done.end();
    });
    fmt::print(stderr, "{} of {} kernels\n", session.file.entries.size(),
               session.plan.entries.size());
  }
  if (open.empty()) return Ok{};
  return Error{ErrorCode::kIo, "interrupted; the same command goes on from here",
               session.verb.output, -1};
}

// True if both are replays of the same entries on the same system, so that earlier results count.
bool continues(const ReplayFile& before, const ReplayFile& now) {
  return before.head.tracer == now.head.tracer && before.head.warmups == now.head.warmups &&
         before.head.runs == now.head.runs && before.head.driver == now.head.driver &&
         before.through == now.through && before.gpu.name == now.gpu.name &&
         before.gpu.uuid == now.gpu.uuid && before.framework == now.framework;
}

// Takes results that need no run: from an earlier part of this replay, skipped by rule, or from the
// cache. Returns the remaining entries.
Result<std::vector<size_t>> take_known(const ReplayVerb& verb, const ReplayPlan& plan,
                                       const ReplayCache& cache, ReplayFile& file) {
  std::map<std::string, ReplayEntry> before;
  if (!verb.fresh && file_exists(verb.output)) {
    ASSAY_TRY_ASSIGN(ReplayFile earlier, read_replay_file(verb.output));
    if (!continues(earlier, file)) {
      return Error{ErrorCode::kInvalidArgument,
                   "is there already, of another device, PyTorch, tracer, --dispatch-through or number of "
                   "runs: give another name, or --no-resume to begin anew",
                   verb.output, -1};
    }
    for (ReplayEntry& entry : earlier.entries) {
      // Retry missing operators if libraries are given.
      const bool again = entry.status == ReplayStatus::kOpMissing && !verb.libraries.empty();
      if (!again) before.emplace(entry.key, std::move(entry));
    }
  }
  std::vector<size_t> open;
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    const ReplayRequest& request = plan.entries[i];
    if (const auto known = before.find(request.key); known != before.end()) {
      file.entries.push_back(std::move(known->second));
    } else if (is_dynamic_operator(request.op)) {
      file.entries.push_back({.key = request.key,
                              .status = ReplayStatus::kSkippedDynamic,
                              .reason = request.op + " depends on values, or waits for the device",
                              .candidates = {}});
    } else if (request.op.empty()) {
      file.entries.push_back({.key = request.key,
                              .status = ReplayStatus::kFailed,
                              .reason = "the trace names no operator for it",
                              .candidates = {}});
    } else if (auto kept = cache.find(request)) {
      file.entries.push_back(std::move(*kept));
    } else {
      open.push_back(i);
    }
  }
  return open;
}

void say_result(const ReplayPlan& plan, const ReplayFile& file, const std::string& output) {
  std::map<ReplayStatus, size_t> counts;
  for (const ReplayEntry& entry : file.entries) ++counts[entry.status];
  fmt::print(stderr,
             "{}: {} of {} kernels replayed through {}, {} skipped, {} unknown to this PyTorch, {} "
             "failed\n",
             output, counts[ReplayStatus::kOk], plan.entries.size(),
             replay_through_words(file.through), counts[ReplayStatus::kSkippedDynamic],
             counts[ReplayStatus::kOpMissing], counts[ReplayStatus::kFailed]);
  std::map<std::string, size_t> reasons;
  for (const ReplayEntry& entry : file.entries) {
    if (entry.status == ReplayStatus::kFailed || entry.status == ReplayStatus::kOpMissing) {
      ++reasons[entry.reason];
    }
  }
  for (const auto& [reason, count] : reasons) fmt::print(stderr, "  {} x {}\n", count, reason);
  if (file.head.tracer == CollectorTracer::kHost) {
    fmt::print(stderr,
               "On a CPU only the calls are timed: no kernels, and nothing for assay overhead.\n");
  }
}

Status replay(ReplayVerb verb) {
  if (verb.database.empty())
    return usage("which kernel database? assay replay db.json -o replay.json");
  if (verb.output.empty()) return usage("-o is needed: the file to write");
  if (!verb.build && !through_python(verb) && verb.python != ReplayVerb().python)
    return usage("--python goes with --build or --dispatch-through python: nothing else runs Python");
  ASSAY_TRY_ASSIGN(const ReplayPlan plan, read_kernel_database(verb.database));
  ASSAY_TRY(check_export(verb.output, {verb.database}));
  ASSAY_TRY_ASSIGN(const std::vector<std::string> program, find_program(verb));
  ASSAY_TRY_ASSIGN(const ReplayProgram about, ask_program(verb, program));
  name_libraries(verb.libraries);
  verb.job.device = verb.device == "auto" ? about.device : verb.device;
  if (verb.job.device == "cuda" && about.device != "cuda") {
    return usage("--device cuda: PyTorch " + about.torch + " of " + program.front() +
                 " sees no GPU");
  }
  ReplayFile file;
  ASSAY_TRY_ASSIGN(file.head.tracer, choose_tracer(verb, verb.job.device));
  file.head.warmups = verb.job.warmups;
  file.head.runs = verb.job.runs;
  file.framework = "PyTorch " + about.torch;
  file.through = replay_through_from(verb.through).value_or(ReplayThrough::kCpp);
  file.gpu.name = "cpu";
  if (verb.job.device == "cuda") {
    file.gpu = about.gpu;
    file.head.driver = about.driver;
    if (file.gpu.name.empty()) return usage("the driver does not name its GPU");
    if (!about.labels) {
      return usage(through_python(verb)
                       ? "torch.cuda.nvtx makes no ranges here: the tracer could not separate calls"
                       : "assay-replay was compiled without NVTX and no libnvToolsExt is here: the "
                         "tracer could not separate its calls; build it where CUDA's headers are");
    }
    if (!plan.gpu.empty() && plan.gpu != file.gpu.name) {
      return usage("the database is of a trace on " + plan.gpu + ", this machine has " +
                   file.gpu.name + ": replay it on the trace's");
    }
  }
  const ReplayCache cache(file, !verb.no_cache);
  ASSAY_TRY_ASSIGN(const std::vector<size_t> open, take_known(verb, plan, cache, file));
  ASSAY_TRY(export_file(verb.output, replay_file_json(file)));
  ASSAY_TRY_ASSIGN(const Temporary scratch, temporary_folder("assay-replay-"));
  ASSAY_TRY(replay_all({verb, plan, program, file, scratch}, open, cache));
  say_result(plan, file, verb.output);
  return Ok{};
}

}  // namespace

void add_replay_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<ReplayVerb>();
  Verb& sub = app.verb(
      "replay", "Run the operators of a kernel database one by one and measure their launches");
  sub.example("assay replay kernels.json -o replay.json");
  sub.input("database", verb->database, "of assay overhead TRACE --export-kernel-db FILE");
  sub.option("-o,--output", verb->output, "file to write; one that is there is gone on with")
      .called("FILE");
  sub.option("--device", verb->device, "auto, cuda or cpu")
      .one_of({"auto", "cuda", "cpu"})
      .shows_default();
  sub.option("--tracer", verb->tracer, "auto, cupti (assay record), nsys or none")
      .one_of({"auto", "cupti", "nsys", "none"})
      .shows_default();
  sub.option("--warmups", verb->job.warmups, "calls that do not count").shows_default();
  sub.option("--runs", verb->job.runs, "calls that do").between(1, 1000000).shows_default();
  sub.option("--seconds-per-kernel", verb->job.entry_seconds, "most time for one kernel")
      .more_than_zero()
      .shows_default();
  sub.option("--batch", verb->batch, "kernels per process; the file is written after each")
      .between(1, 100000)
      .shows_default();
  sub.flag("--no-resume", verb->fresh, "do not go on with the file that is there");
  sub.flag("--no-cache", verb->no_cache, "measure anew what was measured before");
  sub.option("--library", verb->libraries,
             "a shared object that registers operators (fbgemm's, a project's own), loaded "
             "before the replay; may be repeated")
      .existing_file()
      .called("FILE");
  sub.option("--dispatch-through", verb->through,
             "cpp (assay-replay calls the dispatcher) or python (the Python of --python calls "
             "torch.ops, as TaxBreak does; dispatch then includes Python's binding)")
      .one_of({"cpp", "python"})
      .shows_default();
  sub.option("--program", verb->program, "assay-replay, or the script of Python, to run")
      .called("FILE");
  sub.flag("--build", verb->build, "compile assay-replay against the PyTorch of --python");
  sub.option("--python", verb->python, "the Python for --build and --dispatch-through python")
      .shows_default()
      .called("PROGRAM");
  sub.run([verb, &exit_code] {
    if (verb->build && through_python(*verb)) {
      exit_code = fail(usage("--build compiles assay-replay; --dispatch-through python needs no build"));
      return;
    }
    if (verb->build) {
      exit_code = build_for_torch("replay", verb->python);
      if (exit_code != kExitFine || verb->database.empty()) return;
    }
    const Status status = replay(*verb);
    exit_code = status ? kExitFine : fail(status.error());
  });
}

}  // namespace assay
