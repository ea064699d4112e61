#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include "base/decimal.h"
#include "cli/common.h"
#include "cli/throughput_content.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"
#include "report/run/section.h"
#include "report/throughput/fit.h"
#include "report/throughput/section.h"

namespace assay {
namespace {

struct SuggestVerb {
  CommonOptions common;
  BenchFlags bench;
  FitFlags fit;
  PointFlags points;
  Goal goal;
  size_t top = 5;
};

Result<Document> measure_next(const SuggestVerb& verb, const FittedModel& model,
                              const std::vector<BenchRow>& asked) {
  const std::vector<BenchRow> candidates = unmeasured_points(model.predictor->rows());
  // What could be measured: holes of the table, and the points asked about themselves.
  std::vector<BenchRow> all = asked;
  all.insert(all.end(), candidates.begin(), candidates.end());
  ASSAY_TRY_ASSIGN(
      const MeasureNext next,
      suggest_measurements(*model.predictor, asked.empty() ? candidates : asked, all, verb.top));
  Document document = new_document("Throughput: what to measure next");
  document.verdict = throughput_measure_words(next);
  document.sections.push_back(throughput_measure_section(next));
  return document;
}

Result<Document> meet_goal(const SuggestVerb& verb, const FittedModel& model,
                           const std::vector<BenchRow>& asked) {
  if (asked.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "a goal needs candidates: --grid 'bb=1..256*2,ii=...,oo=...,hw=...,model=...'", "",
                 -1};
  }
  std::vector<GoalPoint> points = check_goal(*model.predictor, asked, verb.goal);
  if (verb.common.strict) {
    std::vector<const Explained*> answers;
    for (const GoalPoint& point : points) answers.push_back(&point.explained);
    ASSAY_TRY(refuse_outside(answers));
  }
  sort_by_goal(points, verb.goal);
  Document document = new_document("Throughput: what meets a goal");
  document.verdict = throughput_goal_words(verb.goal, points);
  document.sections.push_back(throughput_goal_section(verb.goal, points));
  return document;
}

Result<Document> suggest(const SuggestVerb& verb) {
  ASSAY_TRY_ASSIGN(const FittedModel model, load_model(verb.bench, verb.fit, verb.points));
  if (model.ala) {
    return Error{ErrorCode::kInvalidArgument,
                 "is a model of ALA, which has no intervals to narrow or to hold against a goal: "
                 "give the table, or a model of --method assay",
                 name_of(verb.bench), -1};
  }
  const std::vector<BenchRow>& asked = model.asked;
  const bool has_goal = verb.goal.latency_ms || verb.goal.tokens_per_s;
  ASSAY_TRY_ASSIGN(Document document,
                   has_goal ? meet_goal(verb, model, asked) : measure_next(verb, model, asked));
  document.inputs.push_back({name_of(verb.bench), {}});
  document.import_log = import_notes(model);
  add_notes(model, document);
  document.sections.push_back(trust_section(throughput_trust(model.fit, *model.predictor)));
  return document;
}

int run(const SuggestVerb& verb) {
  auto document = suggest(verb);
  if (!document) return fail(document.error());
  return write_document(*document, verb.common, has_lost_rows(*document));
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
