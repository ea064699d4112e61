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

}  // namespace assay
