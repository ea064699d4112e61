#pragma once

// Detects values of a model or device that cannot all be true.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "records/facts.h"

namespace assay {

struct FactProblem {
  std::string attribute;  // the attribute to check
  std::string message;    // one sentence
};

// The first contradiction. kind: "model" or "hardware". Unknown values contradict nothing.
std::optional<FactProblem> contradiction(std::string_view kind,
                                         const std::map<std::string, Fact>& values);

// Weights, in 1e9, of a transformer with this number of layers and this hidden size, at about 12
// hidden^2 per layer; with experts, the weights used per token. NaN if a value is unknown.
double parameters_by_layers(const std::map<std::string, Fact>& values);

}  // namespace assay
