#include "report/document/self_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace assay {
namespace {

constexpr double kRounding = 1e-9;  // tolerance of a share that results from a division

constexpr const char* kShareLaw = "a share is between 0 and 1";
constexpr const char* kNegativeLaw = "it cannot be negative";
constexpr const char* kIntervalLaw = "its interval does not hold it";

// True for parts of a whole. Ratios to a model may exceed 1 or be negative: to a roofline or
// another peak, to the launch-overhead floor, and to models of power and replay.
bool is_share(std::string_view key, Unit unit) {
  const bool of_model = key == "error_share" || key == "floor_share" || key == "link_share" ||
                        key == "energy_share" || key.starts_with("peak_") ||
                        key.find("roofline") != std::string_view::npos;
  const bool of_whole = key.ends_with("share") && !key.ends_with("change_share");
  return unit == Unit::kShare && of_whole && !of_model;
}

// Excludes watts: the headroom below a power limit, and the power of a GPU minus that of its
// components, are differences.
bool is_amount(Unit unit) {
  return unit == Unit::kCount || unit == Unit::kBytes || unit == Unit::kPerSecond ||
         unit == Unit::kBytesPerSecond;
}

// The invariant that a single value violates; null if none.
const char* broken_alone(std::string_view key, Unit unit, const Value& value) {
  const std::optional<double> number = value.number();
  if (!number) return nullptr;
  if (is_share(key, unit) && (*number < -kRounding || *number > 1 + kRounding)) return kShareLaw;
  return is_amount(unit) && *number < 0 ? kNegativeLaw : nullptr;
}

// `key` without `word`: "gain_low_ns" without "low" is "gain_ns". Empty if the key does not contain
// it.
std::string without(std::string_view key, std::string_view word) {
  for (size_t at = key.find(word); at != std::string_view::npos; at = key.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || key[at - 1] == '_' || key[at - 1] == '.';
    const bool ends = end == key.size() || key[end] == '_';
    if (!begins || !ends) continue;
    std::string rest(key.substr(0, at));
    rest += key.substr(std::min(end + 1, key.size()));
    if (rest.ends_with('_')) rest.pop_back();
    return rest;
  }
  return {};
}

// Indices of a value and of the ends of its interval within a row.
struct Ends {
  size_t value = 0;
  std::optional<size_t> low;
  std::optional<size_t> high;
};

// keyed: elements with a key, such as columns or items.
template <typename Keyed>
std::vector<Ends> ends_among(const std::vector<Keyed>& keyed) {
  std::map<std::string_view, Ends> by_key;
  for (size_t i = 0; i < keyed.size(); ++i) by_key[keyed[i].key].value = i;
  for (size_t i = 0; i < keyed.size(); ++i) {
    if (const auto at = by_key.find(without(keyed[i].key, "low")); at != by_key.end()) at->second.low = i;
    if (const auto at = by_key.find(without(keyed[i].key, "high")); at != by_key.end()) at->second.high = i;
  }
  std::vector<Ends> found;
  for (const auto& [key, ends] : by_key) {
    if (ends.low || ends.high) found.push_back(ends);
  }
  return found;
}

bool ordered(const std::optional<double>& low, const std::optional<double>& high) {
  return !low || !high || *low <= *high + kRounding * std::max(std::fabs(*low), std::fabs(*high));
}

std::string joined(const std::string& place, const std::string& key) {
  return place.empty() || key.empty() ? place + key : place + "." + key;
}

// Visits the cells of a document. Calls the sink with location, invariant and value for each
// violation.
template <typename Sink>
class Walker {
 public:
  explicit Walker(Sink& sink) : sink_(sink) {}

  template <typename Sections>
  void sections(const std::string& place, Sections& all) {
    for (auto& section : all) {
      for (auto& block : section.blocks) {
        std::visit([&](auto& one) { this->block(joined(place, section.key), one); }, block);
      }
    }
  }

 private:
  template <typename Block>
  void block(const std::string& place, Block& block) {
    using Plain = std::remove_const_t<Block>;
    if constexpr (std::is_same_v<Plain, Facts>) {
      row(joined(place, block.key), block.items, ends_among(block.items),
          [&](size_t i) -> auto* { return &block.items[i].value; });
    } else if constexpr (std::is_same_v<Plain, Table>) {
      rows(joined(place, block.key), block.columns, block.rows, [](auto& one) -> auto& { return one; });
    } else if constexpr (std::is_same_v<Plain, Tree>) {
      rows(joined(place, block.key), block.columns, block.nodes,
           [](auto& one) -> auto& { return one.values; });
    } else if constexpr (std::is_same_v<Plain, Elements>) {
      for (size_t i = 0; i < block.elements.size(); ++i) {
        sections(fmt::format("{}[{}]", joined(place, block.key), i), block.elements[i]);
      }
    }
  }

  template <typename Rows, typename CellsOf>
  void rows(const std::string& place, const std::vector<Column>& columns, Rows& all, CellsOf cells_of) {
    const std::vector<Ends> ends = ends_among(columns);
    for (size_t r = 0; r < all.size(); ++r) {
      auto& cells = cells_of(all[r]);
      row(fmt::format("{}[{}]", place, r), columns, ends, [&](size_t i) -> decltype(&cells[0]) {
        return i < cells.size() ? &cells[i] : nullptr;
      });
    }
  }

  // `keyed` has the keys and units of the cells. `cell(i)` returns the i-th value, or null if the
  // row is shorter.
  template <typename Keyed, typename Cell>
  void row(const std::string& place, const std::vector<Keyed>& keyed, const std::vector<Ends>& ends,
           Cell cell) {
    for (size_t i = 0; i < keyed.size(); ++i) {
      auto* value = cell(i);
      if (value == nullptr) break;
      if (const char* law = broken_alone(keyed[i].key, keyed[i].unit, *value)) {
        sink_(joined(place, keyed[i].key), law, *value);
      }
    }
    const auto number = [&](std::optional<size_t> i) -> std::optional<double> {
      const auto* value = i ? cell(*i) : nullptr;
      return value == nullptr ? std::nullopt : value->number();
    };
    for (const Ends& one : ends) {
      const std::optional<double> value = number(one.value);
      const std::optional<double> low = number(one.low);
      const std::optional<double> high = number(one.high);
      if (ordered(low, value) && ordered(value, high) && ordered(low, high)) continue;
      for (const std::optional<size_t> i : {std::optional<size_t>(one.value), one.low, one.high}) {
        auto* broken = i ? cell(*i) : nullptr;
        if (broken != nullptr) sink_(joined(place, keyed[*i].key), kIntervalLaw, *broken);
      }
    }
  }

  Sink& sink_;
};

struct BrokenAnswer {
  std::vector<std::pair<size_t, const char*>> actions;  // index, invariant
  bool sums = true;                                      // the causes add up to the whole
  std::vector<std::pair<std::string, const char*>> findings;  // code, invariant
};

BrokenAnswer broken_in(const ShortAnswer& answer) {
  BrokenAnswer broken;
  if (!answer.causes.empty()) {
    int64_t sum = 0;
    for (const AnswerCause& cause : answer.causes) {
      broken.sums = broken.sums && cause.ns >= 0;
      sum += cause.ns;
    }
    broken.sums = broken.sums && sum == answer.total_ns;
  }
  for (size_t i = 0; i < answer.levers.size(); ++i) {
    const AnswerLever& action = answer.levers[i];
    const char* law = nullptr;
    if (action.gain_ns < 0) {
      law = "it saves nothing";
    } else if (answer.total_ns > 0 && action.gain_ns > answer.total_ns) {
      law = "it saves more than the whole run";
    } else if (!(action.share >= 0 && action.share <= 1 + kRounding)) {
      law = kShareLaw;
    } else if (action.gain_reach && (action.gain_ns < action.gain_reach->start_ns ||
                                     action.gain_ns > action.gain_reach->end_ns)) {
      law = kIntervalLaw;
    }
    if (law != nullptr) broken.actions.emplace_back(i, law);
  }
  for (const findings::Finding& finding : answer.findings) {
    for (const findings::Quantity& one : finding.quantities) {
      const char* law = broken_alone(value_key(one), one.unit, one.value);
      if (law != nullptr) broken.findings.emplace_back(findings::name(finding.code), law);
    }
  }
  return broken;
}

void add_breaches(const std::string& place, const ShortAnswer& answer, std::vector<Breach>& found) {
  const BrokenAnswer broken = broken_in(answer);
  if (!broken.sums) found.push_back({joined(place, "summary.causes"), "they do not add up to the whole"});
  for (const auto& [code, law] : broken.findings) {
    found.push_back({joined(place, "summary.findings." + code), law});
  }
  for (const auto& [action, law] : broken.actions) {
    found.push_back({fmt::format("{}[{}]", joined(place, "summary.actions"), action), law});
  }
}

void repair(ShortAnswer& answer) {
  const BrokenAnswer broken = broken_in(answer);
  if (!broken.sums || !broken.findings.empty()) {
    answer.confidence = findings::Confidence::kNone;
    answer.reason = "its numbers contradict each other: an error of this program, please report it";
  }
  for (auto one = broken.actions.rbegin(); one != broken.actions.rend(); ++one) {
    answer.levers.erase(answer.levers.begin() + static_cast<std::ptrdiff_t>(one->first));
  }
  if (!broken.actions.empty()) answer.together.clear();  // refers to actions by index
}

// Doc: Document or const Document.
template <typename Doc, typename Sink, typename AnswerSink>
void walk(Doc& document, Sink& sink, AnswerSink&& answers) {
  Walker<Sink> walker(sink);
  if (document.answer) answers(std::string(), *document.answer);
  walker.sections("", document.sections);
  for (size_t i = 0; i < document.parts.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", document.parts_key, i);
    if (document.parts[i].answer) answers(place, *document.parts[i].answer);
    walker.sections(place, document.parts[i].sections);
  }
}

}  // namespace

std::vector<Breach> breaches_of(const Document& document) {
  std::vector<Breach> found;
  auto note = [&found](std::string place, const char* law, const Value&) {
    found.push_back({std::move(place), law});
  };
  walk(document, note, [&found](const std::string& place, const ShortAnswer& answer) {
    add_breaches(place, answer, found);
  });
  return found;
}

void withhold(const std::vector<Breach>& breaches, Document& document) {
  if (breaches.empty()) return;
  std::vector<Value*> broken;
  auto collect = [&broken](const std::string&, const char*, Value& value) { broken.push_back(&value); };
  walk(document, collect, [](const std::string&, ShortAnswer& answer) { repair(answer); });
  for (Value* value : broken) *value = Value();
  document.import_log.push_back(
      {.code = "self_check",
       .severity = "data_loss",
       .count = breaches.size(),
       .meaning = fmt::format("values left out since they cannot be true, the first of them {}: {}; an error of this "
                              "program, please report it",
                              breaches.front().place, breaches.front().law)});
}

}  // namespace assay
