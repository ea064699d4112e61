#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include "cli/bench_flags.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"
#include "ingest/bench/table.h"
#include "report/run/section.h"
#include "report/throughput/anneal.h"
#include "report/throughput/evaluate.h"
#include "throughput/ala/annealing.h"
#include "throughput/baselines.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

struct AnnealVerb {
  CommonOptions common;
  BenchFlags bench;
  std::string source;
  std::vector<std::string> targets;
  std::vector<uint64_t> seeds = {1, 2, 3};
  int steps = 200;
  int rounds = 500;
  bool exhaustive = false;
  bool baselines = false;
};

// Rows whose texts begin with what a filter such as "hardware=Nvidia H100,model=Qwen/Qwen2" says.
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

bool show_progress(const std::string& search, double steps, const std::vector<AnnealingStep>& log) {
  if (::isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r\033[K{}: step {} of {}, error {:.1f} % (Ctrl-C stops)", search,
               log.size(), steps, 100 * log.back().error);
    std::fflush(stderr);
  }
  return !interrupt_asked();
}

Result<AnnealingRun> search(const AnnealVerb& verb, uint64_t seed, const ThroughputData& source) {
  AnnealingOptions options;
  options.seed = seed;
  options.steps = verb.steps;
  options.rounds = verb.rounds;
  const double steps = verb.exhaustive ? subset_count(value_sets(source)) : verb.steps;
  const std::string name =
      verb.exhaustive ? std::string("all subsets") : fmt::format("annealing, seed {}", seed);
  options.progress = [&](const auto& log) { return show_progress(name, steps, log); };
  return verb.exhaustive ? try_all_subsets(source, options) : anneal(source, options);
}

// The plain regressors per configuration on every subset that a run tried (ALA, Figure 7b).
Status add_baselines(const ThroughputData& source, uint64_t seed, const AnnealingRun& run,
                     AnnealingReport& report) {
  for (const Regressor regressor : {Regressor::kLinear, Regressor::kXgboost,
                                    Regressor::kRandomForest, Regressor::kGradientBoosting}) {
    const ThroughputMethod method = per_config_baseline(regressor);
    AnnealingBaseline baseline{seed, method.name, {}};
    std::vector<std::pair<ValueSubset, double>> known;
    for (const AnnealingStep& step : run.log) {
      if (interrupt_asked()) break;
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

Result<Document> run_annealing(const AnnealVerb& verb) {
  ASSAY_TRY_ASSIGN(const LoadedBench bench, load_bench(verb.bench));
  ASSAY_TRY_ASSIGN(const ThroughputData source, slice(bench.data, verb.source));
  std::vector<AnnealingTarget> targets;
  for (const std::string& filter : verb.targets) {
    ASSAY_TRY_ASSIGN(ThroughputData rows, slice(bench.data, filter));
    targets.push_back({filter, std::move(rows), {}});
  }
  AnnealingReport report{verb.source, source.rows.size(), verb.steps, {}, {}};
  const StopOnInterrupt interruptible;
  const std::vector<uint64_t> seeds = verb.exhaustive ? std::vector<uint64_t>{0} : verb.seeds;
  for (const uint64_t seed : seeds) {
    if (interrupt_asked()) break;
    ASSAY_TRY_ASSIGN(AnnealingRun run, search(verb, seed, source));
    for (AnnealingTarget& target : targets) {
      ASSAY_TRY_ASSIGN(const TargetJudgement judged,
                       judge_target(source, run, target.rows, verb.rounds));
      target.by_seed.push_back(judged);
    }
    if (verb.baselines) ASSAY_TRY(add_baselines(source, seed, run, report));
    report.runs.push_back({seed, std::move(run)});
  }
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
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

int run(const AnnealVerb& verb) {
  auto document = run_annealing(verb);
  if (!document) return fail(document.error());
  return write_document(*document, verb.common, has_lost_rows(*document));
}

}  // namespace

void add_throughput_anneal_verb(CLI::App& throughput, int& exit_code) {
  auto verb = std::make_shared<AnnealVerb>();
  CLI::App* sub = throughput.add_subcommand(
      "anneal", "ALA's search for the training subset, its error predictor and its confidence");
  add_bench_options(*sub, verb->bench);
  add_common_options(*sub, verb->common, false);
  sub->add_option("--source", verb->source,
                  "rows to learn from, by the beginnings of their names: 'hardware=Nvidia "
                  "H100,model=meta-llama/Llama-2-7b'; all rows when empty");
  sub->add_option("--target", verb->targets,
                  "rows to judge by what was learned, chosen like --source; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--seed", verb->seeds, "one run per seed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  sub->add_option("--steps", verb->steps, "steps per run")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  sub->add_option("--rounds", verb->rounds, "boosting rounds per candidate")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  CLI::Option* exhaustive = sub->add_flag(
      "--exhaustive", verb->exhaustive,
      "every subset instead of annealing: a better error predictor, where there are few values");
  exhaustive->excludes("--seed")->excludes("--steps");
  sub->add_flag("--baselines", verb->baselines,
                "the plain regressors on the same subsets (ALA, Figure 7b)");
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
