// The words a report opens with: what bounds the run and who does it. Every sentence follows from
// FlowVerdict.

#include <array>
#include <string_view>
#include <utility>

#include "text/units.h"
#include "flow/advice.h"
#include "report/flow/sentences.h"
#include "report/flow/answer.h"
#include "report/flow/section.h"

namespace assay {

namespace {

class FlowWords {
 public:
  explicit FlowWords(const FlowAnswer& answer)
      : answer_(answer),
        report_(answer.report),
        verdict_(answer.verdict),
        total_(answer.report.total) {}

  std::string doubt() const {
    if (verdict_.mixed && verdict_.lost.size() > 1) {
      return "Mixed: no single cause has half of the lost time; " + group_text(verdict_.lost[0]) +
             " and " + group_text(verdict_.lost[1]) + " lead.";
    }
    if (verdict_.borderline == Borderline::kAtBound) {
      return "Borderline: a share is within 5 points of the bound that decides.";
    }
    if (verdict_.borderline == Borderline::kInferred) {
      return "Borderline: more than half of that time rests on inference, not on recorded rows.";
    }
    return "";
  }

  // What to do about it, where no lever says so.
  std::string next_step() const {
    if (verdict_.bound == BoundBy::kUnseenWork) {
      return report_.evidence.recorded_waits == 0
                 ? "Record from an earlier start, with all processes and the rows of waits."
                 : "Record from an earlier start, with all processes.";
    }
    if (verdict_.bound == BoundBy::kTooLittle && verdict_.cold_ns * 2 > total_.idle_ns) {
      return "Most of that time (" + format_ns(verdict_.cold_ns) + ") are one-off costs" +
             first_cold_words(answer_, std::string::npos) + cold_note() + ".";
    }
    return "";
  }

  std::string after_start() const {
    if (!verdict_.cold_start || verdict_.cold_iterations > 0) return "";
    if (!verdict_.steady_judged) {
      return "Too little is left besides to say what bounds the steady state: record after the "
             "warm-up.";
    }
    return "The rest is bound by " + group_name(verdict_.steady_bound) +
           "; record after the warm-up to judge it.";
  }

 private:
  static std::string group_name(BoundBy bound) {
    constexpr std::array<std::string_view, kBounds> kNames = {
        "the GPU",       "the host",      "input",          "synchronisation",
        "allocation",    "one-off costs", "unseen work",    "waiting in collectives",
        "communication", "copies",        "missing demand", "too few rows",
        "no GPU work",   "no host rows"};
    return std::string(kNames[static_cast<size_t>(bound)]);
  }
  std::string group_text(const LostGroup& group) const {
    return group_name(group.bound) + " (" + format_share(group.of_window) + " of the window)";
  }

  std::string cold_note() const {
    if (report_.evidence.captured_ns * 2 < verdict_.cold_ns) return "";
    return "; " + format_counted(report_.evidence.captures, "graph was", "graphs were") +
           " captured in " + format_ns(report_.evidence.captured_ns) + ", which is no run";
  }

  const FlowAnswer& answer_;
  const FlowReport& report_;
  const FlowVerdict& verdict_;
  const FlowTotals& total_;
};

}  // namespace

std::vector<std::string> flow_words(const FlowAnswer& answer) {
  const FlowWords words(answer);
  std::vector<std::string> sentences = {verdict_sentence(answer)};
  for (std::string text :
       {blocking_sentence(answer), words.doubt(), words.after_start(), words.next_step()}) {
    if (!text.empty()) sentences.push_back(std::move(text));
  }
  return sentences;
}

}  // namespace assay
