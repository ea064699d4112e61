#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/common.h"
#include "cli/throughput_content.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"
#include "report/run/section.h"
#include "report/throughput/fit.h"
#include "report/throughput/section.h"

namespace assay {
namespace {

struct PredictVerb {
  CommonOptions common;
  BenchFlags bench;
  FitFlags fit;
  PointFlags points;
  bool curves = false;
};

Result<Document> predict(const PredictVerb& verb) {
  if (verb.points.at.empty() && verb.points.grid.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "what to predict? --at 'bb=96,ii=1024,oo=256,...' or --grid 'bb=1..256*2,...'", "",
                 -1};
  }
  ASSAY_TRY_ASSIGN(const FittedModel model, load_model(verb.bench, verb.fit, verb.points));
  ASSAY_TRY_ASSIGN(const ThroughputAnswers answers, answer_points(model, model.asked));
  if (verb.common.strict) {
    std::vector<const Explained*> explained;
    for (const PredictedPoint& point : answers.points) explained.push_back(&point.explained);
    ASSAY_TRY(refuse_outside(explained));
  }
  Document document = new_document("Throughput: predictions");
  document.inputs.push_back({name_of(verb.bench), {}});
  document.import_log = import_notes(model);
  document.verdict = throughput_prediction_words(answers);
  add_notes(model, document);
  document.sections.push_back(throughput_predictions_section(answers));
  if (verb.curves) {
    ASSAY_TRY_ASSIGN(const ThroughputAnswers curves,
                     answer_points(model, curve_points(model, model.asked)));
    document.sections.push_back(throughput_curves_section(curves));
  }
  TrustNotes trust = prediction_trust(answers);
  for (TrustNote& note : fit_trust(model)) trust.push_back(std::move(note));
  document.sections.push_back(trust_section(trust));
  return document;
}

int run(const PredictVerb& verb) {
  auto document = predict(verb);
  if (!document) return fail(document.error());
  return write_document(*document, verb.common, has_lost_rows(*document));
}

}  // namespace

void add_throughput_predict_verb(CLI::App& throughput, int& exit_code) {
  auto verb = std::make_shared<PredictVerb>();
  CLI::App* sub = throughput.add_subcommand(
      "predict", "Throughput of points nobody measured, with a 90 % interval each");
  add_bench_options(*sub, verb->bench);
  sub->get_option("table")->description("a model file of `assay throughput fit`, or a table");
  add_common_options(*sub, verb->common, false);
  sub->get_option("--strict")
      ->description(
          "fail when a point is outside the reach of the data; leave with 3 when rows were "
          "dropped");
  add_method_option(*sub, verb->fit);
  add_fit_options(*sub, verb->fit);
  add_point_options(*sub, verb->points);
  sub->add_flag("--curves", verb->curves,
                "throughput over batch for the configurations asked for, with measured points");
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
