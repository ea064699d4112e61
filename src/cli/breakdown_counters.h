#pragma once

// Options of `breakdown` for hardware counters.

#include <string>
#include <vector>

#include "answers/breakdown/counters.h"

namespace assay {

class Verb;  // cli/options.h

struct CounterFlags {
  std::vector<std::string> counters;
  std::string peaks;
  std::string reading = "curve";
  std::string formulas;
  std::string facts;
  bool partial = false;
};

void add_counter_options(Verb& verb, CounterFlags& flags);

CounterRequest counter_request(const CounterFlags& flags);

}  // namespace assay
