#pragma once

// Throughput of unmeasured configurations, and the configurations to measure next.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/listener.h"
#include "answers/throughput/bench.h"
#include "answers/throughput/model.h"
#include "base/result.h"
#include "report/document/document.h"
#include "throughput/suggest.h"

namespace assay {

struct ThroughputFitRequest {
  BenchRequest bench = {};
  FitRequest fit = {};
  Listener listener = {};
};
struct ThroughputFitAnswer {
  std::string model;  // the text of a model file: docs/formats/throughput_model.md
  Document document;
};
Result<ThroughputFitAnswer> answer_fit(const ThroughputFitRequest& request);

struct PredictRequest {
  BenchRequest bench = {};  // a model file, or tables
  FitRequest fit = {};
  PointRequest points = {};
  bool curves = false;       // throughput over batch for the requested configurations
  bool inside_only = false;  // fail if a point is outside the range of the data
  Listener listener = {};
};
Result<Document> answer_prediction(const PredictRequest& request);

struct SuggestRequest {
  BenchRequest bench = {};  // as PredictRequest
  FitRequest fit = {};
  PointRequest points = {};  // candidates for a goal; else what the answer is wanted for
  Goal goal = {};            // without one: what to measure next
  std::string rank = "gpu";  // of what meets a goal: per device, or "total"
  size_t top = 5;            // suggestions; 0 = all
  bool inside_only = false;  // as PredictRequest, for a goal
  Listener listener = {};
};
Result<Document> answer_suggestion(const SuggestRequest& request);

// Which machines serve a model at a rate within limits on latency, and what they cost.
struct PlanRequest {
  BenchRequest bench = {};
  std::string model = {};
  std::optional<double> in_len = {};  // tokens, means
  std::optional<double> out_len = {};
  std::optional<double> per_s = {};  // requests
  std::string requests = {};         // file: a trace of requests for what is absent above
  double ttft_ms = 0;                // limits
  double tpot_ms = 0;
  double percentile = 0.9;
  double confidence = 0.9;
  std::optional<double> burstiness = {};  // absent: Poisson, or that of the trace
  std::string prices = {};                // file; empty: the table's GPUs, ranked by their number
  std::vector<std::string> engines = {};  // empty: those that ran the model
  std::vector<std::string> precisions = {};
  std::string version = {};
  uint32_t max_gpus = 0;
  std::string rank = "dollar";  // "gpu", "joule", "user"
  bool measured_only = false;
  bool refit = false;
  Listener listener = {};
};
Result<Answer> answer_plan(const PlanRequest& request);

// Specifications of models and devices.
struct FactsRequest {
  std::vector<std::string> names = {};  // to tell in full; empty: all in short
  std::string facts = {};               // file: more of them
};
Result<Document> answer_facts(const FactsRequest& request);

// Error of predictions on held-out rows.
struct EvaluateRequest {
  BenchRequest bench = {};
  // Rows that must not teach; with tables: how far latencies are off on them, and no split. Its
  // facts are those of `bench`.
  BenchRequest judge = {};
  std::vector<std::string> splits = {"all"};
  std::vector<std::string> methods = {"assay"};
  bool timing = false;  // how long each fold takes: figures that differ from run to run
  Listener listener = {};
};
Result<Document> answer_evaluation(const EvaluateRequest& request);

// ALA's search for the training subset that teaches most.
struct AnnealRequest {
  BenchRequest bench = {};
  std::string source = {};  // rows to learn from, by the beginnings of their names; empty: all
  std::vector<std::string> targets = {};  // rows to evaluate with the trained model
  std::vector<uint64_t> seeds = {1, 2, 3};
  int steps = 200;
  int rounds = 500;
  bool exhaustive = false;  // every subset instead of annealing
  bool baselines = false;   // the plain regressors on the same subsets
  Listener listener = {};
};
Result<Document> answer_annealing(const AnnealRequest& request);

}  // namespace assay
