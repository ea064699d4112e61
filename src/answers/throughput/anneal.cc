#include "answers/throughput/throughput.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "answers/answer.h"
#include "ingest/bench/table.h"
#include "report/run/section.h"
#include "report/throughput/anneal.h"
#include "report/throughput/evaluate.h"
#include "throughput/ala/annealing.h"
#include "throughput/baselines.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

// Rows with texts that start with those of a filter such as "hardware=Nvidia
// H100,model=Qwen/Qwen2".
Result<ThroughputData> slice(const ThroughputData& data, const std::string& filter) {
  if (filter.empty()) return data;
  ASSAY_TRY_ASSIGN(const auto wanted, parse_bench_options({}, {filter}));
  std::vector<size_t> rows;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    const BenchRow& row = data.rows[i];
    bool fits = true;
    for (const auto& [role, text] : wanted.meta) {
      const std::string* have = role == "hardware"    ? &row.hardware
                                : role == "framework" ? &row.framework
                                : role == "model"     ? &row.model
                                                      : nullptr;
      if (have == nullptr) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("'{}': rows are chosen by hardware, framework and model", filter),
                     "", -1};
      }
      fits &= have->rfind(text, 0) == 0;
    }
    if (fits) rows.push_back(i);
  }
  if (rows.empty()) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("no row fits '{}'", filter), "", -1};
  }
  return subset(data, rows);
}

Result<AnnealingRun> search(const AnnealRequest& request, uint64_t seed,
                            const ThroughputData& source) {
  AnnealingOptions options;
  options.seed = seed;
  options.steps = request.steps;
  options.rounds = request.rounds;
  const double steps = request.exhaustive ? subset_count(value_sets(source)) : request.steps;
  const std::string name =
      request.exhaustive ? std::string("all subsets") : fmt::format("annealing, seed {}", seed);
  options.progress = [&](const auto& log) {
    request.listener.tell_step(fmt::format("{}: step {} of {}, error {:.1f} %", name, log.size(),
                                           steps, 100 * log.back().error));
    return !request.listener.asks_to_stop();
  };
  return request.exhaustive ? try_all_subsets(source, options) : anneal(source, options);
}

// Evaluates the plain regressors per configuration on every subset of a run (ALA, Figure 7b).
Status add_baselines(const ThroughputData& source, uint64_t seed, const AnnealingRun& run,
                     const Listener& listener, AnnealingReport& report) {
  for (const Regressor regressor : {Regressor::kLinear, Regressor::kXgboost,
                                    Regressor::kRandomForest, Regressor::kGradientBoosting}) {
    const ThroughputMethod method = per_config_baseline(regressor);
    AnnealingBaseline baseline{seed, method.name, {}};
    std::vector<std::pair<ValueSubset, double>> known;
    for (const AnnealingStep& step : run.log) {
      if (listener.asks_to_stop()) break;
      auto at = std::find_if(known.begin(), known.end(),
                             [&](const auto& entry) { return entry.first == step.subset; });
      if (at == known.end()) {
        ASSAY_TRY_ASSIGN(const auto error, subset_error(source, run.values, step.subset, method));
        at = known.insert(known.end(),
                          {step.subset, error.value_or(std::numeric_limits<double>::quiet_NaN())});
      }
      baseline.errors.push_back(at->second);
    }
    report.baselines.push_back(std::move(baseline));
  }
  return Ok{};
}

}  // namespace

Result<Document> answer_annealing(const AnnealRequest& request) {
  ASSAY_TRY_ASSIGN(const LoadedBench bench, load_bench(request.bench));
  ASSAY_TRY_ASSIGN(const ThroughputData source, slice(bench.data, request.source));
  std::vector<AnnealingTarget> targets;
  for (const std::string& filter : request.targets) {
    ASSAY_TRY_ASSIGN(ThroughputData rows, slice(bench.data, filter));
    targets.push_back({filter, std::move(rows), {}});
  }
  AnnealingReport report{request.source, source.rows.size(), request.steps, {}, {}};
  const std::shared_ptr<void> stoppable = request.listener.begin_stoppable();
  const std::vector<uint64_t> seeds = request.exhaustive ? std::vector<uint64_t>{0} : request.seeds;
  for (const uint64_t seed : seeds) {
    if (request.listener.asks_to_stop()) break;
    ASSAY_TRY_ASSIGN(AnnealingRun run, search(request, seed, source));
    for (AnnealingTarget& target : targets) {
      ASSAY_TRY_ASSIGN(const TargetJudgement judged,
                       judge_target(source, run, target.rows, request.rounds));
      target.by_seed.push_back(judged);
    }
    if (request.baselines) ASSAY_TRY(add_baselines(source, seed, run, request.listener, report));
    report.runs.push_back({seed, std::move(run)});
  }
  request.listener.tell_step("");
  report.targets = std::move(targets);
  Document document = new_document("Throughput: which measurements teach ALA most");
  document.inputs.push_back({bench.table.source, {}});
  document.import_log = bench_import_notes(bench.table, bench.data);
  document.verdict = annealing_words(report);
  for (std::string& text : bench_warning_words(all_oddities(bench.table, bench.data)))
    document.verdict.push_back(std::move(text));
  document.sections.push_back(annealing_section(report));
  document.sections.push_back(trust_section(bench_trust(all_oddities(bench.table, bench.data))));
  return document;
}

}  // namespace assay
