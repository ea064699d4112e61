#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "cli/common.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"
#include "report/section_throughput.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

struct PredictVerb {
  CommonOptions common;
  BenchFlags bench;
  FitFlags fit;
  PointFlags points;
  bool curves = false;
};

std::vector<PredictedPoint> explained(const Predictor& predictor,
                                      const std::vector<BenchRow>& points) {
  std::vector<Explained> answers = predictor.explain(points);
  std::vector<PredictedPoint> out;
  for (size_t i = 0; i < points.size(); ++i) out.push_back({points[i], std::move(answers[i])});
  return out;
}

// For each configuration and length of the points: every batch size of the table and every power of
// two up to the largest, of the table or asked for.
std::vector<BenchRow> curve_points(const Predictor& predictor,
                                   const std::vector<BenchRow>& points) {
  std::set<double> batches;
  for (const BenchRow& row : predictor.rows()) batches.insert(row.batch);
  for (const BenchRow& point : points) batches.insert(point.batch);
  for (double batch = 1; batch <= *batches.rbegin(); batch *= 2) batches.insert(batch);
  std::vector<BenchRow> out;
  std::set<std::string> seen;
  for (const BenchRow& point : points) {
    if (!seen.insert(group_name(point)).second) continue;
    for (const double batch : batches) {
      out.push_back(point);
      out.back().batch = batch;
    }
  }
  return out;
}

Result<Document> predict(const PredictVerb& verb) {
  if (verb.points.at.empty() && verb.points.grid.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "what to predict? --at 'bb=96,ii=1024,oo=256,...' or --grid 'bb=1..256*2,...'", "",
                 -1};
  }
  ASSAY_TRY_ASSIGN(const FittedModel model, load_model(verb.bench, verb.fit, verb.points));
  const std::vector<BenchRow>& asked = model.asked;
  const std::vector<PredictedPoint> points = explained(*model.predictor, asked);
  if (verb.common.strict) {
    std::vector<const Explained*> answers;
    for (const PredictedPoint& point : points) answers.push_back(&point.explained);
    ASSAY_TRY(refuse_outside(answers));
  }
  Document document = new_document("Throughput: predictions");
  document.inputs.push_back({verb.bench.table, {}});
  document.import_log = import_notes(model);
  document.verdict = throughput_prediction_words(*model.predictor, points);
  document.verdict.insert(document.verdict.end(), model.notes.begin(), model.notes.end());
  document.sections.push_back(throughput_predictions_section(*model.predictor, points));
  if (verb.curves) {
    document.sections.push_back(throughput_curves_section(
        *model.predictor, explained(*model.predictor, curve_points(*model.predictor, asked))));
  }
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
  add_fit_options(*sub, verb->fit);
  add_point_options(*sub, verb->points);
  sub->add_flag("--curves", verb->curves,
                "throughput over batch for the configurations asked for, with measured points");
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
