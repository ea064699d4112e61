#include <memory>

#include "answers/throughput/throughput.h"
#include "cli/bench_flags.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct PlanVerb : PlanRequest {
  CommonOptions common;
};

int run(PlanVerb& verb) {
  verb.listener = verb.common.listener;
  return write_answer(answer_plan(verb), verb.common);
}

void add_question_options(Verb& sub, PlanVerb& verb) {
  sub.option("--model", verb.model, "the model to serve, as rows or facts call it")
      .required()
      .called("NAME");
  sub.option("--isl", verb.in_len, "tokens of a prompt, in the mean").more_than_zero();
  sub.option("--osl", verb.out_len, "tokens of an answer, in the mean").more_than_zero();
  sub.option("--rate", verb.per_s, "requests that arrive per second").more_than_zero();
  sub.option("--requests", verb.requests,
             "a trace of requests (TIMESTAMP, ContextTokens, GeneratedTokens) in place of lengths "
             "and rate: means, and the minute that 95 % of the minutes do not exceed")
      .called("FILE");
  sub.option("--ttft-ms", verb.ttft_ms, "limit on the time to the first token")
      .required()
      .more_than_zero();
  sub.option("--tpot-ms", verb.tpot_ms, "limit on the time per token after it")
      .required()
      .more_than_zero();
  sub.option("--percentile", verb.percentile, "share of requests that must keep the limits")
      .between(0.01, 0.999)
      .shows_default();
  sub.option("--confidence", verb.confidence, "probability that a plan must have to be called sure")
      .between(0.5, 0.999)
      .shows_default();
  sub.option("--burstiness", verb.burstiness,
             "squared coefficient of variation of the gaps between requests [1, Poisson; or what "
             "--requests has]")
      .between(1.0, 100.0);
}

}  // namespace

void add_throughput_plan_verb(Verb& throughput, int& exit_code) {
  auto verb = std::make_shared<PlanVerb>();
  Verb& sub = throughput.verb(
      "plan", "The cheapest GPUs that serve a model at a rate within limits on latency");
  sub.example("assay throughput plan table.csv --model Qwen3-32B --isl 2048 --osl 200 \\");
  sub.example("    --rate 20 --ttft-ms 500 --tpot-ms 50 --prices prices.csv");
  add_bench_options(sub, verb->bench);
  sub.declared("table").says("a table or results with TTFT and TPOT");
  add_common_options(sub, verb->common, false);
  add_question_options(sub, *verb);
  sub.option("--prices", verb->prices,
             "CSV with gpu, usd_per_gpu_hour and optional watts, gpus_per_node, nodes; default: "
             "search for the fewest GPUs of the table")
      .called("FILE");
  sub.option("--engine", verb->engines, "only these engines, as the rows call them")
      .separated_by(',')
      .one_per_mention()
      .called("NAME");
  sub.option("--precision", verb->precisions, "only these precisions, as the rows call them")
      .separated_by(',')
      .one_per_mention()
      .called("NAME");
  sub.option("--engine-version", verb->version,
             "the engine's version, as in the rows; default: a version without measurements")
      .called("VERSION");
  sub.option("--max-gpus", verb->max_gpus, "no more GPUs than this in all, 0 for what is offered")
      .shows_default();
  sub.option("--rank", verb->rank, "what is best: dollars, GPUs, joules a token, or TPOT")
      .one_of({"dollar", "gpu", "joule", "user"})
      .shows_default();
  sub.flag("--measured-only", verb->measured_only, "only configurations that have rows");
  sub.flag("--refit", verb->refit,
           "search for the kernel's parameters on this table instead of taking those found on "
           "public data");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
