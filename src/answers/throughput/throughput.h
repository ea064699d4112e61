#pragma once

// Predicts the throughput of unmeasured configurations and suggests what to measure next.

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
  std::string model;  // content of a model file: docs/formats/throughput_model.md
  Document document;
};
Result<ThroughputFitAnswer> answer_fit(const ThroughputFitRequest& request);

struct PredictRequest {
  BenchRequest bench = {};  // a model file, or tables
  FitRequest fit = {};
  PointRequest points = {};
  bool curves = false;       // also throughput over batch size
  bool inside_only = false;  // fail if a point is outside the range of the data
  Listener listener = {};
};
Result<Document> answer_prediction(const PredictRequest& request);

struct SuggestRequest {
  BenchRequest bench = {};  // as PredictRequest
  FitRequest fit = {};
  PointRequest points = {};  // candidates for a goal; without one, the points of interest
  Goal goal = {};            // absent: suggest what to measure next
  std::string rank = "gpu";  // ranking of what meets a goal: per "gpu", or "total"
  size_t top = 5;            // suggestions; 0 = all
  bool inside_only = false;  // as PredictRequest, for a goal
  Listener listener = {};
};
Result<Document> answer_suggestion(const SuggestRequest& request);

// GPUs that serve a model at a given rate within latency limits, and their cost.
struct PlanRequest {
  BenchRequest bench = {};
  std::string model = {};
  std::optional<double> in_len = {};  // mean tokens
  std::optional<double> out_len = {};
  std::optional<double> per_s = {};  // requests per second
  std::string requests = {};         // file: request trace that supplies absent values above
  double ttft_ms = 0;                // limits
  double tpot_ms = 0;
  double percentile = 0.9;
  double confidence = 0.9;
  std::optional<double> burstiness = {};  // absent: that of the request trace, else Poisson
  std::string prices = {};                // file; empty = the table's GPUs, ranked by count
  std::vector<std::string> engines = {};  // empty: all that ran the model
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
  std::vector<std::string> names = {};  // printed in full; empty = a summary of all
  std::string facts = {};               // file with additional specifications
};
Result<Document> answer_facts(const FactsRequest& request);

// Error of predictions on held-out rows.
struct EvaluateRequest {
  BenchRequest bench = {};
  // Rows that are never used for training. With tables, latency errors are evaluated on them
  // instead of on splits. Specifications are those of `bench`.
  BenchRequest judge = {};
  std::vector<std::string> splits = {"all"};
  std::vector<std::string> methods = {"assay"};
  bool timing = false;  // report the time of each fold, which differs from run to run
  Listener listener = {};
};
Result<Document> answer_evaluation(const EvaluateRequest& request);

// ALA's search for the most informative training subset.
struct AnnealRequest {
  BenchRequest bench = {};
  std::string source = {};  // training rows, by prefix of their names; empty = all
  std::vector<std::string> targets = {};  // rows on which the trained model is evaluated
  std::vector<uint64_t> seeds = {1, 2, 3};
  int steps = 200;
  int rounds = 500;
  bool exhaustive = false;  // evaluate every subset instead of annealing
  bool baselines = false;   // also evaluate plain regressors on the same subsets
  Listener listener = {};
};
Result<Document> answer_annealing(const AnnealRequest& request);

}  // namespace assay
