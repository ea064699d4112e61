#pragma once

// Text to type against a cause, by the program that was recorded: data/tables/advice.tsv.

#include <span>
#include <string_view>
#include <vector>

#include "findings/finding.h"
#include "flow/facts.h"

namespace assay::findings {

struct Advice {
  std::string_view cause;  // "graphs", "input", ...: the first column of the table
  std::vector<std::string_view> when;  // words, all of which must hold
  std::string_view program;  // a key of programs.tsv, or one of kAdviceFor
  std::string_view title;    // in place of the action's own; may be empty
  std::string_view code;     // text to type, with \n as written between lines
  std::string_view source;   // document; may be empty
};
std::span<const Advice> all_advice();

// In addition to keys of programs. CUDA and HIP are those with no framework.
inline constexpr std::string_view kAdviceFor[] = {"engine", "cuda", "hip", "any"};

// True if a word of `when` is known; true if it holds.
bool is_condition(std::string_view word);
bool holds(std::string_view word, const RunFacts& facts);

// The first row of the outermost program that holds; null if the table has none. For an engine, rows of libraries and
// frameworks are left out.
const Advice* advice_for(std::string_view cause, const RunFacts& facts);

// Adds the values of a row: `code`, its `source`, and `program` for engines and trainers.
void fill_advice(const Advice& advice, const RunFacts& facts, Finding& finding);

}  // namespace assay::findings
