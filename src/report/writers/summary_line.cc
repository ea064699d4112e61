#include "report/writers/summary_line.h"

#include <fmt/format.h>

#include "findings/diagnosis.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {

std::string summary_line(const ShortAnswer& answer) {
  const std::string headline = answer.verdict.empty() ? "" : clean_text(answer.verdict.front());
  std::string line = shorten_middle(headline, kSummaryColumns);
  const auto add = [&line](const std::string& part) {
    const std::string longer = line + " | " + part;
    if (display_width(longer) <= kSummaryColumns) line = longer;
  };
  const bool none = answer.confidence == findings::Confidence::kNone;
  add(fmt::format("{} confidence", none ? "no" : findings::confidence_name(answer.confidence)));
  if (!answer.levers.empty()) {
    const AnswerLever& first = answer.levers.front();
    add(fmt::format("{}: {} {} ({})", clean_text(first.title), first.grade, format_ns(first.gain_ns),
                    format_upper_share(first.share)));
  }
  return line;
}

}  // namespace assay
