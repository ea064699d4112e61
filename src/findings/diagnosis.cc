#include "findings/diagnosis.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "findings/advice.h"
#include "findings/rules/rule.h"

namespace assay::findings {
namespace {

Confidence grade_of(Code reason) {
  switch (reason) {
    case Code::kConfidenceNone:
      return Confidence::kNone;
    case Code::kConfidenceCounters:
    case Code::kConfidenceClockSkew:
    case Code::kConfidenceClockSkewLate:
    case Code::kConfidenceNoHostEvents:
    case Code::kConfidenceNoHostRows:
    case Code::kConfidenceUnexplained:
    case Code::kConfidenceReplayError:
    case Code::kConfidenceUnexplainedPath:
      return Confidence::kLow;
    case Code::kConfidenceHigh:
    case Code::kConfidenceHighByNames:
      return Confidence::kHigh;
    default:
      return Confidence::kMedium;
  }
}

const RunRule& first_of(std::span<const RunRule> rules, const RunFacts& facts) {
  return *std::find_if(rules.begin(), rules.end(),
                       [&facts](const RunRule& rule) { return rule.holds(facts); });
}

std::vector<Finding> all_of(std::span<const RunRule> rules, const RunFacts& facts) {
  std::vector<Finding> findings;
  for (const RunRule& rule : rules) {
    if (rule.holds(facts)) findings.push_back(make(rule, facts));
  }
  return findings;
}

// True if there is no conclusion that further caveats could limit.
bool is_final(Code code) {
  return code == Code::kConfidenceNone || code == Code::kConfidenceNoHostEvents ||
         code == Code::kConfidenceNoHostRows || code == Code::kConfidenceUnexplained;
}

std::vector<Finding> caveats_of(const RunFacts& facts) {
  std::vector<Finding> caveats;
  for (const RunRule& rule : confidence_rules()) {
    if (!rule.holds(facts) || grade_of(rule.code) == Confidence::kHigh) continue;
    caveats.push_back(make(rule, facts));
    if (is_final(rule.code)) break;
  }
  return caveats;
}

// The cause in data/tables/advice.tsv of a bottleneck; empty if the run itself cannot be improved.
std::string_view cause_of_advice(BoundBy bound) {
  switch (bound) {
    case BoundBy::kGpu:
      return "gpu";
    case BoundBy::kHost:
      return "graphs";
    case BoundBy::kInput:
      return "input";
    case BoundBy::kSync:
      return "sync";
    case BoundBy::kAlloc:
      return "alloc";
    case BoundBy::kCopy:
      return "copies";
    case BoundBy::kMigration:
      return "migration";
    case BoundBy::kCollectiveWait:
    case BoundBy::kCommunication:
      return "collective";
    default:
      return "";
  }
}

// A note with the next step, if no action and no other note has one.
std::optional<Finding> next_action(const RunFacts& facts, const Diagnosis& diagnosis) {
  const bool says = std::any_of(diagnosis.actions.begin(), diagnosis.actions.end(),
                                [](const Action& action) { return action.how.has_value(); });
  const Advice* advice = advice_for(cause_of_advice(facts.bottleneck), facts);
  if (says || !diagnosis.notes.empty() || advice == nullptr) return std::nullopt;
  Finding note = finding_of(Code::kNoteDoAdvised, facts);
  fill_advice(*advice, facts, note);
  return note;
}

}  // namespace

int64_t stake_ns(const Finding& caveat) {
  const Quantity* stake = caveat.find("at_stake");
  const int64_t* ns = stake == nullptr ? nullptr : stake->value.get<int64_t>();
  return ns == nullptr ? 0 : *ns;
}

std::string_view confidence_name(Confidence confidence) {
  constexpr std::string_view kNames[] = {"high", "medium", "low", "none"};
  return kNames[static_cast<size_t>(confidence)];
}

Finding finding_of(Code code, const RunFacts& facts) {
  return {.code = code,
          .window = {.span = facts.window,
                     .window_ns = facts.window_ns,
                     .total_ns = facts.total_ns,
                     .devices = facts.devices}};
}

Finding make(const RunRule& rule, const RunFacts& facts) {
  Finding finding = finding_of(rule.code, facts);
  rule.fill(facts, finding);
  return finding;
}

Finding headline_of(const RunFacts& facts) {
  Finding headline = make(first_of(headline_rules(), facts), facts);
  headline.evidence = facts.evidence_shares;
  headline.spans = facts.spans;
  return headline;
}

Diagnosis diagnose(const RunFacts& facts) {
  Diagnosis diagnosis{.headline = headline_of(facts),
                      .details = all_of(detail_rules(), facts),
                      .actions = actions_of(facts),
                      .notes = all_of(note_rules(), facts)};
  if (std::optional<Finding> next = next_action(facts, diagnosis)) {
    diagnosis.notes.push_back(std::move(*next));
  }
  diagnosis.caveats = caveats_of(facts);
  // The rules for high confidence follow all caveats in the table.
  diagnosis.reason = diagnosis.caveats.empty() ? make(first_of(confidence_rules(), facts), facts)
                                               : diagnosis.caveats.front();
  diagnosis.confidence = grade_of(diagnosis.reason.code);
  diagnosis.remarks = all_of(confidence_remark_rules(), facts);
  // Low confidence in the whole run makes remarks on single iterations meaningless.
  if (diagnosis.confidence == Confidence::kLow) {
    std::erase_if(diagnosis.remarks,
                  [](const Finding& one) { return one.code != Code::kConfidenceUnrecorded; });
  }
  return diagnosis;
}

std::vector<RuleState> rule_states(const RunFacts& facts) {
  std::vector<RuleState> states;
  for (const std::span<const RunRule> rules :
       {headline_rules(), detail_rules(), note_rules(), confidence_rules(),
        confidence_remark_rules()}) {
    for (const RunRule& rule : rules) {
      states.push_back({rule.code, rule.when, rule.holds(facts)});
    }
  }
  return states;
}

}  // namespace assay::findings
