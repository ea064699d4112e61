#pragma once

// Quantities derived from hardware counters. The formulas are data (data/counter_formulas.ini,
// docs/formats/counter_formulas.md).

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "breakdown/expression.h"

namespace assay {

using NamedValues = std::map<std::string, double, std::less<>>;

// A quantity derived from one set of counters.
struct DerivedValue {
  std::string quantity = {};
  std::string unit = {};
  double value = 0;
  std::string formula = {};  // the formula used
  std::string source = {};
  std::vector<std::string> assumed_zero = {};  // optional counters that were not measured
};

// A quantity that could not be derived, and the inputs that its formulas lack.
struct MissingQuantity {
  std::string quantity = {};
  std::vector<std::string> needs = {};  // missing names, per formula
};

struct Derived {
  std::vector<DerivedValue> values;  // in the order of the table
  std::vector<MissingQuantity> missing;

  const DerivedValue* find(std::string_view quantity) const;
};

class CounterFormulas {
 public:
  static Result<CounterFormulas> built_in();
  // Adds quantities and formulas of a file; its formulas take precedence over existing ones. Errors
  // contain the line number.
  Status add(std::string_view text, const std::string& file);

  // values: counters and device constants. NaN counts as missing.
  Derived derive(const NamedValues& values) const;
  // Names of all counters used by any formula, sorted.
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
