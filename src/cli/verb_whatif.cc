#include <memory>
#include <string>
#include <vector>

#include "answers/whatif.h"
#include "base/export_file.h"
#include "cli/common.h"
#include "cli/facts_option.h"
#include "cli/options.h"
#include "cli/other_gpu_options.h"
#include "cli/untraced_option.h"
#include "cli/verbs.h"
#include "ingest/load.h"

namespace assay {
namespace {

struct WhatIfVerb {
  CommonOptions common;
  std::vector<std::string> edits;
  std::string edits_file;
  std::string freeze;
  std::string score;
  std::string facts;
  std::string peaks;
  std::string untraced;
  std::vector<std::string> captures;
  OtherGpuRequest on;
};

Result<WhatIfRequest> whatif_request(const WhatIfVerb& verb) {
  WhatIfRequest request{.traces = traces_of(verb.common),
                        .edits = verb.edits,
                        .score = verb.score,
                        .facts = verb.facts,
                        .device = verb.peaks,
                        .untraced = verb.untraced,
                        .captures = verb.captures,
                        .on = verb.on};
  ASSAY_TRY(check_other_gpu_options(verb.on));
  request.on.as_recorded |= request.untraced == "none";
  if (!verb.edits_file.empty()) {
    ASSAY_TRY_ASSIGN(const std::vector<std::string> more, read_edits_file(verb.edits_file));
    request.edits.insert(request.edits.end(), more.begin(), more.end());
  }
  if (verb.freeze.empty()) return request;
  if (request.edits.empty() && !request.on.is_asked()) {
    return Error{
        ErrorCode::kInvalidArgument,
        "--save-prediction writes down what edits or other GPUs give: name them with --edit "
        "or --on",
        "", -1};
  }
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(verb.common.inputs));
  ASSAY_TRY(check_export(verb.freeze, files));
  request.freeze = [&verb](const std::string& prediction) {
    return export_file(verb.freeze, prediction);
  };
  return request;
}

int run(const WhatIfVerb& verb) {
  const auto request = whatif_request(verb);
  if (!request) return fail(request.error());
  return write_answer(answer_whatif(*request), verb.common);
}

struct WhyVerb {
  CommonOptions common;
  WhyRequest request;
};

}  // namespace

void add_whatif_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<WhatIfVerb>();
  Verb& sub =
      app.verb("whatif", "Simulate a change: replay the run with it, with an interval");
  sub.example("assay whatif trace.json.gz", "what applies, by gain");
  sub.example("assay whatif trace.json.gz --edit sync --edit 'kernel:*gemm*=0.8'");
  sub.example("assay whatif trace.json.gz --on H200,B200", "would another GPU help?");
  sub.example("assay whatif trace.json.gz --on H200,B200 --prices prices.csv", "at what cost?");
  sub.example("assay whatif before.json.gz --edit input --save-prediction input.ini", "and later");
  sub.example("assay whatif after.json.gz --check-prediction input.ini");
  sub.example("assay whatif h100.json.gz --on H200 --save-prediction h200.ini", "was it right?");
  add_common_options(sub, verb->common, true);
  sub.option("--edit", verb->edits,
             // language: allow too_many_commas
             // language: allow sentence_too_long
             // language: allow roof
             // language: allow pause
             "a change to replay, once per change: sync[:CALL], input, alloc, warm, host[=F], "
             "pauses, roof[:OP], faster_cpu[=F], kernel:NAME[=F], family:KIND[=F], op:NAME[=F], "
             "frame:NAME[=F], call:NAME[=F], copies, comm, cuda_graph, attention, fuse:A+B, skew. "
             "Names take * and ?; F is the remaining fraction of the time (for faster_cpu, the "
             "speedup). Default: every action that applies")
      .one_per_mention()
      .called("EDIT");
  sub.option("--edits", verb->edits_file, "a file of edits, one a line").called("FILE");
  sub.option("--save-prediction", verb->freeze,
             "also write down what these edits or GPUs give, to be scored by the other recording")
      .called("FILE");
  sub.option("--check-prediction", verb->score,
             "compare a saved prediction with this trace")
      .called("FILE")
      .not_with("--edit")
      .not_with("--edits")
      .not_with("--save-prediction");
  add_other_gpu_options(sub, verb->on)
      .not_with("--edit")
      .not_with("--edits")
      .not_with("--check-prediction");
  sub.option("--peaks", verb->peaks,
             // language: allow roof
             "with --edit roof, --on or --check-prediction: name of the recorded GPU, if the trace "
             "has none")
      .called("NAME");
  add_part_option(sub, verb->common);
  add_untraced_option(sub, verb->untraced);
  sub.declared("--untraced")
      .not_with("--as-recorded")
      .not_with("--save-prediction")
      .not_with("--check-prediction");
  add_facts_option(sub, verb->facts);
  add_capture_option(sub, verb->captures);
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

void add_why_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<WhyVerb>();
  Verb& sub =
      app.verb("why", "Why the GPU was idle: causes, the events that cause them, and the critical "
                      "path");
  sub.example("assay why trace.json.gz");
  sub.example("assay why trace.json.gz --format json | jq .path.parts");
  add_common_options(sub, verb->common, true);
  add_part_option(sub, verb->common);
  add_untraced_option(sub, verb->request.untraced);
  sub.flag("--rules", verb->request.rules,
           "also every rule of the diagnosis, its condition and whether it holds (docs/rules.md)");
  sub.run([verb, &exit_code] {
    verb->request.traces = traces_of(verb->common);
    exit_code = write_answer(answer_why(verb->request), verb->common);
  });
}

}  // namespace assay
