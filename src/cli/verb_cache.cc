#include <fmt/format.h>

#include <memory>

#include "base/files.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "ingest/columnar/file.h"
#include "ingest/load.h"

namespace assay {
namespace {

struct CacheVerb {
  std::string input;
  std::string output;
  unsigned threads = 0;
  bool allow_truncated = false;
};

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
  ASSAY_TRY(check_names(verb));
  ASSAY_TRY_ASSIGN(const SourceStamp stamp, stamp_source(verb.input));
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
  sub.input("trace", verb->input, "a trace file, as the other verbs take it").required();
  sub.option("-o,--output", verb->output, "the file to write, e.g. trace.assay")
      .called("FILE")
      .required();
  sub.option("--threads", verb->threads, "threads for reading; 0 = all processors")
      .between(0, 1024);
  sub.flag("--allow-truncated", verb->allow_truncated,
           "keep what lies before the cut of a truncated file instead of refusing it");
  sub.run([verb, &exit_code] {
    if (Status status = make_cache(*verb); !status) exit_code = fail(status.error());
  });
}

}  // namespace assay
