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
  std::string source;  // file of the table
  std::string format;  // format of the table
  ThroughputData data;
  FactBook facts;
  PredictorOptions options;
  std::string method = "assay";  // or "ala"
};

// The file as text: the inputs of a predictor with its measured scales and digests.
std::string write_model(const ThroughputFit& fit, const Predictor& predictor,
                        const Predictor::DigestProgress& progress = {});
// The same for ALA, which needs only the rows.
std::string write_ala_model(const ThroughputFit& fit);
// Reads the text of a model file. Fails with distinct errors for another version, another kind of
// file, and damage. The digests keep the text alive.
Result<ThroughputFit> read_model(std::string text, const std::string& file);
bool looks_like_model(std::string_view text);

}  // namespace assay
