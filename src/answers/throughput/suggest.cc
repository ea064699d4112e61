#include "answers/throughput/throughput.h"

#include <utility>

#include "answers/answer.h"
#include "answers/throughput/words.h"
#include "report/run/section.h"
#include "report/throughput/fit.h"
#include "report/throughput/section.h"

namespace assay {
namespace {

Result<Document> measure_next(const SuggestRequest& request, const FittedModel& model,
                              const std::vector<BenchRow>& asked) {
  const std::vector<BenchRow> candidates = unmeasured_points(model.predictor->rows());
  // Candidates: the requested points, and gaps in the table.
  std::vector<BenchRow> all = asked;
  all.insert(all.end(), candidates.begin(), candidates.end());
  ASSAY_TRY_ASSIGN(
      const MeasureNext next,
      suggest_measurements(*model.predictor, asked.empty() ? candidates : asked, all, request.top));
  Document document = new_document("Throughput: what to measure next");
  document.verdict = throughput_measure_words(next);
  document.sections.push_back(throughput_measure_section(next));
  return document;
}

Result<Document> meet_goal(const SuggestRequest& request, const FittedModel& model,
                           const std::vector<BenchRow>& asked) {
  if (asked.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "a goal needs candidates: --grid 'bb=1..256*2,ii=...,oo=...,hw=...,model=...'", "",
                 -1};
  }
  std::vector<GoalPoint> points = check_goal(*model.predictor, asked, request.goal);
  if (request.inside_only) {
    std::vector<const Explained*> answers;
    for (const GoalPoint& point : points) answers.push_back(&point.explained);
    ASSAY_TRY(refuse_outside(answers));
  }
  sort_by_goal(points, request.goal,
               request.rank == "total" ? GoalRank::kTotal : GoalRank::kPerDevice);
  Document document = new_document("Throughput: what meets a goal");
  document.verdict = throughput_goal_words(request.goal, points);
  document.sections.push_back(throughput_goal_section(request.goal, points));
  return document;
}

}  // namespace

Result<Document> answer_suggestion(const SuggestRequest& request) {
  ASSAY_TRY_ASSIGN(const FittedModel model,
                   load_model(request.bench, request.fit, request.listener, request.points));
  if (model.ala) {
    return Error{ErrorCode::kInvalidArgument,
                 "is a model of ALA, which has no intervals to narrow or to compare with a goal. "
                 "Give the table, or a model of --method assay",
                 name_of(request.bench), -1};
  }
  const std::vector<BenchRow>& asked = model.asked;
  const bool has_goal = request.goal.latency_ms || request.goal.tokens_per_s;
  ASSAY_TRY_ASSIGN(Document document, has_goal ? meet_goal(request, model, asked)
                                               : measure_next(request, model, asked));
  document.inputs.push_back({name_of(request.bench), {}});
  document.import_log = import_notes(model);
  add_notes(model, document);
  document.sections.push_back(trust_section(throughput_trust(model.fit, *model.predictor)));
  return document;
}

}  // namespace assay
