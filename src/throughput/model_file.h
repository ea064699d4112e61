#pragma once

// A fitted model as a file (docs/formats/throughput_model.md). It contains everything that
// predictions need, so they do not change with the table, the specifications or the defaults of a
// later version.

#include <string>
#include <string_view>

#include "base/result.h"
#include "throughput/predictor.h"

namespace assay {

inline constexpr int kThroughputModelVersion = 10;

struct ThroughputFit {
  std::string source;  // the table's file
  std::string format;  // and its format
  ThroughputData data;
  FactBook facts;
  PredictorOptions options;
  std::string method = "assay";  // or "ala"
};

// The inputs of a predictor, with the scales that it measured.
std::string write_model(const ThroughputFit& fit, const Predictor& predictor,
                        const Predictor::DigestProgress& progress = {});
// The same for ALA: the rows are all it is made of.
std::string write_ala_model(const ThroughputFit& fit);
// Another version, a file of something else and damage are errors of their own.
// The digests keep the text.
Result<ThroughputFit> read_model(std::string text, const std::string& file);
bool looks_like_model(std::string_view text);

}  // namespace assay
