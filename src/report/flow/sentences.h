#pragma once

// Sentences that several parts of a report share.

#include <cstddef>
#include <string>
#include <string_view>

#include "flow/answer.h"
#include "flow/cause.h"

namespace assay {

// ", first NAME TIME" of the longest initialization, `columns` at most for the name; empty where nothing names it.
std::string first_cold_words(const FlowAnswer& answer, size_t columns);
// Empty where launches return before their kernels end.
std::string blocking_sentence(const FlowAnswer& answer);
// A cause in a sentence: "operators", "launch latency".
std::string_view cause_words(FlowCause cause);

}  // namespace assay
