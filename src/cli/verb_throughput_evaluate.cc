#include <memory>

#include "answers/throughput/throughput.h"
#include "cli/bench_flags.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct EvaluateVerb : EvaluateRequest {
  CommonOptions common;
};

int run(EvaluateVerb& verb) {
  verb.listener = verb.common.listener;
  return write_answer(answer_evaluation(verb), verb.common);
}

}  // namespace

void add_throughput_evaluate_verb(Verb& throughput, int& exit_code) {
  auto verb = std::make_shared<EvaluateVerb>();
  Verb& sub = throughput.verb(
      "evaluate", "Hold rows of a table out and measure the error of each method on them");
  sub.example("assay throughput evaluate table.csv --split S5", "unseen configurations");
  sub.example("assay throughput evaluate public.csv --judge mine/",
              "does what public rows teach hold here?");
  add_bench_options(sub, verb->bench);
  sub.option("--judge", verb->judge.tables,
             "learn from the whole table and give the errors of TTFT, TPOT and end to end on this "
             "other table; in place of splits")
      .one_per_mention()
      .called("TABLE");
  sub.option("--judge-map", verb->judge.maps, "as --columns, for the table of --judge")
      .one_per_mention()
      .called("ROLE=TITLE");
  sub.option("--judge-meta", verb->judge.metas,
             "as --constants, for the table of --judge: 'hardware=H100,n=4' of a client's results, say")
      .one_per_mention()
      .called("ROLE=VALUE");
  add_common_options(sub, verb->common, false);
  add_figure_option(sub, verb->common);
  sub.option(
         "--split", verb->splits,
         // language: allow too_many_commas
         // language: allow sentence_too_long
         "held out: S1 length pair, S2 random rows, S3 larger batches, S4 longer lengths, S5 "
         "configuration, S6 one model, S7 one hardware, all of these, S8 benchmark run (engine "
         "version and day), latency (TTFT, TPOT and end to end in all these ways), or figure6 "
         "(four shapes of a training set)")
      .separated_by(',')
      .one_per_mention()
      .shows_default()
      .called("SPLIT");
  sub.option("--method", verb->methods,
             // language: allow too_many_commas
             // language: allow sentence_too_long
             "assay, latency (by TTFT and TPOT, if rows have them), ala, a baseline (linear, "
             "xgboost, forest, boosting, each also with -pooled), baselines, nearest-gpu (of a "
             "GPU left out: S7), or all")
      .separated_by(',')
      .one_per_mention()
      .shows_default()
      .called("METHOD");
  sub.flag("--time", verb->timing,
           "measure how long each fold takes (ALA, Figures 7c and 7d); the only figures that "
           "differ from run to run");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
  add_throughput_anneal_verb(throughput, exit_code);
}

}  // namespace assay
