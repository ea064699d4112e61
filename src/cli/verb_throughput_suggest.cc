#include <memory>

#include "answers/throughput/throughput.h"
#include "base/decimal.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct SuggestVerb : SuggestRequest {
  CommonOptions common;
};

int run(SuggestVerb& verb) {
  verb.inside_only = verb.common.strict;
  verb.listener = verb.common.listener;
  return write_answer(answer_suggestion(verb), verb.common);
}

}  // namespace

void add_throughput_suggest_verb(Verb& throughput, int& exit_code) {
  auto verb = std::make_shared<SuggestVerb>();
  Verb& sub = throughput.verb(
      "suggest", "Which measurement would help most, or which batch size meets a goal");
  sub.example("assay throughput suggest model.json", "what to measure next");
  sub.example("assay throughput suggest model.json --latency-ms 2000", "what meets it");
  add_bench_options(sub, verb->bench);
  sub.declared("table").says("a model file of `assay throughput fit`, or a table");
  add_common_options(sub, verb->common, false);
  sub.declared("--strict")
      .says(
          "refuse a goal when a candidate is outside the range of the data; exit with status 3 "
          "when data was lost on import");
  add_fit_options(sub, verb->fit);
  add_point_options(sub, verb->points);
  sub.option("--latency-ms", verb->goal.latency_ms,
             "goal: the whole run takes at most this long, with 95 % confidence")
      .more_than_zero();
  sub.option("--tokens-per-s", verb->goal.tokens_per_s,
             "goal: at least this many input and output tokens per second, with 95 % "
             "confidence")
      .more_than_zero();
  sub.option(
         "--rank", verb->rank,
         "what is best among candidates that meet a goal: most tokens/s per device (gpu), or of "
         "all devices together (total)")
      .one_of({"gpu", "total"})
      .shows_default();
  sub.option("--top", verb->top, "suggestions listed, 0 for all")
      .checked_by([](const std::string& text) {
        uint64_t count = 0;
        return parse_uint64(text, count) ? std::string() : "needs a whole number, 0 for all";
      })
      .shows_default();
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
