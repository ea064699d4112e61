#include <CLI/CLI.hpp>
#include <memory>

#include "answers/throughput/throughput.h"
#include "cli/bench_flags.h"
#include "cli/common.h"
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

void add_throughput_anneal_verb(CLI::App& throughput, int& exit_code) {
  auto verb = std::make_shared<AnnealVerb>();
  CLI::App* sub = throughput.add_subcommand(
      "anneal", "ALA's search for the training subset, its error predictor and its confidence");
  add_bench_options(*sub, verb->bench);
  add_common_options(*sub, verb->common, false);
  sub->add_option("--source", verb->source,
                  "rows to learn from, by the beginnings of their names: 'hardware=Nvidia "
                  "H100,model=meta-llama/Llama-2-7b'; all rows when empty");
  sub->add_option("--target", verb->targets,
                  "rows to judge by what was learned, chosen like --source; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--seed", verb->seeds, "one run per seed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  sub->add_option("--steps", verb->steps, "steps per run")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  sub->add_option("--rounds", verb->rounds, "boosting rounds per candidate")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  CLI::Option* exhaustive = sub->add_flag(
      "--exhaustive", verb->exhaustive,
      "every subset instead of annealing: a better error predictor, where there are few values");
  exhaustive->excludes("--seed")->excludes("--steps");
  sub->add_flag("--baselines", verb->baselines,
                "the plain regressors on the same subsets (ALA, Figure 7b)");
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
