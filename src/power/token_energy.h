#pragma once

// Joules per token of a serving engine, on one GPU or on all GPUs that process the same tokens.

#include <limits>
#include <string>

#include "power/attribute.h"

namespace assay {

struct Joules95 {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();

  bool known() const;
};

struct TokenEnergy {
  Joules95 output;           // of the whole trace, over the output tokens
  Joules95 prompt;           // of the steps that process only prompts, per prompt token
  std::string unknown = {};  // why both are unknown; empty if one is known

  static TokenEnergy of(const EnergyReport& report);
  // Adds another GPU that processed the same tokens. The sum is unknown if either is.
  void add(const TokenEnergy& other);
};

}  // namespace assay
