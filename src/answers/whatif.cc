#include "answers/whatif.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "answers/analyses.h"
#include "answers/inputs/facts.h"
#include "answers/inputs/recordings.h"
#include "answers/job/rank_record.h"
#include "answers/other_gpu.h"
#include "answers/path_layers.h"
#include "answers/ranks.h"
#include "answers/run_prediction.h"
#include "answers/untraced.h"
#include "flow/judged.h"
#include "flow/verdict.h"
#include "flow/whatif.h"
#include "ingest/text/csv_table.h"
#include "records/frozen_gain.h"
#include "records/setting_lines.h"
#include "report/flow/job.h"
#include "report/flow/other_gpu.h"
#include "report/flow/section.h"
#include "report/flow/untraced.h"
#include "report/flow/whatif.h"
#include "report/run/section.h"

namespace assay {
namespace {

Result<std::vector<EditRequest>> parse_edits(const std::vector<std::string>& texts) {
  std::vector<EditRequest> edits;
  for (const std::string& text : texts) {
    ASSAY_TRY_ASSIGN(EditRequest edit, parse_edit(text));
    edits.push_back(std::move(edit));
  }
  return edits;
}

// The prediction to save, or an error with the reason why there is none.
Result<FrozenGain> prediction_of(const LoadedTrace& loaded, const FlowReport& report,
                                 const WhatIf& found) {
  FrozenGain prediction;
  prediction.tool_version = ASSAY_VERSION;
  prediction.trace = loaded.trace.source;
  prediction.at_most = false;
  for (const TriedLever& lever : found.levers) {
    const std::string text = edit_text(lever.edit.request);
    if (lever.edit.refusal != EditRefusal::kNone) {
      return Error{ErrorCode::kUnsupported,
                   "no prediction of " + text + ": " + refusal_words(lever.edit, report), "", -1};
    }
    prediction.edits.push_back(text);
    prediction.at_most |= !lever.edit.predicted;
  }
  const Gain& joint = found.joint;
  prediction.per_iteration = joint.before.n > 0;
  prediction.iterations = static_cast<int64_t>(joint.before.n);
  if (prediction.per_iteration) {
    prediction.before_ns = joint.before.median_ns;
    prediction.after_ns = joint.after.median_ns;
    prediction.gain_ns = joint.step_ns;
  } else {
    prediction.before_ns = found.run_ns;
    prediction.after_ns = found.run_ns - joint.run_ns;
    prediction.gain_ns = joint.run_ns;
  }
  if (joint.before.n > 1) {
    prediction.low_ns = joint.low_ns;
    prediction.high_ns = joint.high_ns;
  }
  return prediction;
}

// Joint results of several traces, if they are ranks of one job with common collectives.
class RanksTogether {
 public:
  FlowOptions options(const LoadedTrace& loaded) const {
    return {.rank_graph = loaded.among > 1, .windows = &loaded.windows};
  }
  void add(const LoadedTrace& loaded, const FlowRun& run, FlowReport& report, BoundBy bound) {
    if (loaded.among == 1) return;
    auto record = make_rank_record(loaded, run, report);
    const std::optional<int64_t> rank = loaded.trace.distributed.rank;
    twice_ |= rank && !ranks_.insert(*rank).second;
    flows_.push_back(make_rank_flow(loaded.trace, report, bound));
    if (record) flows_.back().record = *std::move(record);
  }
  // nullopt if they are not ranks, or have no common collective.
  std::optional<JobFlow> take() {
    std::vector<RankFlow> ranks;
    for (const size_t place : ranks_among(flows_)) ranks.push_back(std::move(flows_[place]));
    if (ranks.size() < 2 || twice_) return std::nullopt;
    JobFlow flow(std::move(ranks));
    return flow.job.aligned() ? std::optional(std::move(flow)) : std::nullopt;
  }

 private:
  bool twice_ = false;  // a rank occurs twice: these are separate runs
  std::set<int64_t> ranks_;
  std::vector<RankFlow> flows_;
};

// The diagnosis of the report, which has a caveat on profiler overhead. It may
// make models of retimed traces, so the caller should free its own before.
Result<findings::Diagnosis> reported_diagnosis(const LoadedTrace& loaded, const JudgedRun& judged,
                                               const std::string& part, UntracedTimes& untraced) {
  ASSAY_TRY(find_turned(loaded, part, judged.verdict.bound, untraced));
  return diagnosis_of(loaded,
                      {loaded.trace, judged.report, judged.verdict, nullptr, &untraced.times});
}

// Adds the section "untraced", and after the headline which run the times describe. asked: as
// untraced_times().
void add_untraced(const Untraced& times, const std::string& asked, TraceContent& content) {
  if (std::string words = untraced_words(times); !words.empty()) {
    content.verdict.insert(content.verdict.begin() + (content.verdict.empty() ? 0 : 1),
                           std::move(words));
  }
  if (asked != "none") content.sections.push_back(untraced_section(times, {}, nullptr, {}));
}

// Shows readers the sections of the run without profiler overhead; the data keeps the recorded
// ones.
void show_untraced(std::vector<Section> untraced, std::vector<Section>& sections) {
  for (Section& section : sections) hide_from_readers(section);
  for (Section& section : untraced) {
    hide_from_data(section);
    sections.push_back(std::move(section));
  }
}

Section run_trust(const LoadedTrace& loaded, const findings::Diagnosis& diagnosis) {
  return trust_section(all_notes(loaded.trace.log, {flow_trust(loaded, diagnosis)}));
}

// Inputs of the change `roof` in addition to the trace.
struct RoofOfRequest {
  FactBook facts;
  std::shared_ptr<const std::vector<CapturedGraph>> captured;
};
// traces: the request's, with operator inputs kept if an edit needs them.
Result<RoofOfRequest> roof_of_request(const WhatIfRequest& request, TraceRequest traces) {
  RoofOfRequest roof;
  ASSAY_TRY_ASSIGN(roof.facts, load_facts(request.facts));
  if (!request.device.empty()) ASSAY_TRY(check_peaks_device(roof.facts, request.device));
  // Operator inputs are kept only if the roofline is requested; nothing else uses captures.
  if (!traces.keep_op_inputs) return roof;
  ASSAY_TRY_ASSIGN(traces.files, input_files(traces.inputs, traces.listener));
  ASSAY_TRY_ASSIGN(roof.captured, recorded_graphs(traces, request.captures));
  return roof;
}

bool has_roof_edit(const std::vector<EditRequest>& edits) {
  return std::any_of(edits.begin(), edits.end(),
                     [](const EditRequest& edit) { return edit.kind == EditKind::kRoof; });
}

// The changes of a request, tried in one run.
struct TriedRun {
  JudgedRun judged;
  std::vector<EditRequest> alone;  // WhatIfOptions::alone
  WhatIf found;
};
// alone: changes to try in addition to those of the run itself.
TriedRun try_edits(const WhatIfRequest& request, const std::vector<EditRequest>& edits,
                   const std::vector<EditRequest>& alone, const RoofOfRequest& roof,
                   const FlowModel& model, JudgedRun judged) {
  TriedRun run{std::move(judged), alone, {}};
  if (edits.empty()) {
    std::set<std::string> known;
    for (const EditRequest& edit : alone) known.insert(edit_text(edit));
    for (EditRequest& edit : work_edits(*model.run.trace, run.judged.verdict)) {
      if (known.insert(edit_text(edit)).second) run.alone.push_back(std::move(edit));
    }
  }
  FlowReport& report = run.judged.report;
  run.found = explore_edits(model, run.judged.iterations, report,
                            {.edits = edits,
                             .alone = run.alone,
                             .roof = {&roof.facts, request.device, &report.replays},
                             .threads = threads_of({.threads = request.traces.threads})});
  return run;
}

// The changes without profiler overhead, in a run that takes as long as measured. Intervals of
// gains cover every trace in `untraced`, which this frees. alone: as in try_edits.
struct UntracedGains {
  LoadedTrace loaded;  // if all rows cost alike
  TriedRun tried;
};
Result<std::unique_ptr<UntracedGains>> untraced_gains(const WhatIfRequest& request,
                                                      const std::vector<EditRequest>& edits,
                                                      const std::vector<EditRequest>& alone,
                                                      const RoofOfRequest& roof,
                                                      const LoadedTrace& loaded,
                                                      UntracedTimes& untraced) {
  std::unique_ptr<UntracedGains> gains;
  for (RetimedTrace& retimed : std::exchange(untraced.retimed, {})) {
    auto made = std::make_unique<UntracedGains>();
    made->loaded = retimed_input(loaded, std::move(retimed));
    FlowModel model = make_flow_model(made->loaded.trace, made->loaded.links, loaded.kernels);
    FlowOptions options{.windows = &made->loaded.windows};
    options.captures = roof.captured;
    ASSAY_TRY_ASSIGN(JudgedRun judged,
                     judge_run(model, made->loaded.windows, options, request.traces.part));
    made->tried = try_edits(request, edits, alone, roof, model, std::move(judged));
    if (gains == nullptr) {
      gains = std::move(made);
    } else {
      widen_gains(made->tried.found, gains->tried.found);
    }
  }
  return gains;
}

Result<TraceContent> whatif_content(const WhatIfRequest& request,
                                    const std::vector<EditRequest>& edits,
                                    const RoofOfRequest& roof, RanksTogether& ranks,
                                    const LoadedTrace& loaded) {
  PhaseClock clock(request.traces.listener);
  std::optional<FlowModel> model(make_flow_model(loaded.trace, loaded.links, loaded.kernels));
  // A prediction is of the recorded run: it is checked against another recording.
  ASSAY_TRY_ASSIGN(UntracedTimes untraced,
                   untraced_times(loaded, *model, request.freeze ? "none" : request.untraced,
                                  RetimeAt::kEveryShape));
  FlowOptions options = ranks.options(loaded);
  options.captures = roof.captured;
  ASSAY_TRY_ASSIGN(JudgedRun judged,
                   judge_run(*model, loaded.windows, options, request.traces.part));
  if (request.captures.empty()) tell_recordings(judged.report.replays, request.traces.listener);
  clock.mark("flow");
  TriedRun tried = try_edits(request, edits, {}, roof, *model, std::move(judged));
  FlowReport& report = tried.judged.report;
  const BoundBy bound = tried.judged.verdict.bound;
  clock.mark("whatif");
  if (request.freeze) {
    ASSAY_TRY_ASSIGN(const FrozenGain prediction, prediction_of(loaded, report, tried.found));
    ASSAY_TRY(request.freeze(frozen_text(prediction)));
  }
  ranks.add(loaded, model->run, report, bound);
  model.reset();
  ASSAY_TRY_ASSIGN(const findings::Diagnosis diagnosis,
                   reported_diagnosis(loaded, tried.judged, request.traces.part, untraced));
  ASSAY_TRY_ASSIGN(const auto gains,
                   untraced_gains(request, edits, tried.alone, roof, loaded, untraced));
  if (gains != nullptr) set_bottlenecks(bound, gains->tried.judged.verdict.bound, untraced.times);
  const WhatIfAnswer recorded{.trace = loaded.trace,
                              .report = report,
                              .found = tried.found,
                              .asked = !edits.empty(),
                              .untraced = gains != nullptr ? &gains->tried.found : nullptr};
  TraceContent content;
  content.overview = whatif_overview(tried.found);
  content.sections = {whatif_section(recorded)};
  if (gains != nullptr) {
    const WhatIfAnswer own{.trace = gains->loaded.trace,
                           .report = gains->tried.judged.report,
                           .found = gains->tried.found,
                           .asked = !edits.empty(),
                           .recorded = &tried.found};
    content.verdict = whatif_words(own);
    show_untraced({whatif_section(own)}, content.sections);
  } else {
    content.verdict = has_kernels(loaded.trace) || !loaded.trace.activities.empty()
                          ? whatif_words(recorded)
                          : std::vector<std::string>{no_kernels_words(loaded.trace)};
  }
  add_untraced(untraced.times, request.untraced, content);
  content.sections.push_back(run_trust(loaded, diagnosis));
  // Specifications describe GPUs, and only the change `roof` uses them.
  const bool looks_up = has_roof_edit(edits);
  if (auto note =
          looks_up ? unused_facts(roof.facts, request.facts, loaded.trace.devices, request.device)
                   : unused_facts(roof.facts, request.facts, FactNames{}))
    content.import_log.push_back(*std::move(note));
  return content;
}

Result<TraceContent> on_content(const WhatIfRequest& request, const RoofOfRequest& roof,
                                const OtherGpuInputs& inputs, const LoadedTrace& loaded) {
  PhaseClock clock(request.traces.listener);
  std::optional<FlowModel> model(make_flow_model(loaded.trace, loaded.links, loaded.kernels));
  ASSAY_TRY_ASSIGN(UntracedTimes untraced, untraced_times(loaded, *model, request.untraced));
  FlowOptions options{.windows = &loaded.windows};
  options.captures = roof.captured;
  ASSAY_TRY_ASSIGN(JudgedRun judged,
                   judge_run(*model, loaded.windows, options, request.traces.part));
  clock.mark("flow");
  ASSAY_TRY_ASSIGN(const OtherGpuFindings found,
                   find_other_gpus(request.on, inputs, loaded, *model, judged, untraced.times));
  clock.mark("whatif");
  if (request.freeze) {
    ASSAY_TRY_ASSIGN(const FrozenRun prediction,
                     run_prediction(request.on, found.gpus, loaded, judged.iterations));
    ASSAY_TRY(request.freeze(frozen_run_text(prediction)));
  }
  const OtherGpuAnswer answer{judged.report, found.gpus, found.costs};
  TraceContent content;
  content.overview = other_gpu_overview(found.gpus);
  content.verdict = has_kernels(loaded.trace) || !loaded.trace.activities.empty()
                        ? other_gpu_words(answer)
                        : std::vector<std::string>{no_kernels_words(loaded.trace)};
  content.sections = {other_gpu_section(answer)};
  model.reset();
  ASSAY_TRY_ASSIGN(const findings::Diagnosis diagnosis,
                   reported_diagnosis(loaded, judged, request.traces.part, untraced));
  content.sections.push_back(run_trust(loaded, diagnosis));
  FactNames names{.devices = request.on.gpus};
  for (const DeviceProperties& device : loaded.trace.devices) names.devices.push_back(device.name);
  if (!request.device.empty()) names.devices.push_back(request.device);
  if (auto note = unused_facts(roof.facts, request.facts, names))
    content.import_log.push_back(*std::move(note));
  return content;
}

Result<TraceContent> score_content(const FrozenGain& prediction, const LoadedTrace& loaded,
                                   const std::string& part) {
  std::optional<FlowModel> model(make_flow_model(loaded.trace, loaded.links, loaded.kernels));
  ASSAY_TRY_ASSIGN(UntracedTimes untraced, untraced_times(loaded, *model, ""));
  ASSAY_TRY_ASSIGN(const JudgedRun judged,
                   judge_run(*model, loaded.windows, {.windows = &loaded.windows}, part));
  const FlowReport& report = judged.report;
  int64_t measured_ns = report.window_ns();
  if (prediction.per_iteration) {
    const StepTimes steps = recorded_steps(*model, judged.iterations);
    if (steps.n == 0) {
      return Error{ErrorCode::kUnsupported,
                   "the prediction is of an iteration, and this trace has fewer than two; mark "
                   "them (--window)",
                   "", -1};
    }
    measured_ns = steps.median_ns;
  }
  model.reset();
  ASSAY_TRY_ASSIGN(const findings::Diagnosis diagnosis,
                   reported_diagnosis(loaded, judged, part, untraced));
  TraceContent content;
  const FrozenScore score = score_frozen(prediction, measured_ns);
  content.verdict = score_words(prediction, score);
  content.sections = {score_section(prediction, score), run_trust(loaded, diagnosis)};
  return content;
}

Result<TraceContent> score_run_content(const FrozenRun& prediction, const RoofSources& roof,
                                       const LoadedTrace& loaded, const std::string& part) {
  std::optional<FlowModel> model(make_flow_model(loaded.trace, loaded.links, loaded.kernels));
  ASSAY_TRY_ASSIGN(UntracedTimes untraced, untraced_times(loaded, *model, ""));
  ASSAY_TRY_ASSIGN(const JudgedRun judged,
                   judge_run(*model, loaded.windows, {.windows = &loaded.windows}, part));
  ASSAY_TRY_ASSIGN(const ScoredRun scored,
                   score_prediction(prediction, roof, loaded, *model, judged, untraced.times));
  model.reset();
  ASSAY_TRY_ASSIGN(const findings::Diagnosis diagnosis,
                   reported_diagnosis(loaded, judged, part, untraced));
  const RunScoreAnswer answer{prediction, scored.prediction, scored.score, scored.program_known};
  TraceContent content;
  content.verdict = run_score_words(answer);
  content.sections = {run_score_section(answer), run_trust(loaded, diagnosis)};
  return content;
}

// The sections and sentences of `why` for one run.
struct WhyRun {
  JudgedRun judged;
  std::vector<std::string> of_path;
  std::vector<Section> sections;
};
// `ranks` receives the run, and may be null.
Result<WhyRun> why_run(const TraceRequest& request, const LoadedTrace& loaded, FlowModel& model,
                       RanksTogether* ranks) {
  const FlowOptions options =
      ranks != nullptr ? ranks->options(loaded) : FlowOptions{.windows = &loaded.windows};
  WhyRun run;
  ASSAY_TRY_ASSIGN(run.judged, judge_run(model, loaded.windows, options, request.part));
  FlowReport& report = run.judged.report;
  const std::vector<PathSlice> slices = path_slices(model.run, model.graph, report.path);
  PathAnswer path{loaded.trace, report, path_parts(slices), path_ops(model.run, slices)};
  run.sections = {causes_section({loaded.trace, report, run.judged.verdict})};
  if (report.evidence.works > 0) {
    ASSAY_TRY_ASSIGN(path.layers, path_layers(loaded, report, slices));
    run.of_path = path_words(path);
    run.sections.push_back(opened_by_section(report));
    run.sections.push_back(path_section(path));
  }
  if (ranks != nullptr) ranks->add(loaded, model.run, report, run.judged.verdict.bound);
  return run;
}

Result<TraceContent> why_content(const WhyRequest& request, RanksTogether& ranks,
                                 const LoadedTrace& loaded) {
  PhaseClock clock(request.traces.listener);
  std::optional<FlowModel> model(make_flow_model(loaded.trace, loaded.links, loaded.kernels));
  ASSAY_TRY_ASSIGN(UntracedTimes untraced, untraced_times(loaded, *model, request.untraced));
  ASSAY_TRY_ASSIGN(WhyRun recorded, why_run(request.traces, loaded, *model, &ranks));
  clock.mark("flow");
  model.reset();
  const JudgedRun& judged = recorded.judged;
  ASSAY_TRY(find_turned(loaded, request.traces.part, judged.verdict.bound, untraced));
  TraceContent content;
  content.sections = std::move(recorded.sections);
  Section without;  // causes without profiler overhead
  if (untraced.measured()) {
    const LoadedTrace made = retimed_input(loaded, std::move(untraced.retimed.front()));
    model.emplace(make_flow_model(made.trace, made.links, made.kernels));
    ASSAY_TRY_ASSIGN(WhyRun run, why_run(request.traces, made, *model, nullptr));
    const FlowVerdict& verdict = run.judged.verdict;
    set_bottlenecks(judged.verdict.bound, verdict.bound, untraced.times);
    content.verdict = flow_words(diagnosis_of(made, {made.trace, run.judged.report, verdict}));
    std::move(run.of_path.begin(), run.of_path.end(), std::back_inserter(content.verdict));
    without = untraced_causes_section(run.judged.report.total);
    show_untraced(std::move(run.sections), content.sections);
    model.reset();
  }
  const FlowAnswer answer{loaded.trace, judged.report, judged.verdict, nullptr, &untraced.times};
  const findings::Diagnosis diagnosis = diagnosis_of(loaded, answer);
  if (!untraced.measured()) {
    content.verdict = flow_words(diagnosis);
    std::move(recorded.of_path.begin(), recorded.of_path.end(),
              std::back_inserter(content.verdict));
  }
  add_untraced(untraced.times, request.untraced, content);
  if (untraced.measured()) content.sections.push_back(std::move(without));
  if (request.rules) content.sections.push_back(rules_section(rules_of(loaded, answer)));
  content.sections.push_back(run_trust(loaded, diagnosis));
  return content;
}

// The result, with the file in its error.
template <typename T>
Result<T> of_file(Result<T> result, const std::string& file) {
  if (result) return result;
  Error error = result.take_error();
  error.file = file;
  return error;
}

Error one_trace(const char* flag) {
  return {ErrorCode::kInvalidArgument, std::string(flag) + " is for one trace", "", -1};
}

}  // namespace

Result<std::vector<std::string>> read_edits_file(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  std::vector<std::string> edits;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trim_spaces(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.front() != '#') edits.emplace_back(line);
  }
  if (edits.empty()) {
    return Error{ErrorCode::kFormat, "no edit in it: one a line, of " + edit_forms(), path, -1};
  }
  return edits;
}

Result<Answer> answer_whatif(const WhatIfRequest& request) {
  ASSAY_TRY_ASSIGN(const std::vector<EditRequest> edits, parse_edits(request.edits));
  if (request.freeze || !request.score.empty()) {
    ASSAY_TRY_ASSIGN(const std::vector<std::string> files, accepted_files(request.traces));
    if (files.size() != 1)
      return one_trace(request.freeze ? "--save-prediction" : "--check-prediction");
  }
  if (request.score.empty()) {
    TraceRequest traces = request.traces;
    traces.keep_op_inputs = has_roof_edit(edits) || request.on.is_asked();
    ASSAY_TRY_ASSIGN(const RoofOfRequest roof, roof_of_request(request, traces));
    ASSAY_TRY_ASSIGN(traces.files, input_files(traces.inputs, traces.listener));
    if (request.on.is_asked()) {
      ASSAY_TRY_ASSIGN(const OtherGpuInputs inputs,
                       other_gpu_inputs(request.on, roof.facts, request.device, traces));
      return answer_traces(traces, "On other GPUs", [&](const LoadedTrace& loaded) {
        return on_content(request, roof, inputs, loaded);
      });
    }
    RanksTogether ranks;
    const auto analyze = [&](const LoadedTrace& loaded) {
      return whatif_content(request, edits, roof, ranks, loaded);
    };
    return answer_traces(traces, "What if", analyze, [&ranks](Document& document) {
      const std::optional<JobFlow> job = ranks.take();
      if (!job) return;
      put_first(blame_lever_words(*job), {job_flow_sections(*job).back()}, document);
    });
  }
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(request.score));
  if (is_frozen_run(text)) {
    ASSAY_TRY_ASSIGN(const FrozenRun prediction, of_file(parse_frozen_run(text), request.score));
    ASSAY_TRY_ASSIGN(const RoofOfRequest roof, roof_of_request(request, request.traces));
    return answer_traces(request.traces, "What if", [&](const LoadedTrace& loaded) {
      return score_run_content(prediction, {&roof.facts, request.device}, loaded,
                               request.traces.part);
    });
  }
  ASSAY_TRY_ASSIGN(const FrozenGain prediction, of_file(parse_frozen(text), request.score));
  return answer_traces(request.traces, "What if", [&](const LoadedTrace& loaded) {
    return score_content(prediction, loaded, request.traces.part);
  });
}

Result<Answer> answer_why(const WhyRequest& asked) {
  WhyRequest request = asked;
  TraceRequest& traces = request.traces;
  ASSAY_TRY_ASSIGN(traces.files, input_files(traces.inputs, traces.listener));
  RanksTogether ranks;
  const auto analyze = [&](const LoadedTrace& loaded) {
    return why_content(request, ranks, loaded);
  };
  return answer_traces(traces, "Why", analyze, [&ranks](Document& document) {
    const std::optional<JobFlow> job = ranks.take();
    if (job) put_first(job_flow_words(*job), job_flow_sections(*job), document);
  });
}

}  // namespace assay
