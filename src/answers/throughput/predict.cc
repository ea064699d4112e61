#include "answers/throughput/throughput.h"

#include <fmt/format.h>

#include <utility>

#include "answers/answer.h"
#include "answers/throughput/words.h"
#include "report/run/section.h"
#include "report/throughput/fit.h"
#include "report/throughput/section.h"

namespace assay {

Result<ThroughputFitAnswer> answer_fit(const ThroughputFitRequest& request) {
  ASSAY_TRY_ASSIGN(const FittedModel model,
                   fit_table(request.bench, request.fit, request.listener));
  const auto told = [&request](size_t done, size_t of) {
    request.listener.tell_step(
        fmt::format("preparing predictions: configuration {} of {}", done + 1, of));
  };
  std::string text =
      model.ala ? write_ala_model(model.fit) : write_model(model.fit, *model.predictor, told);
  request.listener.tell_step("");
  Document document = new_document("Throughput model");
  document.inputs.push_back({model.fit.source, {}});
  document.import_log = import_notes(model);
  document.verdict = fit_words(model);
  add_notes(model, document);
  document.sections.push_back(fit_section(model));
  document.sections.push_back(trust_section(fit_trust(model)));
  return ThroughputFitAnswer{std::move(text), std::move(document)};
}

Result<Document> answer_prediction(const PredictRequest& request) {
  if (request.points.at.empty() && request.points.grid.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "what to predict? --at 'bb=96,ii=1024,oo=256,...' or --grid 'bb=1..256*2,...'", "",
                 -1};
  }
  ASSAY_TRY_ASSIGN(const FittedModel model,
                   load_model(request.bench, request.fit, request.listener, request.points));
  ASSAY_TRY_ASSIGN(const ThroughputAnswers answers, answer_points(model, model.asked));
  if (request.inside_only) {
    std::vector<const Explained*> explained;
    for (const PredictedPoint& point : answers.points) explained.push_back(&point.explained);
    ASSAY_TRY(refuse_outside(explained));
  }
  Document document = new_document("Throughput: predictions");
  document.inputs.push_back({name_of(request.bench), {}});
  document.import_log = import_notes(model);
  document.verdict = throughput_prediction_words(answers);
  add_notes(model, document);
  document.sections.push_back(throughput_predictions_section(answers));
  if (request.curves) {
    ASSAY_TRY_ASSIGN(const ThroughputAnswers curves,
                     answer_points(model, curve_points(model, model.asked)));
    document.sections.push_back(throughput_curves_section(curves));
  }
  TrustNotes trust = prediction_trust(answers);
  for (TrustNote& note : fit_trust(model)) trust.push_back(std::move(note));
  document.sections.push_back(trust_section(trust));
  return document;
}

}  // namespace assay
