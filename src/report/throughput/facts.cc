#include "report/throughput/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/decimal.h"
#include "records/facts_check.h"
#include "report/throughput/results.h"

namespace assay {
namespace {

struct FactsOf : FactSection {
  std::map<std::string, Fact> values;
  std::string remark = {};
};

struct OneFact {
  const FactsOf& of;
  std::string attribute;
  const Fact& fact;
};

bool is_estimate(const Fact& fact) { return fact.source.find("estimate") != std::string::npos; }

double number_told(const FactsOf& of, const char* attribute) {
  const auto at = of.values.find(attribute);
  return at == of.values.end() ? 0 : at->second.value;
}

// A size more than a factor of three off indicates a typo, or an architecture that the formula does
// not cover.
std::string odd_size(const FactsOf& of) {
  if (of.kind != "model" || !of.missing.empty() || number_told(of, "experts") > 1) return "";
  const double expected = parameters_by_layers(of.values);
  const double ratio = number_told(of, "parameters_b") / expected;
  if (ratio < 3 && ratio > 1.0 / 3) return "";
  return fmt::format("layers and hidden size suggest {} x 10^9 parameters",
                     rounded_text(expected, 2));
}

std::vector<FactsOf> with_values(const FactBook& facts, const std::vector<FactSection>& shown) {
  std::vector<FactsOf> out;
  for (const FactSection& section : shown) {
    FactsOf of{section, facts.values(section.kind, section.name)};
    const auto add_remark = [&of](const std::string& text) {
      of.remark += (of.remark.empty() ? "" : ", ") + text;
    };
    if (!of.missing.empty()) add_remark(fmt::format("lacks {}", fmt::join(of.missing, ", ")));
    if (const std::string odd = odd_size(of); !odd.empty()) add_remark(odd);
    bool any_estimate = false;
    for (const auto& [attribute, fact] : of.values) {
      if (!is_estimate(fact)) continue;
      add_remark((any_estimate ? "" : "estimated: ") + attribute);
      any_estimate = true;
    }
    out.push_back(std::move(of));
  }
  return out;
}

std::string facts_in_short(const FactsOf& of) {
  const auto number = [&of](const char* attribute) {
    const double value = number_told(of, attribute);
    return value > 0 ? rounded_text(value, 4) : "?";
  };
  if (of.kind == "model") {
    std::string text = number("parameters_b") + " x 10^9";
    if (number_told(of, "active_b") > 0) text += " (" + number("active_b") + " active)";
    return text + ", " + number("layers") + " layers, " + number("heads") + "/" +
           number("kv_heads") + " heads";
  }
  std::string text = number("tflops");
  if (number_told(of, "fp8_tflops") > 0) text += "/" + number("fp8_tflops");
  if (number_told(of, "fp4_tflops") > 0) text += "/" + number("fp4_tflops");
  return text + " TFLOP/s, " + number("bandwidth_tb_s") + " TB/s, " + number("memory_gb") + " GB";
}

// All values with their sources, for a few requested models or devices.
Table readers_table(const FactsOf& of) {
  const std::vector<std::pair<std::string, Fact>> values(of.values.begin(), of.values.end());
  using V = std::pair<std::string, Fact>;
  TableOf table(values, {.title = of.name + ": " + facts_in_short(of),
                         .terminal_limit = 0,
                         .show = Show::kReadersOnly});
  table.add(keys::spec_attribute, [](const V& v) { return v.first; })
      .add(
          keys::spec_text,
          [](const V& v) {
            return v.second.word.empty() ? rounded_text(v.second.value, 8) : v.second.word;
          },
          Look(Show::kEverywhere, false, Align::kRight))
      .add(
          keys::source, [](const V& v) { return v.second.source; }, elastic());
  return table;
}

}  // namespace

Section facts_section(const FactBook& facts, const std::vector<FactSection>& shown, bool in_full) {
  Section section{.key = "throughput", .title = "Facts"};
  const std::vector<FactsOf> all = with_values(facts, shown);
  std::vector<OneFact> values;
  for (const FactsOf& of : all) {
    for (const auto& [attribute, fact] : of.values) values.push_back({of, attribute, fact});
  }
  TableOf table(
      all,
      {.key = "facts", .terminal_limit = 0, .show = in_full ? Show::kDataOnly : Show::kEverywhere});
  // Models come first. Estimates are marked at each value if the name was requested.
  table.add(keys::spec_kind, &FactsOf::kind, Show::kDataOnly)
      .add(keys::name, &FactsOf::name)
      .add(keys::spec_summary, facts_in_short)
      .add(keys::spec_remark, &FactsOf::remark, Show::kDataOnly);
  section.blocks.push_back(table);
  TableOf each(values, {.key = "values", .terminal_limit = 0, .show = Show::kDataOnly});
  each.add(keys::name, [](const OneFact& f) { return f.of.name; })
      .add(keys::spec_attribute, &OneFact::attribute)
      .add(keys::spec_value,
           [](const OneFact& f) {
             return f.fact.word.empty() ? Value(f.fact.value) : Value(f.fact.word);
           })
      .add(
          keys::source, [](const OneFact& f) { return f.fact.source; }, elastic());
  section.blocks.push_back(each);
  if (!in_full) return section;
  for (const FactsOf& of : all) section.blocks.push_back(readers_table(of));
  return section;
}

std::vector<std::string> facts_words(const FactBook& facts, const std::vector<FactSection>& shown) {
  const std::vector<FactsOf> all = with_values(facts, shown);
  size_t models = 0;
  size_t estimated = 0;
  size_t odd = 0;
  for (const FactsOf& of : all) {
    models += of.kind == "model";
    estimated += of.remark.find("estimated") != std::string::npos;
    odd += of.remark.find("suggest") != std::string::npos;
  }
  std::vector<std::string> words = {format_counted(models, "model", "models") + " and " +
                                    format_counted(all.size() - models, "device", "devices") +
                                    ": no values of one contradict each other."};
  for (const FactsOf& of : all) {
    if (of.missing.empty()) continue;
    words.push_back(fmt::format("[{} {}] lacks {}: predictions do not use it.", of.kind, of.name,
                                fmt::join(of.missing, ", ")));
  }
  if (estimated > 0)
    words.push_back(fmt::format(
        "{} {} values that are estimates: request them by name to see their sources.",
        estimated, estimated == 1 ? "has" : "have"));
  if (odd > 0)
    words.push_back(
        fmt::format("{} {} more than three times or less than a third of the parameters that the "
                    "layers suggest.",
                    odd, odd == 1 ? "has" : "have"));
  return words;
}

}  // namespace assay
