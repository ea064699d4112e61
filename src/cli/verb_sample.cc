#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "collect/sample/sampler.h"
#include "text/plain_text.h"

namespace assay {
namespace {

using sample::SampleOptions;
using sample::SampleSummary;

struct SampleVerb {
  SampleOptions options;
  bool strict = false;
};

void say(const std::string& line) { fmt::print(stderr, "assay: {}\n", clean_text(line)); }

std::string counted(uint64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Text such as " (NVML)": the libraries that provided GPU samples.
std::string sources_of(const SampleSummary& summary) {
  std::string names;
  for (const SampledGpu& gpu : summary.gpus) {
    if (names.find(gpu.source) != std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + gpu.source;
  }
  return names.empty() ? "" : " (" + names + ")";
}

// Prints samples, cost and missing data on stderr, because stdout belongs to the command.
void tell(const SampleSummary& summary, const SampleOptions& options) {
  say(fmt::format("{} in {:.1f} s at {:g} a second, {} missed: {}{}, {}",
                  counted(summary.ticks, "sample"), summary.elapsed_s, options.hz, summary.missed,
                  counted(summary.logical_cpus, "logical core"),
                  summary.physical_cores > 0
                      ? fmt::format(" on {}", counted(summary.physical_cores, "physical one"))
                      : "",
                  counted(summary.gpus.size(), "GPU") + sources_of(summary)));
  if (summary.elapsed_s >= 1) {
    say(fmt::format("the sampler took {:.3f} s of CPU time, {:.2f} % of one core", summary.cpu_s,
                    100 * summary.cpu_s / summary.elapsed_s));
  }
  for (const std::string& note : summary.notes) say(note);
  if (summary.missed > 0) {
    say("missed ticks are holes in the log: the machine was too busy, or the rate is too high");
  }
  if (summary.clock_steps > 0) {
    say(
        fmt::format("the wall clock was set {} meanwhile: times before and after do not fit "
                    "together, and the file says where",
                    counted(summary.clock_steps, "time")));
  }
  if (summary.empty_reads > 0) {
    say(fmt::format("{} of a GPU gave nothing at all", counted(summary.empty_reads, "reading")));
  }
  if (summary.failure) say(summary.failure->describe());
  if (options.output != "-" && !summary.failure) say("wrote " + options.output);
}

int run(const SampleVerb& verb) {
  auto summary = sample::run_sampler(verb.options);
  if (!summary) {
    const int code = fail(summary.error());
    const int unstartable = sample::unstartable_code(verb.options.command);
    return unstartable != 0 ? unstartable : code;
  }
  tell(*summary, verb.options);
  if (summary->command_exit.value_or(0) != 0) return *summary->command_exit;
  if (summary->failure && verb.options.command.empty()) return kExitError;
  const bool lost = summary->failure || summary->missed > 0 || summary->clock_steps > 0;
  return lost && verb.strict ? kExitDataLost : kExitFine;
}

}  // namespace

void add_sample_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<SampleVerb>();
  Verb& sub = app.verb(
      "sample",
      "Sample cores and GPUs during a job: utilization, clocks, power, temperature, both clocks");
  sub.example("assay sample -o samples.csv -- python train.py");
  sub.option("-o,--output", verb->options.output,
             "file to write (docs/formats/samples.md), - for stdout")
      .required()
      .called("FILE");
  sub.option("--hz", verb->options.hz, "samples a second")
      .between(sample::kLeastHz, sample::kMostHz)
      .shows_default();
  sub.option("--pid", verb->options.pid, "sample until this process ends").more_than_zero();
  sub.flag("--strict", verb->strict,
           "exit with 3 when samples were lost (where the command's own code is 0)");
  sub.input("command", verb->options.command,
            "after --, a command to run: sample until it ends, and exit with its code (127 if not "
            "found, 126 if it cannot be run)")
      .not_with("--pid");
  verb->options.tool = fmt::format("assay {}", kVersion);
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
