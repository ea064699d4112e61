#include "breakdown/counter_formulas.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "records/setting_lines.h"

namespace assay {

// Content of data/counter_formulas.ini, converted to a .cc file by CMake.
extern const char* const kBuiltInCounterFormulas;

namespace {

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = trim_spaces(text.substr(0, comma));
    if (!name.empty()) names.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

// True for constants of the device and the run, which are not counters.
bool is_constant(std::string_view name) {
  return name == "compute_units" || name == "matrix_units_per_cu" || name == "xcds" ||
         name == "duration_s";
}

}  // namespace

const DerivedValue* Derived::find(std::string_view quantity) const {
  for (const DerivedValue& value : values) {
    if (value.quantity == quantity) return &value;
  }
  return nullptr;
}

Result<CounterFormulas> CounterFormulas::built_in() {
  CounterFormulas formulas;
  ASSAY_TRY(formulas.add(kBuiltInCounterFormulas, "built-in formulas"));
  return formulas;
}

CounterFormulas::Quantity& CounterFormulas::open(std::string_view name) {
  for (Quantity& quantity : quantities_) {
    if (quantity.name == name) return quantity;
  }
  return quantities_.emplace_back(Quantity{std::string(name), "", {}});
}

Status CounterFormulas::add(std::string_view text, const std::string& file) {
  Quantity* quantity = nullptr;
  size_t own = 0;  // number of this file's formulas in the section, which precede the others
  std::string source = file;
  std::vector<std::string> optional;
  SettingLines lines(text);
  const auto refuse = [&](const std::string& message) {
    return Error{ErrorCode::kFormat, "line " + std::to_string(lines.number()) + ": " + message,
                 file, -1};
  };
  while (const auto line = lines.next()) {
    if (line->kind == SettingLine::Kind::kSection) {
      if (!is_name(line->name)) return refuse("write a section as [quantity]");
      quantity = &open(line->name);
      own = 0;
      source = file;
      optional.clear();
      continue;
    }
    if (line->kind == SettingLine::Kind::kOther || quantity == nullptr)
      return refuse("expected a [quantity], or 'formula =', 'optional =', 'unit =', 'source ='");
    const std::string_view key = line->name;
    const std::string_view value = line->value;
    if (key == "unit") {
      quantity->unit = value;
    } else if (key == "source") {
      source = value;
    } else if (key == "optional") {
      optional = listed(value);
    } else if (key == "formula") {
      const std::string from = line->origin().empty() ? source : std::string(line->origin());
      auto expression = Expression::parse(std::string(line->proper()));
      if (!expression) return refuse(expression.error().message);
      quantity->formulas.insert(quantity->formulas.begin() + static_cast<std::ptrdiff_t>(own++),
                                Formula{*std::move(expression), from, optional});
    } else {
      return refuse("a quantity has unit, source, optional and formula, not '" + std::string(key) +
                    "'");
    }
  }
  return Ok{};
}

bool CounterFormulas::apply(const Formula& formula, const NamedValues& values,
                            DerivedValue& derived, std::vector<std::string>& needs) {
  std::vector<double> arguments;
  bool any = false;
  for (const std::string& name : formula.expression.names()) {
    const auto found = values.find(name);
    const bool is_there = found != values.end() && !std::isnan(found->second);
    const bool is_optional =
        std::find(formula.optional.begin(), formula.optional.end(), name) != formula.optional.end();
    any |= is_there && !is_constant(name);
    if (!is_there && !is_optional) needs.push_back(name);
    if (!is_there && is_optional) derived.assumed_zero.push_back(name);
    arguments.push_back(is_there ? found->second : 0);
  }
  if (needs.empty() && !any) needs = derived.assumed_zero;
  if (!needs.empty()) return false;
  derived.value = formula.expression.evaluate(arguments);
  derived.formula = formula.expression.text();
  derived.source = formula.source;
  return !std::isnan(derived.value);
}

Derived CounterFormulas::derive(const NamedValues& values) const {
  Derived derived;
  NamedValues known = values;
  for (const Quantity& quantity : quantities_) {
    MissingQuantity missing{quantity.name, {}};
    bool done = false;
    for (const Formula& formula : quantity.formulas) {
      DerivedValue value{.quantity = quantity.name, .unit = quantity.unit};
      std::vector<std::string> needs;
      if (apply(formula, known, value, needs)) {
        known[quantity.name] = value.value;
        derived.values.push_back(std::move(value));
        done = true;
        break;
      }
      std::string list;
      for (const std::string& name : needs) list += (list.empty() ? "" : ", ") + name;
      missing.needs.push_back(list.empty() ? "a divisor that is not 0" : list);
    }
    if (!done) derived.missing.push_back(std::move(missing));
  }
  return derived;
}

std::vector<std::string> CounterFormulas::counters() const {
  std::set<std::string> names;
  for (const Quantity& quantity : quantities_) {
    for (const Formula& formula : quantity.formulas) {
      for (const std::string& name : formula.expression.names()) {
        if (!is_constant(name)) names.insert(name);
      }
    }
  }
  for (const Quantity& quantity : quantities_) names.erase(quantity.name);
  return {names.begin(), names.end()};
}

}  // namespace assay
