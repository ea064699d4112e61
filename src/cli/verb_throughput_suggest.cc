#include <CLI/CLI.hpp>
#include <memory>

#include "answers/throughput/throughput.h"
#include "base/decimal.h"
#include "cli/common.h"
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

void add_throughput_suggest_verb(CLI::App& throughput, int& exit_code) {
  auto verb = std::make_shared<SuggestVerb>();
  CLI::App* sub = throughput.add_subcommand(
      "suggest", "Which measurement would help most, or which batch size meets a goal");
  add_bench_options(*sub, verb->bench);
  sub->get_option("table")->description("a model file of `assay throughput fit`, or a table");
  add_common_options(*sub, verb->common, false);
  sub->get_option("--strict")
      ->description(
          "refuse a goal when a candidate is outside the reach of the data, and leave with 3 when "
          "data was lost on import");
  add_fit_options(*sub, verb->fit);
  add_point_options(*sub, verb->points);
  sub->add_option("--latency-ms", verb->goal.latency_ms,
                  "goal: the whole run takes at most this long, with 95 % confidence")
      ->check(CLI::PositiveNumber);
  sub->add_option("--tokens-per-s", verb->goal.tokens_per_s,
                  "goal: at least this many input and output tokens per second, with 95 % "
                  "confidence")
      ->check(CLI::PositiveNumber);
  sub->add_option("--top", verb->top, "suggestions listed, 0 for all")
      ->check([](const std::string& text) {
        uint64_t count = 0;
        return parse_uint64(text, count) ? std::string() : "needs a whole number, 0 for all";
      })
      ->capture_default_str();
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
