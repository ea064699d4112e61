#pragma once

// Input of throughput answers: a model file, or a table that is fitted first.

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
  bool no_physics = false;             // use no specifications of models and devices
  bool refit = false;                  // search for the parameters on this table
  std::optional<double> outside = {};  // beyond the data by more than this factor
  bool small = false;                  // a model file without digests
  std::string method = {};  // "assay" or "ala"; empty: assay, or what the model file says
};

// Points asked about: docs/throughput.md has the grammar.
struct PointRequest {
  std::vector<std::string> at = {};
  std::vector<std::string> grid = {};
};

struct FittedModel {
  ThroughputFit fit;
  std::unique_ptr<Predictor> predictor;    // absent with method "ala"
  std::unique_ptr<AlaPredictor> ala = {};  // with it only
  std::vector<BenchRow> asked = {};        // the points, in the order given
  std::vector<std::string> notes = {};     // how the search for parameters ended
};

// Irregularities of the training rows.
std::vector<ImportNote> import_notes(const FittedModel& model);

// Reads the table and fits it; with refit the parameters are searched for. A search that is stopped
// takes the best parameters so far. text: see load_bench().
Result<FittedModel> fit_table(const BenchRequest& bench, const FitRequest& request,
                              const Listener& listener, const PointRequest& points = {},
                              const std::string* text = nullptr);
// A model file, or a table as above, and the points asked of it, which are checked before anything
// is fitted. Facts and `outside` of the request win over those in the file; what would need another
// fit is refused.
Result<FittedModel> load_model(const BenchRequest& bench, const FitRequest& request,
                               const Listener& listener, const PointRequest& points);

// An error if an answer is outside the range of the data, or missing.
Status refuse_outside(const std::vector<const Explained*>& answers);

}  // namespace assay
