// What build machines read: JUnit XML and annotations.

#include <algorithm>
#include <string>

#include "report/diff/section.h"
#include "report/document/text.h"

namespace assay {
namespace {

bool is_error(GateOutcome outcome) {
  return outcome == GateOutcome::kUndecided || outcome == GateOutcome::kNoValue;
}

std::string test_case(const GateResult& gate) {
  std::string text =
      "    <testcase classname=\"assay.diff\" name=\"" + escape_markup(gate.gate.text) + "\"";
  const std::string words = escape_markup(gate_words(gate));
  if (gate.outcome == GateOutcome::kCrossed) {
    return text + ">\n      <failure message=\"" + words + "\"/>\n    </testcase>\n";
  }
  if (is_error(gate.outcome)) {
    return text + ">\n      <error message=\"" + words + "\"/>\n    </testcase>\n";
  }
  return text + ">\n      <system-out>" + words + "</system-out>\n    </testcase>\n";
}

std::string verdict_case(const std::vector<std::string>& words) {
  std::string text = "    <testcase classname=\"assay.diff\" name=\"verdict\">\n      <system-out>";
  for (const std::string& sentence : words) text += escape_markup(sentence) + "\n";
  return text + "</system-out>\n    </testcase>\n";
}

// Message and properties of a workflow command are escaped as GitHub's toolkit does it.
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
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + totals +
                     ">\n  <testsuite name=\"assay diff " + escape_markup(a) + " " +
                     escape_markup(b) + "\"" + totals + ">\n";
  for (const GateResult& gate : view.gates) text += test_case(gate);
  text += verdict_case(diff_words(view));
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string diff_error_junit(const std::vector<Gate>& gates, const std::string& message,
                             const std::string& a, const std::string& b) {
  const std::string number = std::to_string(gates.size() + 1);
  const std::string totals = " tests=\"" + number + "\" failures=\"0\" errors=\"" + number + "\"";
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + totals +
                     ">\n  <testsuite name=\"assay diff " + escape_markup(a) + " " +
                     escape_markup(b) + "\"" + totals + ">\n";
  const auto add = [&](const std::string& name) {
    text += "    <testcase classname=\"assay.diff\" name=\"" + escape_markup(name) +
            "\">\n      <error message=\"" + escape_markup(message) + "\"/>\n    </testcase>\n";
  };
  for (const Gate& gate : gates) add(gate.text);
  add("verdict");
  return text + "  </testsuite>\n</testsuites>\n";
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
