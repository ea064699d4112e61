#pragma once

// A row of a rule table: the code of the finding, the condition over facts, and the function that
// fills the finding.

#include <span>
#include <string_view>
#include <vector>

#include "findings/finding.h"
#include "flow/facts.h"

namespace assay::findings {

struct RunRule {
  Code code{};
  std::string_view when;  // the condition as written, for `assay why --rules` and docs/rules.md
  bool (*holds)(const RunFacts& f) = nullptr;
  void (*fill)(const RunFacts& f, Finding& finding) = nullptr;
};

// RULE(code, condition over `f`, statements over `f` and `out`).
#define ASSAY_RULE(code, condition, ...)                                      \
  RunRule {                                                                   \
    Code::code, #condition, []([[maybe_unused]] const RunFacts& f) -> bool { return condition; }, \
        []([[maybe_unused]] const RunFacts& f, [[maybe_unused]] Finding& out) { __VA_ARGS__; } \
  }

// The tables in evaluation order.
std::span<const RunRule> headline_rules();
std::span<const RunRule> detail_rules();
std::span<const RunRule> note_rules();
std::span<const RunRule> confidence_rules();
std::span<const RunRule> confidence_remark_rules();

// The finding of a rule, filled from `facts`.
Finding make(const RunRule& rule, const RunFacts& facts);
// A finding with the window, evidence and spans of the run.
Finding finding_of(Code code, const RunFacts& facts);

}  // namespace assay::findings
