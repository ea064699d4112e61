#pragma once

// What predict and suggest start from: a model file, or a table that is fitted on the way.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench_flags.h"
#include "report/document/document.h"
#include "throughput/ala/ala_predictor.h"
#include "throughput/model_file.h"

namespace assay {

class Verb;  // cli/options.h

struct FitFlags {
  bool no_physics = false;
  bool refit = false;
  std::optional<double> outside;
  bool small = false;       // a model file without digests
  std::string method = {};  // empty: assay, or what the model file says
};
void add_fit_options(Verb& verb, FitFlags& flags);
void add_method_option(Verb& verb, FitFlags& flags);

// Points of --at and --grid.
struct PointFlags {
  std::vector<std::string> at;
  std::vector<std::string> grid;
};
void add_point_options(Verb& verb, PointFlags& flags);

struct FittedModel {
  ThroughputFit fit;
  std::unique_ptr<Predictor> predictor;    // absent with --method ala
  std::unique_ptr<AlaPredictor> ala = {};  // with it only
  std::vector<BenchRow> asked = {};        // the points, in the order given
  std::vector<std::string> notes = {};     // how the search for parameters ended
};

// What was odd about the rows that were learnt from, and whether any of them were lost.
std::vector<ImportNote> import_notes(const FittedModel& model);
bool has_lost_rows(const Document& document);

// Reads the table and fits it; with --refit the parameters are searched for, with progress on
// stderr. Ctrl-C ends the search, and the best parameters so far are taken. text: see load_bench().
Result<FittedModel> fit_table(const BenchFlags& bench, const FitFlags& flags,
                              const PointFlags& points = {}, const std::string* text = nullptr);
// A model file, or a table as above, and the points asked of it, which are checked before anything
// is fitted. Facts of --facts and --outside win over those in the file; what would need another fit
// is refused.
Result<FittedModel> load_model(const BenchFlags& bench, const FitFlags& flags,
                               const PointFlags& points);

// --strict: an error when an answer is outside the reach of the data, or there is none.
Status refuse_outside(const std::vector<const Explained*>& answers);

}  // namespace assay
