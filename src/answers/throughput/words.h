#pragma once

// What fit, predict and report say of a fitted model, whichever method made it.

#include <string>
#include <vector>

#include "answers/throughput/model.h"
#include "report/throughput/section.h"
#include "trace/trust.h"

namespace assay {

std::vector<std::string> fit_words(const FittedModel& model);
Section fit_section(const FittedModel& model);
TrustNotes fit_trust(const FittedModel& model);

// What of the table must be known with every answer, and how the search for parameters ended:
// behind the verdict.
std::vector<std::string> notes_of(const FittedModel& model);
void add_notes(const FittedModel& model, Document& document);

Result<ThroughputAnswers> answer_points(const FittedModel& model,
                                        const std::vector<BenchRow>& points);

// For each configuration and length of the points: every batch size of the table and every power of
// two up to the largest, of the table or asked for.
std::vector<BenchRow> curve_points(const FittedModel& model, const std::vector<BenchRow>& points);

}  // namespace assay
