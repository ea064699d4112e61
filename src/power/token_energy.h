#pragma once

// Joules per token of a serving engine, of one GPU or of all that work on the same tokens.

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
  Joules95 prompt;           // of the steps with prompts alone, over their tokens
  std::string unknown = {};  // reason why neither is known; empty if it is or if none was given

  static TokenEnergy of(const EnergyReport& report);
  // Adds another GPU with the same tokens. The sum is unknown if one of them is.
  void add(const TokenEnergy& other);
};

}  // namespace assay
