#pragma once

// Sentences about a fitted model, for fit, predict and report with any method.

#include <string>
#include <vector>

#include "answers/throughput/model.h"
#include "report/throughput/section.h"
#include "trace/trust.h"

namespace assay {

std::vector<std::string> fit_words(const FittedModel& model);
Section fit_section(const FittedModel& model);
TrustNotes fit_trust(const FittedModel& model);

// Caveats of the table and how the parameter search ended; they follow the headline.
std::vector<std::string> notes_of(const FittedModel& model);
void add_notes(const FittedModel& model, Document& document);

Result<ThroughputAnswers> answer_points(const FittedModel& model,
                                        const std::vector<BenchRow>& points);

// Curve points for each configuration and length among `points`. They include every batch size of
// the table, and every power of two up to the largest batch in the table or request.
std::vector<BenchRow> curve_points(const FittedModel& model, const std::vector<BenchRow>& points);

}  // namespace assay
