#pragma once

// Quantities derived from counters, by formulas kept as data (data/counter_formulas.ini,
// docs/formats/counter_formulas.md).

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "breakdown/expression.h"

namespace assay {

using NamedValues = std::map<std::string, double, std::less<>>;

// A quantity of one set of counters.
struct DerivedValue {
  std::string quantity = {};
  std::string unit = {};
  double value = 0;
  std::string formula = {};  // the one used
  std::string source = {};
  std::vector<std::string> assumed_zero = {};  // optional counters that were not measured
};

// A quantity that could not be derived, and what its formulas would need.
struct MissingQuantity {
  std::string quantity = {};
  std::vector<std::string> needs = {};  // per formula: the names that were not there
};

struct Derived {
  std::vector<DerivedValue> values;  // in the order of the table
  std::vector<MissingQuantity> missing;

  const DerivedValue* find(std::string_view quantity) const;
};

class CounterFormulas {
 public:
  static Result<CounterFormulas> built_in();
  // Adds quantities and formulas of a file; its formulas come before those that are there. Errors
  // name the line.
  Status add(std::string_view text, const std::string& file);

  // values: counters, and the constants of the device. Missing and NaN values are the same.
  Derived derive(const NamedValues& values) const;
  // Names of every counter that some formula uses, sorted.
  std::vector<std::string> counters() const;

 private:
  struct Formula {
    Expression expression;
    std::string source;
    std::vector<std::string> optional;
  };
  struct Quantity {
    std::string name;
    std::string unit;
    std::vector<Formula> formulas;
  };
  Quantity& open(std::string_view name);
  static bool apply(const Formula& formula, const NamedValues& values, DerivedValue& derived,
                    std::vector<std::string>& needs);

  std::vector<Quantity> quantities_;
};

}  // namespace assay
