#pragma once

// Sections of a Document and CI output formats from a comparison.

#include <optional>
#include <string>
#include <vector>

#include "diff/compare.h"
#include "diff/gate.h"
#include "report/document/document.h"
#include "trace/trust.h"

namespace assay {

struct DiffView {
  const DiffReport& report;
  const std::vector<GateResult>& gates;
  const TrustNotes& notes;
  size_t top = 10;   // rows per level for readers; 0 = all
  bool any = false;  // gates also fail on changes that are not significant
};

// The first sentence is the headline.
std::vector<std::string> diff_words(const DiffView& view);
// "diff": sides, metrics, one table per level, gates.
std::vector<Section> diff_sections(const DiffView& view);

// The minimum detectable change of the mean in ns: the smallest change that is significant at the
// width of this interval. nullopt without an interval.
std::optional<double> diff_least_change(const DiffReport& report);

// JUnit output if a side could not be read: every gate, and the headline, as an error.
std::string diff_error_junit(const std::vector<Gate>& gates, const std::string& message,
                             const std::string& a, const std::string& b);
// One test case per gate; without gates, one passing case with the headline.
std::string diff_junit(const DiffView& view, const std::string& a, const std::string& b);
// GitHub annotations ("::error title=...::..."): failed gates, then the headline.
std::string diff_annotations(const DiffView& view);
// A change with its sign, in percentage points for a share: "+1.20 pp".
std::string diff_change_text(double change, DiffUnit unit);
std::string diff_interval_text(const ChangeInterval& interval, DiffUnit unit);
// A relative change with its sign: "+12.0 %".
std::string diff_percent_text(double share);
// The measured value of a gate; gate_words() adds the outcome.
std::string gate_found(const GateResult& gate);
std::string gate_words(const GateResult& gate);

}  // namespace assay
