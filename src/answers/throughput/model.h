#pragma once

// Input of throughput answers: a model file, or a table to fit.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "answers/inputs/listener.h"
#include "answers/throughput/bench.h"
#include "report/document/document.h"
#include "throughput/ala/ala_predictor.h"
#include "throughput/model_file.h"

namespace assay {

struct FitRequest {
  bool no_physics = false;             // ignore specifications of models and devices
  bool refit = false;                  // search the parameters on this table
  std::optional<double> outside = {};  // factor beyond the data at which extrapolation begins
  bool small = false;                  // a model file without digests
  std::string method = {};  // "assay" or "ala"; empty = "assay", or that of the model file
};

// Points to predict; grammar in docs/throughput.md.
struct PointRequest {
  std::vector<std::string> at = {};
  std::vector<std::string> grid = {};
};

struct FittedModel {
  ThroughputFit fit;
  std::unique_ptr<Predictor> predictor;    // null with method "ala"
  std::unique_ptr<AlaPredictor> ala = {};  // null with other methods
  std::vector<BenchRow> asked = {};        // requested points in input order
  std::vector<std::string> notes = {};     // how the parameter search ended
};

// Irregularities of the training rows.
std::vector<ImportNote> import_notes(const FittedModel& model);

// Reads the table and fits it. With refit, searches for the parameters. A stopped search yields the
// best so far. text: see load_bench().
Result<FittedModel> fit_table(const BenchRequest& bench, const FitRequest& request,
                              const Listener& listener, const PointRequest& points = {},
                              const std::string* text = nullptr);
// Loads a model file, or a table as above. Points are checked before anything is fitted. Facts and
// `outside` of the request override those of the file. Errors include requests that would need
// another fit.
Result<FittedModel> load_model(const BenchRequest& bench, const FitRequest& request,
                               const Listener& listener, const PointRequest& points);

// Errors: an answer is missing or outside the range of the data.
Status refuse_outside(const std::vector<const Explained*>& answers);

}  // namespace assay
