#include "answers/overhead.h"

#include <optional>
#include <utility>

#include "answers/analyses.h"
#include "answers/ranks.h"
#include "answers/untraced.h"
#include "ingest/replay/file.h"
#include "ingest/replay/floor.h"
#include "overhead/measured.h"
#include "report/flow/section.h"
#include "report/flow/untraced.h"
#include "report/overhead/section.h"
#include "report/run/section.h"

namespace assay {
namespace {

Result<MeasuredReport> measure(const HostOverheadRequest& request, const KernelDatabase& database,
                               const HostOverheadReport& report) {
  ASSAY_TRY_ASSIGN(const ReplayFile replay, read_replay_file(request.replay));
  MeasuredOptions options;
  options.mode = report.mode;
  options.base_weighting = report.base_weighting;
  options.floor = report.floor;
  return measure_overhead(database, replay, report, options);
}

Result<TraceContent> overhead_content(const HostOverheadRequest& request,
                                      const LoadedTrace& loaded) {
  PhaseClock clock(request.traces.listener);
  ASSAY_TRY_ASSIGN(const LaunchFloor floor, floor_asked(request.floor, loaded.trace, loaded.links));
  ASSAY_TRY_ASSIGN(const HostOverheadReport report,
                   analyze_overhead(loaded.trace, loaded.links, loaded.windows,
                                    overhead_options(request, loaded, floor)));
  const KernelDatabase database = build_kernel_database(
      loaded.trace, report, loaded.kernels->book().families(), request.options.count_copies);
  clock.mark("overhead");
  if (request.kernels) ASSAY_TRY(request.kernels(database));
  std::optional<MeasuredReport> measured;
  if (!request.replay.empty()) {
    ASSAY_TRY_ASSIGN(measured, measure(request, database, report));
  }
  const HostOverheadSums& sums = measured ? measured->sums : report.whole.sums;
  const HostOverheadDiagnosis diagnosis =
      diagnose_overhead(report, sums, diagnosis_limits(loaded.trace, report));
  std::optional<FlowModel> model(make_flow_model(loaded.trace, loaded.links, loaded.kernels));
  ASSAY_TRY_ASSIGN(UntracedTimes run,
                   untraced_times(loaded, *model, request.untraced, RetimeAt::kEveryShape));
  ASSAY_TRY_ASSIGN(const FlowFindings flow, find_flow(*model, loaded, request.traces.part));
  model.reset();
  ASSAY_TRY(find_turned(loaded, request.traces.part, flow.verdict.bound, run));
  ASSAY_TRY_ASSIGN(const auto untraced,
                   untraced_overhead(loaded, request.traces.part,
                                     overhead_options(request, loaded, floor), run));
  clock.mark("flow");
  const std::vector<HostOverheadAdvice> advice = overhead_advice(
      diagnosis,
      flow_levers(diagnosis_of(loaded, {loaded.trace, flow.report, flow.verdict, &flow.tried})));
  TraceContent content;
  content.overview = overhead_overview(report);
  content.verdict =
      overhead_verdict_words(loaded.trace, report, diagnosis, advice,
                             flow.report.total[FlowCause::kCold], flow.report.devices.size());
  if (measured) {
    content.verdict.insert(content.verdict.begin(), overhead_measured_words(report, *measured));
  }
  if (untraced) {
    content.verdict.insert(content.verdict.begin() + (content.verdict.empty() ? 0 : 1),
                           overhead_untraced_words(*untraced));
  }
  content.sections.push_back(overhead_section({.report = report,
                                               .diagnosis = diagnosis,
                                               .advice = advice,
                                               .database = &database,
                                               .top = request.top,
                                               .measured = measured ? &*measured : nullptr,
                                               .untraced = untraced ? &*untraced : nullptr}));
  if (request.untraced != "none") {
    content.sections.push_back(untraced_section(run.times, {}, nullptr, {}));
  }
  content.sections.push_back(trust_section(all_notes(
      loaded.trace.log, {report.trust, floor.trust, measured ? measured->trust : TrustNotes{},
                         kernel_notes(loaded.trace, *loaded.kernels)})));
  if (report.whole.sums.n == 0) {
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

}  // namespace

HostOverheadOptions overhead_options(const HostOverheadRequest& request, const LoadedTrace& loaded,
                                     const LaunchFloor& floor) {
  HostOverheadOptions options = request.options;
  options.floor = floor;
  options.kernels = loaded.kernels;
  return options;
}

Result<Answer> answer_overhead(const HostOverheadRequest& request) {
  TraceRequest traces = request.traces;
  traces.keep_op_inputs = true;  // unique kernels differ by their operators' inputs
  return answer_traces(traces, "Overhead", [&](const LoadedTrace& loaded) {
    return overhead_content(request, loaded);
  });
}

}  // namespace assay
