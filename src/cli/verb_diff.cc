#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/common.h"
#include "cli/diff_input.h"
#include "cli/options.h"
#include "cli/output_format.h"
#include "cli/verbs.h"
#include "cli/workbook_file.h"
#include "diff/caveats.h"
#include "diff/compare.h"
#include "diff/gate.h"
#include "report/diff/section.h"
#include "report/document/text.h"

namespace assay {
namespace {

struct DiffVerb {
  CommonOptions common;
  std::string a;
  std::string b;
  std::vector<std::string> fail_on;
  bool fail_on_any = false;
  std::string junit;
  size_t top = 10;
  Resampling resampling;
};

// What a verdict on both sides rests on.
struct Compared {
  DiffReport report;
  TrustNotes notes;
  std::vector<GateResult> gates;
};

Result<std::vector<Gate>> parse_gates(const std::vector<std::string>& texts) {
  std::vector<Gate> gates;
  for (const std::string& text : texts) {
    ASSAY_TRY_ASSIGN(Gate gate, parse_gate(text));
    gates.push_back(std::move(gate));
  }
  return gates;
}

bool has_iterations(const std::vector<DiffInput>& side) {
  return std::all_of(side.begin(), side.end(),
                     [](const DiffInput& input) { return input.by_iteration.iterations; });
}

std::vector<DiffRun> take_runs(std::vector<DiffInput>& side, bool by_iteration) {
  std::vector<DiffRun> runs;
  for (DiffInput& input : side) {
    runs.push_back(std::move(by_iteration ? input.by_iteration : input.whole));
  }
  return runs;
}

// Iterations against iterations; where a side has none, the whole against the whole.
Result<Compared> compare(const DiffVerb& verb, const std::vector<Gate>& gates,
                         std::vector<DiffInput>& side_a, std::vector<DiffInput>& side_b) {
  const bool in_a = has_iterations(side_a);
  const bool in_b = has_iterations(side_b);
  const std::vector<DiffRun> a = take_runs(side_a, in_a && in_b);
  const std::vector<DiffRun> b = take_runs(side_b, in_a && in_b);
  Compared compared;
  compared.report = compare_sides(make_side(a), make_side(b), verb.resampling);
  compared.notes = diff_caveats(a, b, compared.report);
  if (in_a != in_b) {
    compared.notes.push_back(
        {"diff_basis", 1, 0, "time_ns",
         std::string("no iterations were found in ") + (in_a ? "B" : "A") +
             ": whole traces are compared, which is fair only if both do the same work"});
  }
  ASSAY_TRY_ASSIGN(compared.gates, check_gates(gates, compared.report, verb.fail_on_any));
  return compared;
}

Document make_document(const std::vector<DiffInput>& a, const std::vector<DiffInput>& b,
                       const DiffView& view) {
  Document document = new_document("Diff");
  const auto add = [&](const std::vector<DiffInput>& side, const char* letter,
                       const std::vector<std::string>& files) {
    for (size_t i = 0; i < side.size(); ++i) {
      std::vector<Item> head = {{"side", "side", letter, Unit::kText}};
      head.insert(head.end(), side[i].head.begin(), side[i].head.end());
      document.inputs.push_back({files[i], std::move(head)});
      for (ImportNote note : side[i].import_log) {
        note.meaning = std::string(letter) + ": " + note.meaning;
        document.import_log.push_back(std::move(note));
      }
    }
  };
  const auto files = [](const std::vector<DiffInput>& side) {
    std::vector<std::string> names;
    for (const DiffInput& input : side) names.push_back(input.file);
    return names;
  };
  add(a, "A", files(a));
  add(b, "B", files(b));
  document.verdict = diff_words(view);
  document.sections = diff_sections(view);
  return document;
}

int exit_code_of(const std::vector<GateResult>& gates) {
  const auto any = [&](GateOutcome wanted) {
    return std::any_of(gates.begin(), gates.end(),
                       [&](const GateResult& gate) { return gate.outcome == wanted; });
  };
  for (const GateResult& gate : gates) {
    if (gate.outcome == GateOutcome::kPassed) continue;
    fmt::print(stderr, "assay: {}\n", clean_text(gate_words(gate)));
  }
  if (any(GateOutcome::kCrossed)) return kExitGateCrossed;
  return any(GateOutcome::kUndecided) || any(GateOutcome::kNoValue) ? kExitError : kExitFine;
}

bool is_plain_format(const std::string& format) {
  return format == "junit" || format == "annotations";
}

// A name that ends in .xml or .junit asks for JUnit XML.
void choose_format(CommonOptions& options) {
  if (!options.format.empty() || options.output == "-") return;
  const std::string extension = output_extension(options.output);
  if (extension == ".xml" || extension == ".junit") options.format = "junit";
}

// The output for this verb's formats, two of which are no documents.
Status check_diff_output(const DiffVerb& verb) {
  CommonOptions checked = verb.common;
  if (is_plain_format(checked.format)) checked.format = "terminal";
  if (!checked.format.empty() && !wants_workbook(checked)) {
    auto format = output_format(checked);
    if (!format) {
      Error error = format.take_error();
      error.message += ", junit, annotations";
      return error;
    }
  }
  return check_output(checked, {verb.a, verb.b});
}

int run(DiffVerb& verb) {
  const auto gates = parse_gates(verb.fail_on);
  if (!gates) return fail(gates.error());
  choose_format(verb.common);
  if (Status status = check_diff_output(verb); !status) return fail(status.error());
  verb.common.keep_op_inputs = true;
  auto a = read_diff_side(verb.a, verb.common);
  if (!a) return fail(a.error());
  auto b = read_diff_side(verb.b, verb.common);
  if (!b) return fail(b.error());
  const auto compared = compare(verb, *gates, *a, *b);
  if (!compared) return fail(compared.error());
  const DiffView view{compared->report, compared->gates, compared->notes, verb.top,
                      verb.fail_on_any};
  if (!verb.junit.empty()) {
    const Status status = write_output(diff_junit(view, verb.a, verb.b), verb.junit);
    if (!status) return fail(status.error());
  }
  int written = kExitFine;
  if (is_plain_format(verb.common.format)) {
    const std::string text =
        verb.common.format == "junit" ? diff_junit(view, verb.a, verb.b) : diff_annotations(view);
    if (Status status = write_output(text, verb.common.output); !status) {
      return fail(status.error());
    }
  } else {
    const auto lost = [](const std::vector<DiffInput>& side) {
      return std::any_of(side.begin(), side.end(),
                         [](const DiffInput& input) { return input.data_lost; });
    };
    written = write_document(make_document(*a, *b, view), verb.common, lost(*a) || lost(*b));
  }
  const int gated = exit_code_of(compared->gates);
  return gated != kExitFine && written != kExitError ? gated : written;
}

}  // namespace

void add_diff_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<DiffVerb>();
  Verb& sub = app.verb(
      "diff", "What changed from A to B, where it comes from, and whether it is more than noise");
  sub.input("A", verb->a,
            "the side compared against: a trace, a folder or a quoted pattern of them "
            "(ranks of one run, or repeats)")
      .required();
  sub.input("B", verb->b, "the side in question, likewise").required();
  add_common_options(sub, verb->common, false);
  add_window_option(sub, verb->common);
  sub.declared("--format")
      .says(
          "terminal, json, csv, md, html, junit or annotations; without it, what the name of the "
          "output "
          "file ends with (.xml: junit), else terminal");
  sub.option("--fail-on", verb->fail_on,
             "leave with 1 when this holds and is more than noise: 'tklqt>+10%', 'time>+50us', "
             "'kernels>+0', 'hdbi<0.5'; may be repeated (docs/ci.md)")
      .called("GATE")
      .one_per_mention();
  sub.flag("--fail-on-any", verb->fail_on_any,
           "gates do not ask whether a change is more than noise");
  sub.option("--junit", verb->junit, "also write the gates as JUnit XML to this file")
      .called("FILE");
  sub.option("--top", verb->top, "rows per table; 0 = all").at_least_zero().shows_default();
  sub.option("--resamples", verb->resampling.resamples, "draws of the bootstrap")
      .between(200, 100000)
      .shows_default();
  sub.option("--seed", verb->resampling.seed, "of the bootstrap").shows_default();
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
