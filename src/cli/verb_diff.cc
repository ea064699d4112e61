#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "answers/diff.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/output_format.h"
#include "cli/verbs.h"
#include "cli/workbook_file.h"
#include "report/diff/section.h"
#include "text/plain_text.h"

namespace assay {
namespace {

struct DiffVerb : DiffRequest {
  CommonOptions common;
  std::vector<std::string> fail_on;
  std::string junit;
};

Result<std::vector<Gate>> parse_gates(const std::vector<std::string>& texts) {
  std::vector<Gate> gates;
  for (const std::string& text : texts) {
    ASSAY_TRY_ASSIGN(Gate gate, parse_gate(text));
    gates.push_back(std::move(gate));
  }
  return gates;
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

// Output files named .xml or .junit are JUnit XML.
void choose_format(CommonOptions& options) {
  if (!options.format.empty() || options.output == "-") return;
  const std::string extension = output_extension(options.output);
  if (extension == ".xml" || extension == ".junit") options.format = "junit";
}

// Checks the output for this verb's formats, two of which are not documents.
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

// Writes the formats that are not documents.
Status write_plain(const DiffVerb& verb, const DiffView& view) {
  const std::string text =
      verb.common.format == "junit" ? diff_junit(view, verb.a, verb.b) : diff_annotations(view);
  return write_output(text, verb.common.output);
}

// Writes a JUnit report for an error, too: without a report, a CI server calls the step missing
// instead of failed.
int fail_with_junit(const DiffVerb& verb, const Error& error) {
  const std::string text =
      diff_error_junit(verb.gates, clean_text(error.describe()), verb.a, verb.b);
  const auto write = [&text](const std::string& file) {
    if (Status status = write_output(text, file); !status) fail(status.error());
  };
  if (!verb.junit.empty()) write(verb.junit);
  if (verb.common.format == "junit") write(verb.common.output);
  return fail(error);
}

int run(DiffVerb& verb) {
  auto gates = parse_gates(verb.fail_on);
  if (!gates) return fail(gates.error());
  verb.gates = *std::move(gates);
  choose_format(verb.common);
  if (Status status = check_diff_output(verb); !status) return fail(status.error());
  verb.traces = verb.common;
  const auto made = answer_diff(verb);
  if (!made) return fail_with_junit(verb, made.error());
  const DiffView view = made->view(verb);
  if (!verb.junit.empty()) {
    const Status status = write_output(diff_junit(view, verb.a, verb.b), verb.junit);
    if (!status) return fail(status.error());
  }
  int written = kExitFine;
  if (is_plain_format(verb.common.format)) {
    if (Status status = write_plain(verb, view); !status) return fail(status.error());
  } else {
    written = write_document(made->answer.document, verb.common, made->answer.data_lost);
  }
  const int gated = exit_code_of(made->gates);
  return gated != kExitFine && written != kExitError ? gated : written;
}

}  // namespace

void add_diff_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<DiffVerb>();
  Verb& sub = app.verb(
      "diff", "What changed from A to B, where it comes from, and whether it is more than noise");
  sub.example("assay diff before.json.gz after.json.gz");
  sub.example("assay diff before.json.gz after.json.gz -o diff.html", "the page");
  sub.input("A", verb->a,
            "the side compared against: a trace, a folder or a quoted pattern of them "
            "(ranks of one run, or repeats)")
      .required();
  sub.input("B", verb->b, "the side in question, likewise").required();
  add_common_options(sub, verb->common, false);
  add_window_option(sub, verb->common);
  sub.declared("--format")
      .says(
          // language: allow too_many_commas
          "terminal, json, csv, md, html, junit or annotations; default: by the ending of the "
          "output file (.xml is junit)")
      .suggests({"terminal", "json", "csv", "md", "html", "junit", "annotations"});
  sub.option("--fail-on", verb->fail_on,
             "leave with 1 when this holds and is more than noise: 'tklqt>+10%', 'time>+50us', "
             "'kernels>+0', 'hdbi<0.5'; may be repeated (docs/ci.md)")
      .called("GATE")
      .one_per_mention();
  sub.flag("--fail-on-any", verb->fail_on_any,
           "gates do not ask whether a change is more than noise");
  sub.option("--junit", verb->junit, "also write the gates as JUnit XML to this file")
      .called("FILE");
  sub.option(
         "--untraced", verb->untraced,
         "the times of one iteration of A and of B without the profiler (6.11ms,3.63ms), a file "
         "with both, or none for recorded times alone. Default: runs.jsonl in the folder of each "
         "trace. Both sides are compared as recorded unless both are known")
      .called("A,B|FILE");
  sub.option("--top", verb->top, "rows per table; 0 = all").at_least_zero().shows_default();
  sub.flag("--paired", verb->resampling.paired,
           "the runs of A and B in order of their names are pairs, taken one after the other: "
           "differences are taken pair by pair");
  sub.option("--resamples", verb->resampling.resamples, "draws of the bootstrap")
      .between(200, 100000)
      .shows_default();
  sub.option("--seed", verb->resampling.seed, "of the bootstrap").shows_default();
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
