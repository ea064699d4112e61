#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "answers/job/summarize.h"
#include "cli/common.h"
#include "cli/launcher.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "ingest/formats.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {
namespace {

struct SummarizeVerb {
  CommonOptions common;
  std::string out;
  std::string shard;
  bool resume = false;
};

Result<Summarized> summarize(const SummarizeVerb& verb) {
  SummarizeRequest request{.traces = verb.common, .out = verb.out, .resume = verb.resume};
  if (verb.shard == "auto") {
    ASSAY_TRY_ASSIGN(request.shard, shard_of_environment(environment_value));
  } else if (!verb.shard.empty()) {
    ASSAY_TRY_ASSIGN(request.shard, parse_shard(verb.shard));
  }
  return summarize_traces(request);
}

int run(const SummarizeVerb& verb) {
  const auto done = summarize(verb);
  if (!done) return fail(done.error());
  for (const std::string& words : unread_words(done->unread)) {
    fmt::print(stderr, "assay: {}\n", clean_text(words));
  }
  const std::string kept =
      done->kept == 0 ? "" : fmt::format(", {} had a record already", done->kept);
  const std::string where = done->written == 0
                                ? ""
                                : fmt::format(" ({}, the largest {}) in {}",
                                              format_bytes(static_cast<int64_t>(done->bytes)),
                                              format_bytes(static_cast<int64_t>(done->largest)),
                                              clean_text(done->records));
  fmt::print("{} of {}: {} written{}{}, {} not read.\n", done->written + done->kept,
             format_counted(done->files, "trace", "traces"),
             format_counted(done->written, "record", "records"), where, kept, done->unread.size());
  if (done->files > 0 && done->unread.size() == done->files) return kExitError;
  return exit_code_of_loss(done->data_lost || !done->unread.empty(), verb.common, "above");
}

}  // namespace

void add_summarize_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<SummarizeVerb>();
  Verb& sub = app.verb("summarize",
                       "A small record of each trace, for jobs of thousands of ranks (assay job)");
  sub.example("assay summarize traces/ -o records");
  add_reading_options(sub, verb->common);
  sub.input("traces", verb->common.inputs,
            trace_inputs_words() +
                ", a folder or pattern of them, or @LIST: a file of lines \"size<TAB>path\"")
      .required();
  add_window_option(sub, verb->common);
  sub.option("--kernels", verb->common.kernels,
             "what kernels are, where the built-in table does not know their names "
             "(docs/formats/kernels.md)")
      .called("FILE");
  sub.option("-o,--output", verb->out, "folder of records; what lies there stays")
      .called("DIR")
      .required();
  sub.option(
         "--shard", verb->shard,
         "read the share I (from 0) of N that are about equally large; auto: as Slurm, MPI or "
         "Kubernetes number this process")
      .called("I/N|auto");
  sub.flag("--resume", verb->resume, "leave out traces that have a record and did not change");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
