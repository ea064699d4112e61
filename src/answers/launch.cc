#include "answers/launch.h"

#include "answers/analyses.h"
#include "answers/ranks.h"
#include "ingest/replay/floor.h"
#include "report/launch/charts.h"
#include "report/launch/section.h"
#include "report/run/section.h"

namespace assay {
namespace {

Result<TraceContent> launch_content(const LaunchRequest& request, const LoadedTrace& loaded) {
  PhaseClock clock(request.traces.listener);
  ASSAY_TRY_ASSIGN(const LaunchFloor floor, floor_asked(request.floor, loaded.trace, loaded.links));
  const DeviceFlow flow = joint_flow(make_flow_run(loaded.trace, loaded.links, loaded.kernels));
  const LaunchOptions options{.floor = floor,
                              .count_copies = request.count_copies,
                              .top_kernels = request.top,
                              .flow = &flow,
                              .kernels = loaded.kernels};
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, options));
  clock.mark("launch");
  TraceContent content;
  content.overview = launch_overview(launch.whole);
  content.sections.push_back(launch_section(launch, request.top));
  if (request.timelines) {
    add_launch_timelines(loaded.trace, loaded.links, loaded.windows, launch,
                         content.sections.back());
  }
  if (request.tree) {
    ASSAY_TRY_ASSIGN(const CallTree calls,
                     build_call_tree(loaded.trace, loaded.links, *request.tree));
    content.sections.push_back(tree_section(calls));
  }
  if (request.graph) {
    content.sections.push_back(kernel_rows_section(
        loaded.trace, loaded.windows, list_kernels(loaded.trace, loaded.links, loaded.windows)));
  }
  content.sections.push_back(trust_section(all_notes(
      loaded.trace.log, {launch.trust, floor.trust, kernel_notes(loaded.trace, *loaded.kernels)})));
  if (launch.whole.kernels == 0) {
    content.verdict = {no_kernels_words(loaded.trace)};
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

Result<TraceContent> fusion_content(const FusionRequest& request, const LoadedTrace& loaded) {
  PhaseClock clock(request.traces.listener);
  ASSAY_TRY_ASSIGN(const LaunchFloor floor, floor_asked(request.floor, loaded.trace, loaded.links));
  FusionOptions options = request.options;
  options.floor = floor;
  options.kernels = loaded.kernels;
  ASSAY_TRY_ASSIGN(const FusionReport fusion,
                   analyze_fusion(loaded.trace, loaded.links, loaded.windows, options));
  clock.mark("fusion");
  ASSAY_TRY_ASSIGN(const FlowFindings flow,
                   find_flow(loaded, request.traces.part, chain_edits(fusion)));
  clock.mark("flow");
  TraceContent content;
  if (!has_kernels(loaded.trace)) content.verdict = {no_kernels_words(loaded.trace)};
  content.sections.push_back(fusion_section(fusion, chain_gains(flow.tried)));
  content.sections.push_back(trust_section(all_notes(
      loaded.trace.log, {fusion.trust, floor.trust, kernel_notes(loaded.trace, *loaded.kernels)})));
  return content;
}

Result<TraceContent> info_content(const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(
      const LaunchReport launch,
      analyze_launch(loaded.trace, loaded.links, loaded.windows, {.kernels = loaded.kernels}));
  TraceContent content;
  content.sections = import_summary_sections(loaded.trace, loaded.links, launch);
  return content;
}

}  // namespace

Result<Answer> answer_launch(const LaunchRequest& request) {
  return answer_traces(request.traces, "Launch", [&request](const LoadedTrace& loaded) {
    return launch_content(request, loaded);
  });
}

Result<Answer> answer_fusion(const FusionRequest& request) {
  TraceRequest traces = request.traces;
  traces.keep_op_inputs = true;  // input shapes bound the bytes that a fused kernel moves
  return answer_traces(traces, "Fusion", [&request](const LoadedTrace& loaded) {
    return fusion_content(request, loaded);
  });
}

Result<Answer> answer_info(const TraceRequest& request) {
  return answer_traces(request, "Info", info_content);
}

}  // namespace assay
