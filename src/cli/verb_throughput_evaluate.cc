#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>

#include "cli/bench_flags.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"
#include "report/run/section.h"
#include "report/throughput/evaluate.h"
#include "throughput/baselines.h"
#include "throughput/evaluate.h"
#include "throughput/predictor.h"

namespace assay {
namespace {

struct EvaluateVerb {
  CommonOptions common;
  BenchFlags bench;
  std::vector<std::string> splits = {"all"};
  std::vector<std::string> methods = {"assay"};
  bool timing = false;
};

// Notes when folds begin; the end of one is the begin of the next, or of nothing.
class FoldClock {
 public:
  FoldClock(const ThroughputData& data, std::vector<FoldTime>& times)
      : data_(data), times_(times) {}
  void begin(const std::string& method, const Split& split, size_t fold) {
    end();
    const SplitFold& one = split.folds[fold];
    std::set<uint32_t> configs;
    for (const size_t row : one.train) configs.insert(data_.config[row]);
    times_.push_back({split.name, method, one.name, one.train.size(), configs.size(), 0});
    begin_ = std::chrono::steady_clock::now();
    runs_ = true;
  }
  void end() {
    if (runs_) {
      times_.back().time_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::steady_clock::now() - begin_)
                                  .count();
    }
    runs_ = false;
  }

 private:
  const ThroughputData& data_;
  std::vector<FoldTime>& times_;
  std::chrono::steady_clock::time_point begin_;
  bool runs_ = false;
};

std::vector<ThroughputMethod> available_methods(const LoadedBench& bench) {
  const Vocabulary vocabulary = vocabulary_of(bench.data);
  std::vector<ThroughputMethod> methods = {assay_method(bench.facts), ala_method(vocabulary)};
  for (ThroughputMethod& method : baselines(vocabulary)) methods.push_back(std::move(method));
  methods.push_back(ala_per_config_method());
  methods.push_back(ala_pooled_method(vocabulary, false));
  methods.push_back(ala_pooled_method(vocabulary, true));
  return methods;
}

bool is_ala_variant(const std::string& name) { return name.rfind("ala-", 0) == 0; }

// Names in the order asked for; "all" is everything but the variants of ALA, "baselines" the plain
// regressors.
Result<std::vector<ThroughputMethod>> choose_methods(const EvaluateVerb& verb,
                                                     const LoadedBench& bench) {
  const std::vector<ThroughputMethod> available = available_methods(bench);
  std::vector<ThroughputMethod> chosen;
  for (const std::string& wanted : verb.methods) {
    const size_t before = chosen.size();
    for (const ThroughputMethod& method : available) {
      const bool own = method.name == "assay" || method.name == "ala";
      const bool group = (wanted == "all" && !is_ala_variant(method.name)) ||
                         (wanted == "baselines" && !own && !is_ala_variant(method.name));
      if (group || wanted == method.name) chosen.push_back(method);
    }
    if (chosen.size() > before) continue;
    std::string names = "all, baselines";
    for (const ThroughputMethod& method : available) names += ", " + method.name;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("no method is called '{}'; there are {}", wanted, names), "", -1};
  }
  return chosen;
}

Result<std::vector<Split>> choose_splits(const EvaluateVerb& verb, const ThroughputData& data) {
  std::vector<Split> splits;
  for (const std::string& wanted : verb.splits) {
    if (wanted == "all" || wanted == "figure6") {
      std::vector<Split> many = wanted == "all" ? make_splits(data) : make_training_sets(data);
      std::move(many.begin(), many.end(), std::back_inserter(splits));
      continue;
    }
    ASSAY_TRY_ASSIGN(Split split, make_split(data, wanted));
    splits.push_back(std::move(split));
  }
  return splits;
}

bool show_progress(const std::string& method, const Split& split, size_t fold) {
  if (::isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r\033[K{}: {}, fold {} of {} (Ctrl-C shows what is done)", method,
               split.name, fold + 1, split.folds.size());
    std::fflush(stderr);
  }
  return !interrupt_asked();
}

void clear_progress() {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
}

Result<Document> evaluate(const EvaluateVerb& verb) {
  ASSAY_TRY_ASSIGN(const LoadedBench bench, load_bench(verb.bench));
  ASSAY_TRY_ASSIGN(const std::vector<ThroughputMethod> methods, choose_methods(verb, bench));
  ASSAY_TRY_ASSIGN(std::vector<Split> splits, choose_splits(verb, bench.data));
  ThroughputEvaluation evaluation{bench.table, bench.data, std::move(splits), {}, {}, false};
  const StopOnInterrupt interruptible;
  for (const Split& split : evaluation.splits) {
    for (const ThroughputMethod& method : methods) {
      if (split.folds.empty() || interrupt_asked()) continue;
      FoldClock clock(bench.data, evaluation.times);
      const auto progress = [&](const std::string& name, const Split& of, size_t fold) {
        if (verb.timing) clock.begin(name, of, fold);
        return show_progress(name, of, fold);
      };
      auto errors = evaluate_split(bench.data, split, method, progress);
      clock.end();
      clear_progress();
      if (!errors) return errors.take_error();
      evaluation.errors.push_back(std::move(*errors));
    }
  }
  evaluation.interrupted = interrupt_asked();
  evaluation.fits = fit_groups(feasible_rows(bench.data));
  Document document = new_document("Throughput: how far predictions are off");
  document.inputs.push_back({bench.table.source, {}});
  document.import_log = bench_import_notes(bench.table, bench.data);
  document.verdict = throughput_evaluation_words(evaluation);
  for (std::string& text : bench_warning_words(all_oddities(bench.table, bench.data)))
    document.verdict.push_back(std::move(text));
  document.sections.push_back(throughput_evaluation_section(evaluation));
  document.sections.push_back(trust_section(bench_trust(all_oddities(bench.table, bench.data))));
  return document;
}

int run(const EvaluateVerb& verb) {
  auto document = evaluate(verb);
  if (!document) return fail(document.error());
  return write_document(*document, verb.common, has_lost_rows(*document));
}

}  // namespace

void add_throughput_evaluate_verb(CLI::App& throughput, int& exit_code) {
  auto verb = std::make_shared<EvaluateVerb>();
  CLI::App* sub = throughput.add_subcommand(
      "evaluate", "Hold rows of a table out and see how far each method is off on them");
  add_bench_options(*sub, verb->bench);
  add_common_options(*sub, verb->common, false);
  sub->add_option("--split", verb->splits,
                  "S1 unseen length pair, S2 random rows, S3 larger batches, S4 longer lengths, S5 "
                  "unseen configuration, S6 one model out, S7 one hardware out, all of them, or "
                  "figure6: four shapes of a training set")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  sub->add_option("--method", verb->methods,
                  "assay, ala, a baseline (linear, xgboost, forest, boosting, each also with "
                  "-pooled), baselines, or all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  sub->add_flag("--time", verb->timing,
                "measure how long each fold takes (ALA, Figures 7c and 7d); the only figures that "
                "differ from run to run");
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
  add_throughput_anneal_verb(throughput, exit_code);
}

}  // namespace assay
