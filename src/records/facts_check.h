#pragma once

// Values of one model or device that cannot all be true.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "records/facts.h"

namespace assay {

struct FactProblem {
  std::string attribute;  // the one to look at
  std::string message;    // one sentence
};

// kind: "model" or "hardware". Values that are not told contradict nothing.
std::optional<FactProblem> contradiction(std::string_view kind,
                                         const std::map<std::string, Fact>& values);

// 10^9 weights that a transformer of so many layers and such a hidden size has, about 12 hidden^2 a
// layer, with experts those that work on a token; NaN where one is not told.
double parameters_by_layers(const std::map<std::string, Fact>& values);

}  // namespace assay
