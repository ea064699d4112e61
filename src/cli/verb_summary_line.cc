#include <memory>

#include "answers/report.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "report/writers/summary_line.h"

namespace assay {
namespace {

struct SummaryLineVerb {
  CommonOptions common;
  ReportRequest request;
};

int run(SummaryLineVerb& verb) {
  verb.request.traces = traces_of(verb.common);
  const auto answer = answer_report(verb.request);
  if (!answer) return fail(answer.error());
  // Inputs without a short answer have only the document's headline.
  ShortAnswer whole = answer->document.answer.value_or(ShortAnswer{});
  if (whole.verdict.empty()) whole.verdict = answer->document.verdict;
  if (Status written = write_output(summary_line(whole) + "\n", "-"); !written) {
    return fail(written.error());
  }
  return exit_code_of_loss(answer->data_lost, verb.common, "see assay report");
}

}  // namespace

void add_summary_line_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<SummaryLineVerb>();
  Verb& sub = app.verb("summary-line",
                       "Print the diagnosis on one line of at most 140 characters, for a commit status");
  sub.example("assay summary-line trace.json.gz");
  sub.input("traces", verb->common.inputs, "traces, as the other verbs take them").required();
  add_window_option(sub, verb->common);
  add_part_option(sub, verb->common);
  add_reading_options(sub, verb->common);
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
