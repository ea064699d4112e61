// Output for CI: JUnit XML and GitHub annotations.

#include <algorithm>
#include <string>

#include "report/diff/section.h"
#include "text/plain_text.h"

namespace assay {
namespace {

bool is_error(GateOutcome outcome) {
  return outcome == GateOutcome::kUndecided || outcome == GateOutcome::kNoValue;
}

std::string test_case(const std::string& name, const std::string& outcome) {
  return "    <testcase classname=\"assay.diff\" name=\"" + escape_markup(name) + "\">\n      " +
         outcome + "\n    </testcase>\n";
}

std::string error_outcome(const std::string& message) {
  return "<error message=\"" + escape_markup(message) + "\"/>";
}

std::string test_case(const GateResult& gate) {
  const std::string words = gate_words(gate);
  if (is_error(gate.outcome)) return test_case(gate.gate.text, error_outcome(words));
  return test_case(gate.gate.text, gate.outcome == GateOutcome::kCrossed
                                       ? "<failure message=\"" + escape_markup(words) + "\"/>"
                                       : "<system-out>" + escape_markup(words) + "</system-out>");
}

std::string verdict_case(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& sentence : words) text += escape_markup(sentence) + "\n";
  return test_case("verdict", "<system-out>" + text + "</system-out>");
}

// Escapes the message and properties of a workflow command like GitHub's toolkit.
std::string command_text(std::string_view raw, bool property) {
  std::string out;
  for (const char c : clean_text(raw)) {
    if (c == '%') {
      out += "%25";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string command(const char* level, const std::string& title, const std::string& message) {
  return std::string("::") + level + " title=" + command_text(title, true) +
         "::" + command_text(message, false) + "\n";
}

// A file with one suite. totals: XML attributes with the counts.
std::string test_suite(const std::string& totals, const std::string& a, const std::string& b,
                       const std::string& cases) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + totals +
         ">\n  <testsuite name=\"assay diff " + escape_markup(a) + " " + escape_markup(b) + "\"" +
         totals + ">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace

std::string diff_junit(const DiffView& view, const std::string& a, const std::string& b) {
  const auto number = [&](auto wanted) {
    return std::to_string(
        std::count_if(view.gates.begin(), view.gates.end(),
                      [&](const GateResult& gate) { return wanted(gate.outcome); }));
  };
  const std::string failures = number([](GateOutcome o) { return o == GateOutcome::kCrossed; });
  const std::string errors = number(is_error);
  const std::string tests = std::to_string(view.gates.size() + 1);
  const std::string totals =
      " tests=\"" + tests + "\" failures=\"" + failures + "\" errors=\"" + errors + "\"";
  std::string cases;
  for (const GateResult& gate : view.gates) cases += test_case(gate);
  return test_suite(totals, a, b, cases + verdict_case(diff_words(view)));
}

std::string diff_error_junit(const std::vector<Gate>& gates, const std::string& message,
                             const std::string& a, const std::string& b) {
  const std::string number = std::to_string(gates.size() + 1);
  const std::string totals = " tests=\"" + number + "\" failures=\"0\" errors=\"" + number + "\"";
  const std::string outcome = error_outcome(message);
  std::string cases;
  for (const Gate& gate : gates) cases += test_case(gate.text, outcome);
  return test_suite(totals, a, b, cases + test_case("verdict", outcome));
}

std::string diff_annotations(const DiffView& view) {
  std::string text;
  for (const GateResult& gate : view.gates) {
    if (gate.outcome == GateOutcome::kPassed) continue;
    const char* level = gate.outcome == GateOutcome::kWithinNoise ? "warning" : "error";
    text += command(level, "assay diff " + gate.gate.text, gate_words(gate));
  }
  for (const TrustNote& note : view.notes) {
    text += command("warning", "assay diff " + note.what, note.effect);
  }
  return text + command("notice", "assay diff", diff_words(view).front());
}

}  // namespace assay
