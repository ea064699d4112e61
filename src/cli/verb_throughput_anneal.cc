#include <memory>

#include "answers/throughput/throughput.h"
#include "cli/bench_flags.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct AnnealVerb : AnnealRequest {
  CommonOptions common;
};

int run(AnnealVerb& verb) {
  verb.listener = verb.common.listener;
  return write_answer(answer_annealing(verb), verb.common);
}

}  // namespace

void add_throughput_anneal_verb(Verb& throughput, int& exit_code) {
  auto verb = std::make_shared<AnnealVerb>();
  Verb& sub = throughput.verb(
      "anneal", "ALA's search for the training subset, its error predictor and its confidence");
  sub.example("assay throughput anneal table.csv");
  add_bench_options(sub, verb->bench);
  add_common_options(sub, verb->common, false);
  add_figure_option(sub, verb->common);
  sub.option("--source", verb->source,
             "rows to learn from, by the beginnings of their names: 'hardware=Nvidia "
             "H100,model=meta-llama/Llama-2-7b'; all rows when empty")
      .called("NAMES");
  sub.option("--target", verb->targets,
             "rows to evaluate the model on, chosen like --source; may be repeated")
      .one_per_mention()
      .called("NAMES");
  sub.option("--seed", verb->seeds, "one run per seed")
      .separated_by(',')
      .one_per_mention()
      .shows_default();
  sub.option("--steps", verb->steps, "steps per run").between(1, 100000).shows_default();
  sub.option("--rounds", verb->rounds, "boosting rounds per candidate")
      .between(1, 100000)
      .shows_default();
  sub.flag(
         "--exhaustive", verb->exhaustive,
         "every subset instead of annealing: a better error predictor, where there are few values")
      .not_with("--seed")
      .not_with("--steps");
  sub.flag("--baselines", verb->baselines,
           "the plain regressors on the same subsets (ALA, Figure 7b)");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
