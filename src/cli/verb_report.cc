#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "answers/files/timeline_file.h"
#include "answers/report.h"
#include "base/files.h"
#include "cli/common.h"
#include "cli/fusion_flags.h"
#include "cli/options.h"
#include "cli/other_gpu_options.h"
#include "cli/requests_option.h"
#include "cli/telemetry_flags.h"
#include "cli/untraced_option.h"
#include "cli/verbs.h"
#include "ingest/load.h"
#include "text/plain_text.h"

namespace assay {
namespace {

struct ReportVerb {
  CommonOptions common;
  ReportRequest request;
  FusionFlags fusion;
  TelemetryFlags telemetry;
  RequestsFlags requests;
  std::string perfetto;
};

// Warns if the timeline is written into a folder of input traces.
void tell_of_place(const std::string& timeline, const std::vector<std::string>& inputs) {
  const std::string parent = folder_of(timeline);
  const auto holds = [&parent](const std::string& input) {
    return is_folder(input) && is_same_file(input, parent.empty() ? "." : parent);
  };
  if (std::none_of(inputs.begin(), inputs.end(), holds)) return;
  fmt::print(stderr, "assay: {} lies among its traces: who reads the folder skips it\n",
             clean_text(timeline));
}

// Writes the report and the timeline; the timeline is renamed only after the report was written.
Result<int> write_with_timeline(ReportVerb& verb) {
  const std::vector<std::string> traces = sort_report_inputs(verb.common.inputs).traces;
  if (traces.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "--perfetto shows the events of traces, and none is given", "", -1};
  }
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(traces));
  ASSAY_TRY_ASSIGN(TimelineFile file, TimelineFile::open(verb.perfetto, files, verb.common.output));
  verb.request.timeline = [&file](const LoadedTrace& loaded, const Timeline& timeline) {
    return file.add(loaded.trace, loaded.links, timeline);
  };
  const int code = write_answer(answer_report(verb.request), verb.common);
  if (code == kExitError) return code;
  ASSAY_TRY(file.finish());
  fmt::print(stderr, "assay: {}: {}\n", clean_text(verb.perfetto), clean_text(file.describe()));
  tell_of_place(verb.perfetto, traces);
  return code;
}

int run(ReportVerb& verb) {
  auto telemetry = telemetry_request(verb.telemetry);
  if (!telemetry) return fail(telemetry.error());
  verb.request.telemetry = *std::move(telemetry);
  const Status requests = set_requests(verb.requests, verb.request);
  if (!requests) return fail(requests.error());
  const Status on = check_other_gpu_options(verb.request.on);
  if (!on) return fail(on.error());
  verb.request.on.as_recorded |= verb.request.untraced == "none";
  verb.request.traces = traces_of(verb.common);
  verb.request.fusion = fusion_options(verb.fusion);
  verb.request.timelines = wants_page(verb.common);
  verb.request.reach = wants_json(verb.common);
  verb.request.card_only = wants_card(verb.common);
  if (verb.perfetto.empty()) return write_answer(answer_report(verb.request), verb.common);
  const auto code = write_with_timeline(verb);
  return code ? *code : fail(code.error());
}

}  // namespace

void add_report_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<ReportVerb>();
  Verb& sub = app.verb(
      "report", "Show where time went, what would help and how reliable that is, on one screen");
  sub.example("assay report trace.json.gz -o report.html", "the page");
  sub.example("assay report traces/ --full", "a job, every section");
  sub.example("assay report trace.json.gz --on H200,B200", "would another GPU help?");
  add_common_options(sub, verb->common, true);
  add_figure_option(sub, verb->common);
  verb->common.full = false;
  sub.flag("--full", verb->common.full,
           "every section on the terminal or in Markdown, instead of the answer on one screen");
  sub.flag("-q,--quiet", verb->common.quiet, "the headline alone").not_with("--full");
  sub.option("--floor", verb->request.floor,
             "launch time of an empty kernel (see assay launch --help)")
      .called("FLOOR");
  add_part_option(sub, verb->common);
  add_untraced_option(sub, verb->request.untraced);
  add_capture_option(sub, verb->request.captures);
  sub.option("--top", verb->request.top, "kernels listed; 0 = all").at_least_zero().shows_default();
  add_other_gpu_options(sub, verb->request.on).not_with("--quiet");
  add_fusion_flags(sub, verb->fusion);
  add_telemetry_options(sub, verb->telemetry);
  add_requests_options(sub, verb->requests);
  sub.option("--perfetto", verb->perfetto,
             "also write a timeline for ui.perfetto.dev, .json or .json.gz: the events of the "
             "traces, and what was found in them as tracks of their own")
      .checked_by([](const std::string& file) { return file.empty() ? "names no file" : ""; })
      .called("FILE");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
