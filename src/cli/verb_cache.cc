#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "base/decimal.h"
#include "base/files.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "ingest/cached_load.h"
#include "ingest/columnar/file.h"
#include "ingest/load.h"

namespace assay {
namespace {

struct CacheVerb {
  std::string input;
  std::string output;
  unsigned threads = 0;
  bool allow_truncated = false;
  std::string prune;  // days; empty = not requested
};

int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Removes obsolete entries of --cache from the user's folder.
Status prune(const CacheVerb& verb) {
  uint64_t days = 0;
  if (!parse_uint64(verb.prune, days) || days > 100'000) {
    return Error{ErrorCode::kInvalidArgument, "--prune=" + verb.prune + ": a number of days", "",
                 -1};
  }
  ASSAY_TRY_ASSIGN(const std::string folder, default_cache_folder());
  ASSAY_TRY_ASSIGN(const PrunedCache pruned, prune_cache(folder, days, now_ns()));
  fmt::print("{}: {} cached traces removed ({:.1f} MB), {} kept ({:.1f} MB)\n", folder,
             pruned.removed, static_cast<double>(pruned.removed_bytes) / 1e6, pruned.kept,
             static_cast<double>(pruned.kept_bytes) / 1e6);
  return Ok{};
}

Status check_names(const CacheVerb& verb) {
  if (file_exists(verb.output) && !is_columnar(verb.output)) {
    return Error{ErrorCode::kInvalidArgument,
                 "exists and is no .assay file: not overwritten; name another file", verb.output,
                 -1};
  }
  if (is_columnar(verb.input)) {
    return Error{ErrorCode::kInvalidArgument, "is a .assay file already; copy it", verb.input, -1};
  }
  return Ok{};
}

Status make_cache(const CacheVerb& verb) {
  if (verb.input.empty() || verb.output.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "which trace, and where to? assay cache TRACE -o trace.assay; or --prune", "", -1};
  }
  ASSAY_TRY(check_names(verb));
  ASSAY_TRY_ASSIGN(SourceStamp stamp, stamp_source(verb.input));
  ReadProgress progress;
  const ReadOptions read{.allow_truncated = verb.allow_truncated,
                         .keep_op_inputs = true,
                         .threads = verb.threads,
                         .progress = &progress};
  Trace trace;
  {
    ProgressBar bar(verb.input, progress);
    ASSAY_TRY_ASSIGN(trace, load_trace(verb.input, read));
  }
  stamp.hash = trace.source_checksum.value_or(0);
  ASSAY_TRY(write_columnar(trace, stamp, verb.output));
  ASSAY_TRY_ASSIGN(const FileFacts written, file_facts(verb.output));
  fmt::print(stderr, "assay: wrote {} ({:.1f} MB, from {:.1f} MB)\n", verb.output,
             static_cast<double>(written.bytes) / 1e6, static_cast<double>(stamp.bytes) / 1e6);
  return Ok{};
}

}  // namespace

void add_cache_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<CacheVerb>();
  Verb& sub = app.verb(
      "cache", "Keep a trace as columns (.assay): every verb opens that in place of the trace");
  sub.example("assay cache trace.json.gz -o trace.assay");
  sub.input("trace", verb->input, "a trace file, as the other verbs take it");
  sub.option("-o,--output", verb->output, "the file to write, e.g. trace.assay").called("FILE");
  sub.flag("--prune{30}", verb->prune,
           "remove what --cache kept in ~/.cache/assay for traces that are gone or have changed, "
           "or that were not opened for so many days (30)")
      .called("[=DAYS]");
  sub.option("--threads", verb->threads, "threads for reading; 0 = all processors")
      .between(0, 1024);
  sub.flag("--allow-truncated", verb->allow_truncated,
           "keep what lies before the cut of a truncated file instead of refusing it");
  sub.run([verb, &exit_code] {
    const Status status = verb->prune.empty() ? make_cache(*verb) : prune(*verb);
    if (!status) exit_code = fail(status.error());
  });
}

}  // namespace assay
