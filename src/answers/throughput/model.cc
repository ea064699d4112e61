#include "answers/throughput/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/files.h"
#include "ingest/text/csv_table.h"
#include "report/throughput/evaluate.h"
#include "throughput/dataset.h"
#include "throughput/points.h"

namespace assay {
namespace {

// Iterations of the parameter search; the posterior hardly changes afterwards.
constexpr int kSearchIterations = 60;

std::string step_words(const char* process, int iteration, double objective) {
  return fmt::format("{}: parameters, step {} of at most {}, objective {:.1f}", process, iteration,
                     kSearchIterations, objective);
}

std::string search_words(const char* process, const GpFound& found, size_t rows, bool stopped) {
  std::string words = fmt::format("Parameters of the {} were found on {} rows in {} steps", process,
                                  rows, found.iterations);
  if (stopped) words += ", when the search was interrupted: more steps may find better";
  return words + ".";
}

std::vector<BenchRow> learnt_rows(const ThroughputFit& fit) { return feasible_rows(fit.data).rows; }

Status search_parameters(const ThroughputFit& fit, bool physics, const Listener& listener,
                         std::vector<double>& parameters, std::vector<std::string>& notes) {
  const std::vector<BenchRow> rows = learnt_rows(fit);
  const KernelTable table = kernel_table(rows, fit.facts, physics);
  if (table.points.empty()) return Ok{};
  const KernelSpec& spec = physics ? physics_kernel() : plain_kernel();
  const char* process = physics ? "process on physics" : "process without physics";
  const std::shared_ptr<void> stoppable = listener.begin_stoppable();
  GpSearch search;
  search.max_iterations = kSearchIterations;
  search.progress = [&](int iteration, double objective) {
    listener.tell_step(step_words(process, iteration, objective));
    return !listener.asks_to_stop();
  };
  auto found = find_parameters(spec, spec.defaults, table.points, table.residual, search);
  listener.tell_step("");
  if (!found) return found.take_error();
  notes.push_back(search_words(process, *found, table.points.size(), listener.asks_to_stop()));
  parameters = std::move(found->parameters);
  return Ok{};
}

// These flags apply only to the Gaussian process.
Status check_method(const std::string& method, const FitRequest& request) {
  if (method == "assay" || !(request.refit || request.no_physics || request.small)) return Ok{};
  return Error{
      ErrorCode::kInvalidArgument,
      "--refit, --no-analytical-model and --small are about --method assay: ALA has neither physics "
      "nor parameters to search for",
      "", -1};
}

bool lacks_facts(const ThroughputFit& fit, const BenchRow& row) {
  return fit.facts.model(row.model) == nullptr || fit.facts.hardware(row.hardware) == nullptr;
}

bool any_lacks_facts(const ThroughputFit& fit) {
  return std::any_of(fit.data.rows.begin(), fit.data.rows.end(),
                     [&fit](const BenchRow& row) { return lacks_facts(fit, row); });
}

// Standard deviation of log throughput that the Gaussian process assumes for a single measurement:
// its last parameter. Uses the physics parameters if any row has specifications.
double taken_noise(const ThroughputFit& fit) {
  const bool physics = fit.options.physics &&
                       !std::all_of(fit.data.rows.begin(), fit.data.rows.end(),
                                    [&fit](const BenchRow& row) { return lacks_facts(fit, row); });
  const std::vector<double>& found =
      physics ? fit.options.physics_parameters : fit.options.plain_parameters;
  return (found.empty() ? (physics ? physics_kernel() : plain_kernel()).defaults : found).back();
}

Result<FittedModel> make_predictor(ThroughputFit fit) {
  fit.options.untold = untold_precision(fit.format);
  if (fit.method == "ala") {
    // The specifications move with the fit, so the function owns a copy.
    const auto facts = std::make_shared<const FactBook>(fit.facts);
    const LeastLatency least_latency =
        [facts, bound = least_latency_by_facts(*facts, fit.options.untold)](const BenchRow& row) {
          return bound(row);
        };
    auto ala = std::make_unique<AlaPredictor>(fit.data, fit.options.outside_factor,
                                              ala_boost_options(), least_latency);
    if (ala->data().rows.empty()) {
      return Error{ErrorCode::kFormat, "no row to learn from: all are physically impossible", "",
                   -1};
    }
    return FittedModel{std::move(fit), nullptr, std::move(ala)};
  }
  ASSAY_TRY_ASSIGN(std::unique_ptr<Predictor> predictor,
                   Predictor::fit(fit.data, fit.facts, fit.options));
  return FittedModel{std::move(fit), std::move(predictor)};
}

Result<std::vector<BenchRow>> read_points(const PointRequest& request, const ThroughputFit& fit) {
  std::vector<BenchRow> points;
  const std::vector<BenchRow> rows = learnt_rows(fit);
  if (rows.empty()) return points;  // no training rows; fitting reports the error
  const MeasuredValues measured(rows);
  for (const std::string& text : request.at) {
    ASSAY_TRY_ASSIGN(points.emplace_back(), parse_point(text, measured, fit.facts));
  }
  for (const std::string& text : request.grid) {
    ASSAY_TRY_ASSIGN(const std::vector<BenchRow> grid, parse_grid(text, measured, fit.facts));
    points.insert(points.end(), grid.begin(), grid.end());
  }
  return points;
}

}  // namespace

std::vector<ImportNote> import_notes(const FittedModel& model) {
  // The log of cleaning also contains the irregularities from reading.
  return bench_import_notes({}, model.fit.data);
}

Result<FittedModel> fit_table(const BenchRequest& bench, const FitRequest& request,
                              const Listener& listener, const PointRequest& points,
                              const std::string* text) {
  const std::string method = request.method.empty() ? "assay" : request.method;
  ASSAY_TRY(check_method(method, request));
  ASSAY_TRY_ASSIGN(LoadedBench loaded, load_bench(bench, text));
  ThroughputFit fit{loaded.table.source,
                    loaded.table.format,
                    std::move(loaded.data),
                    std::move(loaded.facts),
                    {},
                    method};
  std::vector<BenchOddity>& oddities = fit.data.oddities;
  oddities.insert(oddities.begin(), loaded.table.oddities.begin(), loaded.table.oddities.end());
  fit.options.physics = !request.no_physics;
  if (request.outside) fit.options.outside_factor = *request.outside;
  if (request.small) fit.options.digest_from_rows = std::numeric_limits<size_t>::max();
  ASSAY_TRY_ASSIGN(std::vector<BenchRow> asked, read_points(points, fit));
  if (fit.options.physics)
    note_unused_facts(fit.facts, bench.facts, fit.data.rows, asked, oddities);
  std::vector<std::string> notes;
  if (request.refit && !request.no_physics) {
    ASSAY_TRY(search_parameters(fit, true, listener, fit.options.physics_parameters, notes));
  }
  if (request.refit && !listener.asks_to_stop() && (request.no_physics || any_lacks_facts(fit))) {
    ASSAY_TRY(search_parameters(fit, false, listener, fit.options.plain_parameters, notes));
  }
  if (fit.method == "assay") note_repeat_noise(taken_noise(fit), fit.data);
  ASSAY_TRY_ASSIGN(FittedModel model, make_predictor(std::move(fit)));
  model.notes = std::move(notes);
  model.asked = std::move(asked);
  return model;
}

Result<FittedModel> load_model(const BenchRequest& bench, const FitRequest& request,
                               const Listener& listener, const PointRequest& points) {
  const std::string& path = bench.tables.front();
  // Standard input is always a table, because it can be read only once. So are several files and a
  // folder.
  if (path == "-" || bench.tables.size() > 1 || is_folder(path))
    return fit_table(bench, request, listener, points);
  ASSAY_TRY_ASSIGN(std::string text, read_text_file(path));
  if (!looks_like_model(text)) return fit_table(bench, request, listener, points, &text);
  if (request.refit || request.no_physics) {
    return Error{ErrorCode::kInvalidArgument,
                 "is a model file: --refit and --no-analytical-model need the table, in `assay throughput "
                 "fit`",
                 path, -1};
  }
  ASSAY_TRY_ASSIGN(ThroughputFit fit, read_model(std::move(text), path));
  if (!request.method.empty()) fit.method = request.method;
  if (request.outside) fit.options.outside_factor = *request.outside;
  if (!bench.facts.empty()) {
    ASSAY_TRY_ASSIGN(const std::string facts, read_text_file(bench.facts));
    ASSAY_TRY(fit.facts.add(facts, bench.facts));
    // These were computed with the specifications of the file.
    fit.options.digests.clear();
    fit.options.frameworks.reset();
  }
  ASSAY_TRY_ASSIGN(std::vector<BenchRow> asked, read_points(points, fit));
  note_unused_facts(fit.facts, bench.facts, fit.data.rows, asked, fit.data.oddities);
  ASSAY_TRY_ASSIGN(FittedModel model, make_predictor(std::move(fit)));
  model.asked = std::move(asked);
  return model;
}

Status refuse_outside(const std::vector<const Explained*>& answers) {
  const auto outside = [](const Explained* answer) {
    const PredictionStatus status = answer->prediction.status;
    return status == PredictionStatus::kOutside || status == PredictionStatus::kNoAnswer;
  };
  const auto first = std::find_if(answers.begin(), answers.end(), outside);
  if (first == answers.end()) return Ok{};
  const auto count = std::count_if(answers.begin(), answers.end(), outside);
  const auto& reasons = (*first)->reasons;
  return Error{
      ErrorCode::kUnsupported,
      fmt::format("{} of {} points {} outside the range of the data ({}); --strict refuses such "
                  "points",
                  count, answers.size(), count == 1 ? "is" : "are",
                  reasons.empty() ? "no answer" : reasons.front()),
      "", -1};
}

}  // namespace assay
