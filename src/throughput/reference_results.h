#pragma once

// Results of a prototype of the methods in another language on the same splits of
// LLM-Inference-Bench (argonne-lcf, Plots/All_results.csv, BSD-3-Clause). Reports print them next
// to results on that table.

#include <optional>
#include <string_view>

#include "throughput/method.h"

namespace assay {

struct ReferenceError {
  std::string_view split;
  std::string_view method;
  double median_ape = 0;  // shares of 1
  double p90_ape = 0;
};

// True if these are the 4,715 configurations of that table, in any order.
bool is_llm_inference_bench(const ThroughputData& data);

std::optional<ReferenceError> reference_error(std::string_view split, std::string_view method);

}  // namespace assay
