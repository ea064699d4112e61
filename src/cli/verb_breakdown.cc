#include <memory>
#include <utility>

#include "answers/breakdown/breakdown.h"
#include "answers/breakdown/configs.h"
#include "cli/breakdown_configs.h"
#include "cli/breakdown_counters.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/telemetry_flags.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct BreakdownVerb {
  CommonOptions common;
  std::string map_file;
  std::string definition = "assay";
  std::string group_by;
  std::string where;
  std::string stats;
  double min_share = 0.01;
  bool roof = false;
  std::string explain;
  std::vector<std::string> captures;
  ConfigFlags configs;
  TelemetryFlags telemetry;
  CounterFlags counters;
};

Result<BreakdownRequest> breakdown_request(const BreakdownVerb& verb) {
  BreakdownRequest request{
      .traces = traces_of(verb.common),
      .map_file = verb.map_file,
      .grouped = !verb.group_by.empty() || !verb.where.empty() || !verb.stats.empty(),
      .min_share = verb.min_share,
      .counters = counter_request(verb.counters),
      .explain = verb.explain,
      .roof = verb.roof,
      .captures = verb.captures};
  if (verb.definition == "chopper") request.definition = LevelDefinition::kChopper;
  ASSAY_TRY_ASSIGN(request.query, parse_level_query(verb.group_by, verb.where, verb.stats));
  ASSAY_TRY_ASSIGN(request.telemetry, telemetry_request(verb.telemetry));
  return request;
}

Result<Answer> analyze(const BreakdownVerb& verb) {
  ASSAY_TRY_ASSIGN(BreakdownRequest request, breakdown_request(verb));
  if (verb.configs.configs.empty() && verb.common.inputs.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "breakdown needs traces, or configurations: --config NAME=PATH", "", -1};
  }
  if (request.roof && (request.grouped || !verb.configs.configs.empty())) {
    return Error{ErrorCode::kInvalidArgument,
                 "--roofline shows operators against the GPU and nothing else: leave out --config, "
                 "--group-by, --where and --stat",
                 "", -1};
  }
  if (!request.explain.empty() &&
      (request.roof || request.grouped || !verb.configs.configs.empty())) {
    return Error{ErrorCode::kInvalidArgument,
                 "--explain-attribution shows the evidence of kernels and nothing else: leave out "
                 "--roofline, --config, --group-by, --where and --stat",
                 "", -1};
  }
  if (verb.configs.configs.empty()) return answer_breakdown(request);
  if (!verb.captures.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "--capture goes with traces: the figures of --config need no recording", "", -1};
  }
  if (!verb.common.inputs.empty()) {
    return Error{
        ErrorCode::kInvalidArgument,
        "traces together with --config: give each set of traces a name with --config NAME=PATH",
        verb.common.inputs.front(), -1};
  }
  ASSAY_TRY_ASSIGN(const LevelConfigsRequest configs,
                   level_configs_request(verb.configs, std::move(request)));
  return answer_level_configs(configs);
}

int run(const BreakdownVerb& verb) { return write_answer(analyze(verb), verb.common); }

}  // namespace

void add_breakdown_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<BreakdownVerb>();
  Verb& sub = app.verb("breakdown",
                       "Break GPU time down: kernel, operation, layer, phase, iteration and job");
  sub.example("assay breakdown trace.json.gz");
  sub.example("assay breakdown trace.json.gz --roofline", "distance to the roofline");
  add_common_options(sub, verb->common, true);
  add_figure_option(sub, verb->common);
  sub.declared("traces").required(false);
  add_config_options(sub, verb->configs);
  add_telemetry_options(sub, verb->telemetry);
  add_counter_options(sub, verb->counters);
  sub.flag("--roofline", verb->roof,
           "compare each operator with the roofline, by shapes: FLOP/s, bytes/s, time above the "
           "roofline");
  sub.option("--explain-attribution", verb->explain,
             "why kernels with this in their names are attributed as they are: records around "
             "their launches and the deciding rule; * and ? make a pattern")
      .called("KERNEL");
  add_capture_option(sub, verb->captures);
  sub.option("--attribution-rules", verb->map_file,
             "rules that say which operation, layer and phase a label, module, operator or "
             "kernel is (docs/formats/breakdown_map.md)")
      .called("FILE");
  sub.option("--definition", verb->definition,
             "assay, or chopper: launch overhead as the published tool computes it")
      .one_of({"assay", "chopper"})
      .shows_default();
  sub.option("--group-by", verb->group_by,
             "keys of the table of groups: gpu,iter,phase,layer,op,op_type")
      .called("KEYS");
  sub.option("--where", verb->where,
             "cells that count, e.g. gpu=3,iter=2..5,op=mlp_*; + separates alternatives")
      .called("CELLS");
  sub.option("--stat", verb->stats,
             // language: allow too_many_commas
             "over the samples of a group: median, mean, min, max, p25, p75, p95, sum")
      .called("STAT");
  sub.option("--min-share", verb->min_share, "merge tree nodes below this share of the total")
      .between(0.0, 1.0)
      .shows_default();
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
