#include "answers/throughput/throughput.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "answers/answer.h"
#include "report/run/section.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/latency.h"
#include "throughput/baselines.h"
#include "throughput/dataset.h"
#include "throughput/evaluate.h"
#include "throughput/predictor.h"
#include "throughput/serving/latency_evaluate.h"

namespace assay {
namespace {

// Records the start of each fold; a fold ends when the next one starts or none follows.
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
  const auto& rows = bench.data.rows;
  if (std::any_of(rows.begin(), rows.end(), tells_latency))
    methods.insert(methods.begin() + 1, latency_method(bench.facts));
  for (ThroughputMethod& method : baselines(vocabulary)) methods.push_back(std::move(method));
  methods.push_back(nearest_gpu_method(bench.facts));
  methods.push_back(ala_per_config_method());
  methods.push_back(ala_pooled_method(vocabulary, false));
  methods.push_back(ala_pooled_method(vocabulary, true));
  return methods;
}

// Methods that "all" does not include: variants of ALA, and one that supports a single split.
bool is_by_name_only(const std::string& name) {
  return name.rfind("ala-", 0) == 0 || name == "nearest-gpu";
}

// Resolves names in the requested order. "all": every method not restricted to requests by name.
// "baselines": the plain regressors.
Result<std::vector<ThroughputMethod>> choose_methods(const EvaluateRequest& request,
                                                     const LoadedBench& bench) {
  const std::vector<ThroughputMethod> available = available_methods(bench);
  std::vector<ThroughputMethod> chosen;
  for (const std::string& wanted : request.methods) {
    const size_t before = chosen.size();
    for (const ThroughputMethod& method : available) {
      const bool own = method.name == "assay" || method.name == "ala" || method.name == "latency";
      const bool group = (wanted == "all" && !is_by_name_only(method.name)) ||
                         (wanted == "baselines" && !own && !is_by_name_only(method.name));
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

constexpr const char* kLatencySplit = "latency";

bool asks_for_latency(const EvaluateRequest& request, const ThroughputData& data) {
  const auto& wanted = request.splits;
  if (std::find(wanted.begin(), wanted.end(), kLatencySplit) != wanted.end()) return true;
  const bool all = std::find(wanted.begin(), wanted.end(), "all") != wanted.end();
  return all && std::any_of(data.rows.begin(), data.rows.end(), tells_latency);
}

Result<std::vector<Split>> choose_splits(const EvaluateRequest& request,
                                         const ThroughputData& data) {
  std::vector<Split> splits;
  for (const std::string& wanted : request.splits) {
    if (wanted == kLatencySplit) continue;
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

std::string step_words(const std::string& method, const Split& split, size_t fold) {
  return fmt::format("{}: {}, fold {} of {}", method, split.name, fold + 1, split.folds.size());
}

Result<LatencyEvaluation> latencies_of(const EvaluateRequest& request, const LoadedBench& bench) {
  const auto progress = [&request](const std::string& split, size_t fold, size_t folds) {
    request.listener.tell_step(
        fmt::format("latencies by {}, fold {} of {}", split, fold + 1, folds));
    return !request.listener.asks_to_stop();
  };
  auto found = evaluate_latency(feasible_rows(bench.data).rows, bench.facts, progress);
  request.listener.tell_step("");
  return found;
}

void add_latencies(const LatencyEvaluation& latencies, Document& document) {
  for (std::string& text : latency_evaluation_words(latencies))
    document.verdict.push_back(std::move(text));
  document.sections.push_back(latency_evaluation_section(latencies));
}

// With a separate evaluation table, options that hold out rows of one table are errors.
Status check_choice(const EvaluateRequest& request) {
  if (request.judge.tables.empty()) {
    if (request.judge.maps.empty() && request.judge.metas.empty()) return Ok{};
    return Error{ErrorCode::kInvalidArgument,
                 "--judge-map and --judge-meta say how to read the table of --judge", "", -1};
  }
  const EvaluateRequest plain;
  if (request.splits == plain.splits && request.methods == plain.methods && !request.timing)
    return Ok{};
  return Error{
      ErrorCode::kInvalidArgument,
      "--judge asks the latencies of one table about another: --split, --method and --time "
      "are for rows that one table holds out",
      "", -1};
}

// Reports irregular rows of both tables: rows that were not read cannot be evaluated.
Result<Document> answer_other_table(const EvaluateRequest& request) {
  EngineSpellings spellings;
  ASSAY_TRY_ASSIGN(LoadedBench bench, load_bench(request.bench, nullptr, &spellings));
  BenchRequest asked = request.judge;
  asked.facts = request.bench.facts;
  ASSAY_TRY_ASSIGN(const LoadedBench other, load_bench(asked, nullptr, &spellings));
  note_unused_facts(bench.facts, request.bench.facts, bench.data.rows, other.data.rows,
                    bench.table.oddities);
  const auto other_rows = feasible_rows(other.data).rows;
  request.listener.tell_step("latencies of " + name_of(asked));
  auto found = judge_latency(feasible_rows(bench.data).rows, other_rows, bench.facts);
  request.listener.tell_step("");
  if (!found) return found.take_error();
  Document document = new_document("Throughput: error of latencies of another table");
  std::vector<BenchOddity> oddities;
  for (const LoadedBench* one : {&std::as_const(bench), &other}) {
    document.inputs.push_back({one->table.source, {}});
    for (auto& note : bench_import_notes(one->table, one->data))
      document.import_log.push_back(std::move(note));
    for (BenchOddity& oddity : all_oddities(one->table, one->data))
      oddities.push_back(std::move(oddity));
  }
  add_latencies(*found, document);
  for (std::string& text : bench_warning_words(oddities))
    document.verdict.push_back(std::move(text));
  document.sections.push_back(trust_section(bench_trust(oddities)));
  return document;
}

}  // namespace

Result<Document> answer_evaluation(const EvaluateRequest& request) {
  ASSAY_TRY(check_choice(request));
  if (!request.judge.tables.empty()) return answer_other_table(request);
  ASSAY_TRY_ASSIGN(LoadedBench bench, load_bench(request.bench));
  note_unused_facts(bench.facts, request.bench.facts, bench.data.rows, {}, bench.table.oddities);
  ASSAY_TRY_ASSIGN(const std::vector<ThroughputMethod> methods, choose_methods(request, bench));
  ASSAY_TRY_ASSIGN(std::vector<Split> splits, choose_splits(request, bench.data));
  ThroughputEvaluation evaluation{bench.table, bench.data, std::move(splits), {}, {}, false};
  const std::shared_ptr<void> stoppable = request.listener.begin_stoppable();
  for (const Split& split : evaluation.splits) {
    for (const ThroughputMethod& method : methods) {
      if (split.folds.empty() || request.listener.asks_to_stop()) continue;
      FoldClock clock(bench.data, evaluation.times);
      const auto progress = [&](const std::string& name, const Split& of, size_t fold) {
        if (request.timing) clock.begin(name, of, fold);
        request.listener.tell_step(step_words(name, of, fold));
        return !request.listener.asks_to_stop();
      };
      auto errors = evaluate_split(bench.data, split, method, progress);
      clock.end();
      request.listener.tell_step("");
      if (!errors) return errors.take_error();
      evaluation.errors.push_back(std::move(*errors));
    }
  }
  evaluation.interrupted = request.listener.asks_to_stop();
  evaluation.fits = fit_groups(feasible_rows(bench.data));
  Document document = new_document("Throughput: error of predictions");
  document.inputs.push_back({bench.table.source, {}});
  document.import_log = bench_import_notes(bench.table, bench.data);
  document.verdict = throughput_evaluation_words(evaluation);
  if (asks_for_latency(request, bench.data) && !evaluation.interrupted) {
    ASSAY_TRY_ASSIGN(const LatencyEvaluation latencies, latencies_of(request, bench));
    add_latencies(latencies, document);
  }
  for (std::string& text : bench_warning_words(all_oddities(bench.table, bench.data)))
    document.verdict.push_back(std::move(text));
  document.sections.push_back(throughput_evaluation_section(evaluation));
  document.sections.push_back(trust_section(bench_trust(all_oddities(bench.table, bench.data))));
  return document;
}

}  // namespace assay
