#pragma once

// A section of a Document from a fitted throughput model, and its caveats.

#include <string>
#include <vector>

#include "report/throughput/section.h"
#include "throughput/ala/ala_predictor.h"
#include "trace/trust.h"

namespace assay {

// Keys: "method", rows, dropped, fits, scales, left_out and confidence.
Section throughput_fit_section(const ThroughputFit& fit, const Predictor& predictor);
std::vector<std::string> throughput_fit_words(const ThroughputFit& fit, const Predictor& predictor);
// Caveats: missing specifications, uninformative rows, dropped rows.
TrustNotes throughput_trust(const ThroughputFit& fit, const Predictor& predictor);
// The same for ALA.
Section ala_fit_section(const ThroughputFit& fit, const AlaPredictor& ala);
std::vector<std::string> ala_fit_words(const ThroughputFit& fit, const AlaPredictor& ala);
TrustNotes ala_trust(const ThroughputFit& fit);

// Caveat on the number of points that are extrapolated or have no prediction.
TrustNotes prediction_trust(const ThroughputAnswers& answers);

// The blocks rows, dropped, `oddities`, ... for the fitted table.
std::vector<Block> fitted_table_blocks(const ThroughputFit& fit);

}  // namespace assay
