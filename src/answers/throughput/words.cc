#include "answers/throughput/words.h"

#include <set>

#include "report/throughput/evaluate.h"
#include "report/throughput/fit.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

const std::vector<BenchRow>& rows_of(const FittedModel& model) {
  return model.ala ? model.ala->data().rows : model.predictor->rows();
}

}  // namespace

std::vector<std::string> fit_words(const FittedModel& model) {
  return model.ala ? ala_fit_words(model.fit, *model.ala)
                   : throughput_fit_words(model.fit, *model.predictor);
}

Section fit_section(const FittedModel& model) {
  return model.ala ? ala_fit_section(model.fit, *model.ala)
                   : throughput_fit_section(model.fit, *model.predictor);
}

TrustNotes fit_trust(const FittedModel& model) {
  return model.ala ? ala_trust(model.fit) : throughput_trust(model.fit, *model.predictor);
}

std::vector<std::string> notes_of(const FittedModel& model) {
  std::vector<std::string> notes = bench_warning_words(model.fit.data.oddities);
  notes.insert(notes.end(), model.notes.begin(), model.notes.end());
  return notes;
}

void add_notes(const FittedModel& model, Document& document) {
  for (std::string& text : notes_of(model)) document.verdict.push_back(std::move(text));
}

Result<ThroughputAnswers> answer_points(const FittedModel& model,
                                        const std::vector<BenchRow>& points) {
  ThroughputAnswers answers{model.fit, rows_of(model), {}};
  if (model.ala) {
    ASSAY_TRY_ASSIGN(std::vector<AlaAnswer> told, model.ala->answer(points));
    for (size_t i = 0; i < points.size(); ++i)
      answers.points.push_back({points[i], std::move(told[i].explained), told[i].confidence});
    return answers;
  }
  std::vector<Explained> told = model.predictor->explain(points);
  for (size_t i = 0; i < points.size(); ++i)
    answers.points.push_back({points[i], std::move(told[i])});
  return answers;
}

std::vector<BenchRow> curve_points(const FittedModel& model, const std::vector<BenchRow>& points) {
  std::set<double> batches;
  for (const BenchRow& row : rows_of(model)) batches.insert(row.batch);
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

}  // namespace assay
