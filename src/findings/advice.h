#pragma once

// Code that addresses a cause, for the framework or engine that was recorded:
// data/tables/advice.tsv.

#include <span>
#include <string_view>
#include <vector>

#include "findings/finding.h"
#include "flow/facts.h"

namespace assay::findings {

struct Advice {
  std::string_view cause;  // "graphs", "input", ...: the first column of the table
  std::vector<std::string_view> when;  // conditions, all of which must hold
  std::string_view program;  // a key of programs.tsv, or one of kAdviceFor
  std::string_view title;    // replaces the action's title; may be empty
  std::string_view code;     // code; line breaks are written as \n
  std::string_view source;   // source document; may be empty
};
std::span<const Advice> all_advice();

// Values of `program` other than keys of programs.tsv. "cuda" and "hip" mean runs without a
// framework.
inline constexpr std::string_view kAdviceFor[] = {"engine", "cuda", "hip", "any"};

// is_condition() is true if `word` is a condition of the table, holds() if the condition is met.
bool is_condition(std::string_view word);
bool holds(std::string_view word, const RunFacts& facts);

// The first row that holds, starting with the outermost program; null if there is none. Rows for
// libraries and frameworks are skipped for runs of an engine.
const Advice* advice_for(std::string_view cause, const RunFacts& facts);

// Adds the values of a row to the finding: `code`, `source`, and for engines and trainers
// `program`.
void fill_advice(const Advice& advice, const RunFacts& facts, Finding& finding);

}  // namespace assay::findings
