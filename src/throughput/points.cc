#include "throughput/points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/ascii.h"
#include "base/decimal.h"

namespace assay {
namespace {

constexpr size_t kMostPoints = 1000000;

enum class Kind : uint8_t { kText, kVariant, kNumber, kBothLengths };

struct Attribute {
  const char* name;
  const char* also;
  Kind kind;
  std::string BenchRow::* text = nullptr;  // of kText
  double BenchRow::* number = nullptr;     // of kNumber

  bool is_name() const { return kind == Kind::kText || kind == Kind::kVariant; }
  std::string name_of(const BenchRow& row) const {
    return kind == Kind::kVariant ? row.variant.text() : row.*text;
  }
};

const std::array<Attribute, 9>& attributes() {
  static const std::array<Attribute, 9> list = {{
      {"hw", "hardware", Kind::kText, &BenchRow::hardware},
      {"n", "devices", Kind::kNumber, nullptr, &BenchRow::devices},
      {"fw", "framework", Kind::kText, &BenchRow::framework},
      {"model", "model", Kind::kText, &BenchRow::model},
      {"variant", "variant", Kind::kVariant},
      {"ii", "in", Kind::kNumber, nullptr, &BenchRow::in_len},
      {"oo", "out", Kind::kNumber, nullptr, &BenchRow::out_len},
      {"len", "length", Kind::kBothLengths},
      {"bb", "batch", Kind::kNumber, nullptr, &BenchRow::batch},
  }};
  return list;
}

Error refuse(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

void copy_name(const Attribute& attribute, const BenchRow& from, BenchRow& to) {
  if (attribute.kind == Kind::kVariant) {
    to.variant = from.variant;
  } else {
    to.*attribute.text = from.*attribute.text;
  }
}

// For messages: input may have hundreds of values.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 40;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

const Attribute* find_attribute(const std::string& name) {
  for (const Attribute& attribute : attributes()) {
    if (name == attribute.name || name == attribute.also) return &attribute;
  }
  return nullptr;
}

std::vector<std::string> split(const std::string& text, const std::string& at) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + at.size();
  }
}

struct Given {
  const Attribute* attribute;
  std::string value;
};

// A comma begins a new pair if a name and '=' follow. Otherwise it is part of the value.
Result<std::vector<Given>> parse_pairs(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : split(text, ",")) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      if (pairs.empty())
        return refuse("'" + shortened(text) +
                      "': write a point as bb=96,ii=1024,oo=256,hw=...,model=...");
      pairs.back().second += "," + part;
      continue;
    }
    std::string name = part.substr(0, equals);
    name.erase(std::remove_if(name.begin(), name.end(),
                              [](unsigned char c) { return std::isspace(c) != 0; }),
               name.end());
    pairs.emplace_back(name, part.substr(equals + 1));
  }
  std::vector<Given> given;
  for (auto& [name, value] : pairs) {
    const Attribute* attribute = find_attribute(name);
    if (attribute == nullptr) {
      std::vector<std::string> names;
      std::string all;
      for (const Attribute& a : attributes()) {
        names.insert(names.end(), {a.name, a.also});
        all += std::string(all.empty() ? "" : ", ") + a.name;
      }
      const std::string near = close_match(name, names);
      return refuse("no attribute '" + name + "'" +
                    (near.empty() ? "." : ": did you mean '" + near + "'?") + " There are " + all);
    }
    for (const Given& earlier : given) {
      if (earlier.attribute == attribute) return refuse("'" + name + "' is given twice");
    }
    given.push_back({attribute, value});
  }
  return given;
}

size_t place_of(const Attribute& attribute) {
  return static_cast<size_t>(&attribute - attributes().data());
}

// A variant is always a measured one, from the first row that has it.
void set_name(const Attribute& attribute, const std::string& name, const MeasuredValues& measured,
              BenchRow& point) {
  if (attribute.kind == Kind::kText) {
    point.*attribute.text = name;
    return;
  }
  const auto at = measured.variants.find(name);
  if (at != measured.variants.end()) point.variant = at->second;
}

std::string plain_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

// The values in order; of more than 8, the first 7 and the last.
std::string listed_numbers(const std::vector<double>& values) {
  constexpr size_t kAll = 8;
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool left_out = values.size() > kAll && i >= kAll - 1 && i + 1 < values.size();
    if (left_out && i > kAll - 1) continue;
    text += (text.empty() ? "" : ", ") + (left_out ? "..." : plain_number(values[i]));
  }
  return text.empty() ? "none" : text;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 12; ++i) {
    text.append(text.empty() ? "" : ", ").append("'").append(names[i]).append("'");
  }
  if (names.size() > 12) text += ", ...";
  return text;
}

// Tokens of letters and digits; a point between digits belongs to the token ("3.1").
std::vector<std::string> tokens_of(const std::string& name) {
  std::vector<std::string> tokens(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const bool in_number = name[i] == '.' && i > 0 && i + 1 < name.size() &&
                           is_digit(name[i - 1]) && is_digit(name[i + 1]);
    const std::string letter = name_key(std::string(1, name[i]));
    if (letter.empty() && !in_number && !tokens.back().empty()) tokens.emplace_back();
    tokens.back() += letter;
  }
  if (tokens.back().empty()) tokens.pop_back();
  return tokens;
}

// Every sequence of neighbouring tokens, joined: the possible short forms of the name.
std::set<std::string> runs_of(const std::string& name) {
  const std::vector<std::string> tokens = tokens_of(name);
  std::set<std::string> runs;
  for (size_t first = 0; first < tokens.size(); ++first) {
    std::string run;
    for (size_t last = first; last < tokens.size(); ++last) runs.insert(run += tokens[last]);
  }
  return runs;
}

// True for words that do not distinguish devices.
bool is_vendor(const std::string& key) {
  static const std::set<std::string> words = {"nvidia", "amd", "intel", "habana", "gpu"};
  return words.count(key) > 0;
}

// The name that equals the key, else all names that contain the key as whole words.
std::vector<std::string> named_by(const std::string& key, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    if (name_key(name) == key) return {name};
    if (runs_of(name).count(key) > 0) parts.push_back(name);
  }
  return parts;
}

// Edit distance between two keys: 1 for a letter changed, removed or added. A missing digit costs
// 1, because it may have been forgotten. A changed or extra digit costs kOtherDigit, because it
// means another product.
size_t distance(const std::string& asked, const std::string& known) {
  constexpr size_t kOtherDigit = 4;
  const auto cost = [](bool digit) { return digit ? kOtherDigit : size_t{1}; };
  std::vector<size_t> row(known.size() + 1);
  for (size_t j = 0; j <= known.size(); ++j) row[j] = j;
  for (const char a : asked) {
    size_t corner = row[0];
    row[0] += cost(is_digit(a));
    for (size_t j = 1; j <= known.size(); ++j) {
      const char b = known[j - 1];
      const size_t change = corner + (a == b ? 0 : cost(is_digit(a) || is_digit(b)));
      corner = row[j];
      row[j] = std::min({change, row[j] + cost(is_digit(a)), row[j - 1] + 1});
    }
  }
  return row.back();
}

Result<std::string> resolve_name(const Attribute& attribute, const std::string& value,
                                 const MeasuredValues& known_values, const FactBook& facts) {
  const std::vector<std::string>& measured = known_values.texts[place_of(attribute)];
  if (std::find(measured.begin(), measured.end(), value) != measured.end()) return value;
  const std::string key = name_key(value);
  if (key.empty()) return refuse(std::string(attribute.name) + " has no value");
  // Specifications list other names of what was measured.
  const bool is_model = attribute.text == &BenchRow::model;
  const bool is_hardware = attribute.text == &BenchRow::hardware;
  const auto same_facts = [&](const std::string& name) {
    if (is_model) return facts.model(value) != nullptr && facts.model(name) == facts.model(value);
    return is_hardware && facts.hardware(value) != nullptr &&
           facts.hardware(name) == facts.hardware(value);
  };
  for (const std::string& name : measured) {
    if (same_facts(name)) return name;
  }
  if (is_model && facts.model(value) != nullptr) return facts.model(value)->name;
  if (is_hardware && facts.hardware(value) != nullptr) return facts.hardware(value)->name;
  const std::vector<std::string> named = named_by(key, measured);
  if (named.size() > 1 || (named.size() == 1 && is_hardware && is_vendor(key)))
    return refuse(std::string(attribute.name) + "='" + value +
                  "' is too little: write out which of " + listed(named));
  if (named.size() == 1) return named.front();
  std::vector<std::string> candidates = measured;
  const std::vector<std::string> known = is_model      ? facts.model_names()
                                         : is_hardware ? facts.hardware_names()
                                                       : measured;
  candidates.insert(candidates.end(), known.begin(), known.end());
  const std::string near = close_match(value, candidates);
  return refuse(std::string(attribute.name) + "='" + value + "': no row has it" +
                (is_model || is_hardware ? " and no facts are known" : "") +
                (near.empty() ? std::string() : "; did you mean '" + near + "'?") +
                (near.empty() ? ". The rows have " + listed(measured) : std::string()) +
                (is_model || is_hardware ? " (--specs FILE adds others)" : ""));
}

Result<double> parse_number(const Attribute& attribute, const std::string& text) {
  double value = 0;
  if (!parse_double(text, value) || !(value > 0) || !std::isfinite(value) ||
      value != std::floor(value))
    return refuse(std::string(attribute.name) + " needs a whole number above 0, not '" +
                  shortened(text) +
                  "'. Lists are written 1|2|4 or 1:2:4, ranges 1..9, 1..256*2 "
                  "or 16..256+16");
  return value;
}

Result<std::vector<double>> parse_range(const Attribute& attribute, const std::string& text) {
  const size_t dots = text.find("..");
  const std::string rest = text.substr(dots + 2);
  const size_t sign = rest.find_first_of("*+");
  ASSAY_TRY_ASSIGN(const double first, parse_number(attribute, text.substr(0, dots)));
  ASSAY_TRY_ASSIGN(const double last, parse_number(attribute, rest.substr(0, sign)));
  double step = 1;
  if (sign != std::string::npos) {
    ASSAY_TRY_ASSIGN(step, parse_number(attribute, rest.substr(sign + 1)));
  }
  const bool grows = sign != std::string::npos && rest[sign] == '*';
  if (last < first || (grows && step <= 1))
    return refuse(std::string(attribute.name) + "=" + text + ": this range is empty or endless");
  std::vector<double> values;
  for (double value = first; value <= last * (1 + 1e-12);
       value = grows ? value * step : value + step) {
    values.push_back(value);
    if (values.size() > kMostPoints) return refuse("'" + text + "' has over a million values");
  }
  return values;
}

Result<std::vector<double>> parse_numbers(const Attribute& attribute, const std::string& text) {
  std::vector<double> values;
  std::string list = text;
  std::replace(list.begin(), list.end(), '|', ':');
  for (const std::string& part : split(list, ":")) {
    if (part.find("..") != std::string::npos) {
      ASSAY_TRY_ASSIGN(const std::vector<double> range, parse_range(attribute, part));
      values.insert(values.end(), range.begin(), range.end());
    } else {
      ASSAY_TRY_ASSIGN(const double value, parse_number(attribute, part));
      values.push_back(value);
    }
  }
  return values;
}

// Fills in the attributes that were not given, if all rows have the same value.
Status fill_in(const std::vector<Given>& given, const MeasuredValues& measured, BenchRow& point) {
  const auto is_given = [&](const Attribute& attribute) {
    return std::any_of(given.begin(), given.end(), [&](const Given& g) {
      const bool length =
          attribute.number == &BenchRow::in_len || attribute.number == &BenchRow::out_len;
      return g.attribute == &attribute || (g.attribute->kind == Kind::kBothLengths && length);
    });
  };
  for (const Attribute& attribute : attributes()) {
    if (attribute.kind == Kind::kBothLengths || is_given(attribute)) continue;
    if (attribute.is_name()) {
      // Without a given variant, the plain one is used if it exists.
      const std::vector<std::string>& values = measured.texts[place_of(attribute)];
      const bool plain =
          attribute.kind == Kind::kVariant && !values.empty() && values.front().empty();
      if (!plain && values.size() != 1) {
        return refuse(std::string(attribute.name) + " is missing: the rows have " + listed(values));
      }
      set_name(attribute, values.front(), measured, point);
      continue;
    }
    const std::vector<double>& values = measured.numbers[place_of(attribute)];
    if (values.size() != 1) {
      return refuse(std::string(attribute.name) + " is missing: the rows have " +
                    listed_numbers(values));
    }
    point.*attribute.number = values.front();
  }
  return Ok{};
}

// A point without measured values.
BenchRow unmeasured() {
  BenchRow point;
  point.devices = 0;
  return point;
}

}  // namespace

MeasuredValues::MeasuredValues(const std::vector<BenchRow>& rows) {
  for (const BenchRow& row : rows) variants.emplace(row.variant.text(), row.variant);
  for (const Attribute& attribute : attributes()) {
    std::set<std::string> text;
    std::set<double> number;
    for (const BenchRow& row : rows) {
      if (attribute.is_name()) text.insert(attribute.name_of(row));
      if (attribute.number != nullptr) number.insert(row.*attribute.number);
    }
    texts[place_of(attribute)].assign(text.begin(), text.end());
    numbers[place_of(attribute)].assign(number.begin(), number.end());
  }
}

std::string close_match(const std::string& name, const std::vector<std::string>& known) {
  const std::string a = name_key(name);
  std::string best;
  size_t least = (a.size() + 1) / 3 + 1;
  for (const std::string& candidate : known) {
    for (const std::string& run : runs_of(candidate)) {
      const size_t off = distance(a, run);
      if (off >= least || is_vendor(run)) continue;
      least = off;
      best = candidate;
    }
  }
  return best;
}

Result<std::vector<BenchRow>> parse_grid(const std::string& text, const MeasuredValues& measured,
                                         const FactBook& facts) {
  ASSAY_TRY_ASSIGN(const std::vector<Given> given, parse_pairs(text));
  BenchRow base = unmeasured();
  ASSAY_TRY(fill_in(given, measured, base));
  std::vector<BenchRow> points = {base};
  for (const Given& g : given) {
    std::vector<BenchRow> names;
    std::vector<double> numbers;
    if (g.attribute->is_name()) {
      for (const std::string& name : split(g.value, "|")) {
        ASSAY_TRY_ASSIGN(const std::string known,
                         resolve_name(*g.attribute, name, measured, facts));
        set_name(*g.attribute, known, measured, names.emplace_back());
      }
    } else {
      ASSAY_TRY_ASSIGN(numbers, parse_numbers(*g.attribute, g.value));
    }
    if (points.size() * std::max(names.size(), numbers.size()) > kMostPoints)
      return refuse("the grid has over a million points");
    std::vector<BenchRow> next;
    for (const BenchRow& point : points) {
      for (const BenchRow& named : names) {
        next.push_back(point);
        copy_name(*g.attribute, named, next.back());
      }
      for (const double number : numbers) {
        next.push_back(point);
        if (g.attribute->kind == Kind::kBothLengths) {
          next.back().in_len = next.back().out_len = number;
        } else {
          next.back().*g.attribute->number = number;
        }
      }
    }
    points = std::move(next);
  }
  for (BenchRow& point : points) settle_precision(point);
  return points;
}

Result<BenchRow> parse_point(const std::string& text, const MeasuredValues& measured,
                             const FactBook& facts) {
  ASSAY_TRY_ASSIGN(std::vector<BenchRow> points, parse_grid(text, measured, facts));
  if (points.size() != 1) return refuse("'" + shortened(text) + "' is a grid: give it with --grid");
  return std::move(points.front());
}

}  // namespace assay
