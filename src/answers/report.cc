#include "answers/report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "answers/analyses.h"
#include "answers/breakdown/memory_snapshot.h"
#include "answers/inputs/recordings.h"
#include "answers/job/rank_record.h"
#include "answers/ranks.h"
#include "answers/throughput/report.h"
#include "answers/token_energy.h"
#include "answers/untraced.h"
#include "breakdown/memory.h"
#include "ingest/load.h"
#include "ingest/replay/floor.h"
#include "ingest/requests/log.h"
#include "report/breakdown/job.h"
#include "report/breakdown/memory.h"
#include "report/breakdown/roof.h"
#include "report/breakdown/section.h"
#include "report/breakdown/telemetry.h"
#include "report/flow/answer.h"
#include "report/flow/other_gpu.h"
#include "report/flow/section.h"
#include "report/flow/untraced.h"
#include "report/launch/charts.h"
#include "report/launch/section.h"
#include "report/overhead/section.h"
#include "report/power/section.h"
#include "report/run/job_answer.h"
#include "report/run/jobs.h"
#include "report/run/lanes.h"
#include "report/run/section.h"
#include "report/run/timeline.h"

namespace assay {
namespace {

// True if nothing but the short answer of this trace is shown. Telemetry is compared with the
// breakdown, and a job's answer joins the breakdowns of its ranks.
bool is_card_only(const ReportRequest& request, const LoadedTrace& loaded) {
  return request.card_only && loaded.among <= 1 && request.telemetry.files.empty() &&
         !request.timelines && !request.timeline;
}

AnalysesOptions analyses_options(const ReportRequest& request, const LaunchFloor& floor,
                                 bool rank_graph) {
  AnalysesOptions options{.fusion = request.fusion};
  options.launch = {.floor = floor, .top_kernels = 0};
  options.fusion.floor = floor;
  options.overhead.floor = floor;
  options.captures = request.captured;
  options.rank_graph = rank_graph;
  options.part = request.traces.part;
  constexpr size_t kSwitches = 4;  // a page has a switch per action, at most three
  options.together = request.timelines ? kSwitches : 0;
  options.points = request.timelines;
  options.reach = request.timelines || request.reach;
  options.path = static_cast<bool>(request.timeline);
  options.in_thread = threads_of({.threads = request.traces.threads}) > 1;
  return options;
}

// Results for the report of one trace. The breakdown is summarized as a job with one rank.
struct Findings {
  LaunchFloor floor;
  std::optional<RankRecord> record;  // if there are several ranks
  Analyses analyses;                 // breakdown: moved into `job`
  UntracedTimes untraced;
  std::optional<TelemetryReport> telemetry;
  JobLevels job;
  JobRoof roof;
  JobMemory memory;
  LaneBytes lanes;
  std::optional<OtherGpuFindings> other_gpus;  // if asked

  const TelemetryReport* logs() const { return telemetry ? &*telemetry : nullptr; }
};

Result<std::optional<TelemetryReport>> telemetry_of(const ReportRequest& request,
                                                    const LoadedTrace& loaded,
                                                    const BreakdownReport& breakdown) {
  ASSAY_TRY_ASSIGN(TelemetryRun logs,
                   TelemetryRun::open(request.telemetry, request.traces.allow_truncated));
  if (!logs.any()) return std::optional<TelemetryReport>();
  ASSAY_TRY(logs.add(loaded, breakdown, ""));
  return std::optional(logs.finish());
}

// Passes the timeline to the caller, if requested.
Status give_timeline(const ReportRequest& request, const LoadedTrace& loaded, const Findings& found,
                     PhaseClock& clock) {
  if (!request.timeline) return Ok{};
  const Analyses& of = found.analyses;
  const Timeline timeline = trace_timeline(loaded.trace, loaded.links, loaded.windows,
                                           {.flow = of.flow,
                                            .launch = of.launch,
                                            .fusion = of.fusion,
                                            .overhead = of.overhead,
                                            .breakdown = of.breakdown,
                                            .telemetry = found.logs(),
                                            .path = &of.path});
  clock.mark("annotate");
  ASSAY_TRY(request.timeline(loaded, timeline));
  clock.mark("timeline");
  return Ok{};
}

// Analyses that the actions do not need: telemetry, roofline, memory, and the page's timeline.
Status find_rest(const ReportRequest& request, const LoadedTrace& loaded, const Analyses& analyses,
                 Findings& found) {
  const ReplayReport& replays = analyses.flow.replays;
  if (request.captures.empty()) tell_recordings(replays, request.traces.listener);
  const bool card_only = is_card_only(request, loaded);
  if (card_only && analyses.verdict.bound != BoundBy::kGpu) return Ok{};
  ASSAY_TRY_ASSIGN(found.telemetry, telemetry_of(request, loaded, analyses.breakdown));
  RoofReader roof(FactBook::built_in(), "");
  roof.add(loaded.trace, loaded.links, *loaded.kernels, analyses.breakdown, &replays);
  found.roof = roof.finish();
  if (card_only) return Ok{};
  add_memory(loaded.trace, loaded.links, analyses.breakdown, found.memory);
  if (request.timelines) {
    found.lanes = lane_bytes(loaded.trace, loaded.links, loaded.windows, analyses.flow,
                             {.events = request.lane_events, .runs = request.lane_events / 2});
  }
  return Ok{};
}

RankLevels levels_of(const LoadedTrace& loaded, BreakdownReport breakdown) {
  return summarize_rank(loaded.trace, rank_from_name(loaded.trace.source), std::move(breakdown));
}

Result<Findings> find_everything(const ReportRequest& request, const LoadedTrace& loaded,
                                 RankLevels* outline, bool rank_graph) {
  PhaseClock clock(request.traces.listener);
  Findings found;
  ASSAY_TRY_ASSIGN(found.floor, floor_asked(request.floor, loaded.trace, loaded.links));
  AnalysesOptions options = analyses_options(request, found.floor, rank_graph);
  if (!request.requests.empty()) {
    ASSAY_TRY_ASSIGN(RequestLog log, read_request_log(request.requests));
    options.requests = std::make_shared<const RequestLog>(std::move(log));
    options.request_options = request.request_options;
  }
  RankFold fold;
  if (rank_graph) options.fold = &fold;
  if (request.on_inputs) {
    options.on_judged = [&](const FlowModel& model, const JudgedRun& judged) -> Status {
      ASSAY_TRY_ASSIGN(found.other_gpus, find_other_gpus(request.on, *request.on_inputs, loaded,
                                                         model, judged, found.untraced.times));
      return Ok{};
    };
  }
  options.modules = !is_card_only(request, loaded);
  options.on_model = [&](const FlowModel& model) -> Status {
    ASSAY_TRY_ASSIGN(found.untraced, untraced_times(loaded, model, request.untraced));
    return Ok{};
  };
  options.meanwhile = [&](const Analyses& analyses) {
    return find_rest(request, loaded, analyses, found);
  };
  ASSAY_TRY_ASSIGN(found.analyses, analyze_trace(loaded, options));
  clock.mark("analyse");
  if (!options.modules) return found;
  ASSAY_TRY(give_timeline(request, loaded, found, clock));
  if (rank_graph) {
    found.record =
        rank_record_of(loaded, found.analyses.flow, found.analyses.breakdown, std::move(fold));
  }
  std::vector<RankLevels> ranks;
  ranks.push_back(levels_of(loaded, std::move(found.analyses.breakdown)));
  if (outline != nullptr) *outline = rank_outline(ranks.front());
  found.job = combine_ranks(std::move(ranks));
  return found;
}

// False for a run by itself: it states that it is the only rank, or states none and communicates
// with nobody. Its answer is that of the file alone, of the part that can be analyzed. A rank's is
// of its whole window.
bool may_be_a_rank(const LoadedTrace& loaded) {
  const Trace& trace = loaded.trace;
  const auto& names = trace.activities.name;
  if (trace.distributed.world_size == 1) return false;
  return trace.distributed.rank || rank_from_name(trace.source) >= 0 ||
         std::any_of(names.begin(), names.end(), [&](StringId name) {
           return !loaded.kernels->of(name).collective.empty();
         });
}

// The data that joins a trace to others, without its own answer.
Status find_for_job(const ReportRequest& request, const LoadedTrace& loaded, RankLevels* outline,
                    RankFlow& flow) {
  RankFold fold;
  ASSAY_TRY_ASSIGN(Analyses found, analyze_trace(loaded, {.captures = request.captured,
                                                          .rank_graph = true,
                                                          .fold = &fold,
                                                          .part = request.traces.part,
                                                          .levers = false}));
  RankRecord record = rank_record_of(loaded, found.flow, found.breakdown, std::move(fold));
  flow = make_rank_flow(loaded.trace, found.flow, found.verdict.bound);
  flow.record = std::move(record);
  if (outline != nullptr) {
    *outline = rank_outline(levels_of(loaded, std::move(found.breakdown)));
  }
  return Ok{};
}

// The headline, the actions and the caveats as sentences.
std::vector<std::string> opening_words(const findings::Diagnosis& diagnosis,
                                       const std::vector<Lever>& levers,
                                       const LaunchReport& launch) {
  std::vector<std::string> sentences = flow_words(diagnosis);
  for (std::string& text : run_words(launch)) sentences.push_back(std::move(text));
  std::string text = levers_text(levers);
  if (!text.empty()) sentences.push_back(std::move(text));
  return sentences;
}

// The run without profiler overhead, if its iteration was measured.
struct RetimedRun {
  LoadedTrace loaded;
  FlowFindings flow;
};

// Sets the bottlenecks in `times` and frees its retimed traces.
Result<std::unique_ptr<RetimedRun>> measured_run(const ReportRequest& request,
                                                  const LoadedTrace& loaded,
                                                  const Analyses& recorded, UntracedTimes& found) {
  const BoundBy bound = recorded.verdict.bound;
  ASSAY_TRY(find_turned(loaded, request.traces.part, bound, found));
  std::unique_ptr<RetimedRun> run;
  if (!found.measured()) return run;
  run = std::make_unique<RetimedRun>();
  run->loaded = retimed_input(loaded, std::move(found.retimed.front()));
  found.retimed.clear();
  ASSAY_TRY_ASSIGN(run->flow,
                   find_flow(run->loaded, request.traces.part, chain_edits(recorded.fusion)));
  set_bottlenecks(bound, run->flow.verdict.bound, found.times);
  return run;
}

// False for data alone.
bool for_readers(const ReportRequest& request) { return !request.reach || request.timelines; }

// Shows readers the answer of the run without profiler overhead, from a measured iteration. The
// data and the page's timeline keep the recorded numbers. Returns the headline of that answer.
std::vector<std::string> add_untraced(const ReportRequest& request, const Untraced& times,
                                      const RetimedRun* run, ShortAnswer& card) {
  const std::string words = untraced_words(times);
  if (run == nullptr) {
    if (words.empty()) return {};
    card.more.insert(card.more.begin(), words);
    if (times.source == UntracedSource::kRefused) {
      card.confidence = findings::Confidence::kLow;
      card.reason = "the measured iteration is not explained";
    }
    return {};
  }
  const FlowAnswer answer{run->loaded.trace, run->flow.report, run->flow.verdict, &run->flow.tried};
  ShortAnswer own = short_answer(answer, diagnosis_of(run->loaded, answer));
  own.more.insert(own.more.begin(), words);
  std::vector<std::string> headline = own.verdict;
  if (!for_readers(request)) return headline;
  own.spans = std::move(card.spans);  // on the recorded timeline
  card = std::move(own);
  return headline;
}

// The same before the other sentences, which have recorded numbers.
void add_untraced_words(const Untraced& times, const std::vector<std::string>& headline,
                        std::vector<std::string>& verdict) {
  if (headline.empty() && times.source != UntracedSource::kRefused) return;
  std::string words = headline.empty() ? untraced_words(times) : "The run without its profiler:";
  for (const std::string& sentence : headline) words += " " + sentence;
  if (!words.empty()) verdict.insert(verdict.begin() + (verdict.empty() ? 0 : 1), std::move(words));
}

size_t most_steps(const ReportRequest& request) { return request.everything ? 0 : kMostStepRows; }

// Appends host overhead: sentences after the headline, and a section.
void add_overhead(const ReportRequest& request, const Findings& found, const LoadedTrace& loaded,
                  const std::vector<Lever>& levers, TraceContent& content) {
  const HostOverheadReport& overhead = found.analyses.overhead;
  const HostOverheadDiagnosis diagnosis =
      diagnose_overhead(overhead, overhead.whole.sums, diagnosis_limits(loaded.trace, overhead));
  const std::vector<HostOverheadAdvice> advice = overhead_advice(diagnosis, levers);
  if (found.analyses.verdict.bound == BoundBy::kHost) {  // otherwise the host is not the bottleneck
    for (std::string& text : overhead_report_words(overhead, diagnosis)) {
      content.verdict.push_back(std::move(text));
    }
  }
  content.sections.push_back(overhead_section({.report = overhead,
                                               .diagnosis = diagnosis,
                                               .advice = advice,
                                               .most_steps = most_steps(request)}));
}

// Appends the energy per token of a serving engine, if there are power logs of the same time.
void add_energy_per_token(const ReportRequest& request, const Serving& serving,
                          const LoadedTrace& loaded, TraceContent& content) {
  if (request.telemetry.files.empty() || serving.steps.empty()) return;
  const TokenEnergy energy = token_energy(request.telemetry, request.traces, loaded);
  add_token_energy(energy, content.sections.back());
  std::string words = token_energy_words(energy);
  // Not on the first screen: an additional line would displace an action.
  if (!words.empty()) content.verdict.push_back(std::move(words));
}

void add_other_gpus(const Findings& found, TraceContent& content) {
  if (!found.other_gpus) return;
  const OtherGpuFindings& on = *found.other_gpus;
  content.sections.push_back(
      other_gpu_section_with_words({found.analyses.flow, on.gpus, on.costs}));
}

Section report_trust(const Findings& found, const findings::Diagnosis& diagnosis,
                     const LoadedTrace& loaded) {
  const Analyses& of = found.analyses;
  return trust_section(
      all_notes(loaded.trace.log,
                {flow_trust(loaded, diagnosis), of.launch.trust, of.fusion.trust, of.overhead.trust,
                 found.job.trust, found.telemetry ? found.telemetry->trust : TrustNotes{},
                 found.floor.trust}));
}

// Reads tables of measured throughput and extends their errors by a hint.
Result<TableReport> read_tables(const std::vector<std::string>& tables, const Listener& listener) {
  auto report = report_tables(tables, listener);
  if (report) return report;
  Error error = report.take_error();
  if (error.code == ErrorCode::kFormat) {
    error.message +=
        "; assay throughput fit has --columns and --constants, and its model is reported as well";
  }
  return error;
}

Error no_trace_for_on() {
  return {ErrorCode::kInvalidArgument, "--on replays a trace, and none is given", "", -1};
}

}  // namespace

ReportInputs sort_report_inputs(const std::vector<std::string>& inputs) {
  ReportInputs sorted;
  for (const std::string& input : inputs) {
    (is_throughput_file(input) ? sorted.tables : sorted.traces).push_back(input);
  }
  return sorted;
}

Result<TraceContent> report_content(const ReportRequest& request, const LoadedTrace& loaded,
                                    RankLevels* outline, RankFlow* flow) {
  if (flow != nullptr && !may_be_a_rank(loaded)) {
    ASSAY_TRY(find_for_job(request, loaded, outline, *flow));
    return report_content(request, loaded);
  }
  ASSAY_TRY_ASSIGN(Findings found, find_everything(request, loaded, outline, flow != nullptr));
  if (flow != nullptr) {
    *flow = make_rank_flow(loaded.trace, found.analyses.flow, found.analyses.verdict.bound);
    flow->record = std::move(found.record);
  }
  const LaunchReport& launch = found.analyses.launch;
  ASSAY_TRY_ASSIGN(const auto measured,
                   measured_run(request, loaded, found.analyses, found.untraced));
  const Untraced& untraced = found.untraced.times;
  const Utilisation use = found.roof.utilisation();
  const FlowAnswer answer{loaded.trace,
                          found.analyses.flow,
                          found.analyses.verdict,
                          &found.analyses.tried,
                          &untraced,
                          &use,
                          &found.analyses.requests};
  const findings::Diagnosis diagnosis = diagnosis_of(loaded, answer);
  const std::vector<Lever> levers = flow_levers(diagnosis);
  TraceContent content;
  content.answer = short_answer(answer, diagnosis);
  const std::vector<std::string> own_headline =
      add_untraced(request, untraced, measured.get(), *content.answer);
  content.rank = rank_of_answer(answer, diagnosis);
  if (is_card_only(request, loaded)) {
    content.sections.push_back(flow_section(answer, levers));
    content.sections.push_back(decision_section(found.analyses.flow.decision));
    add_other_gpus(found, content);
    return content;
  }
  content.lanes = std::move(found.lanes.lanes);
  content.lane_details = std::move(found.lanes.details);
  content.overview = launch_overview(launch.whole);
  content.verdict = opening_words(diagnosis, levers, launch);
  if (for_readers(request)) add_untraced_words(untraced, own_headline, content.verdict);
  content.sections.push_back(flow_section(answer, levers));
  add_energy_per_token(request, found.analyses.flow.serving, loaded, content);
  content.sections.push_back(decision_section(found.analyses.flow.decision));
  add_other_gpus(found, content);
  if (request.untraced != "none") {
    content.sections.push_back(untraced_section(
        untraced, levers, measured ? &measured->flow.tried : nullptr, own_headline));
  }
  content.sections.push_back(shares_section(launch_shares(launch.whole)));
  content.sections.push_back(
      launch_section(launch, request.everything ? 0 : request.top, most_steps(request)));
  if (request.timelines) {
    add_launch_timelines(loaded.trace, loaded.links, loaded.windows, launch,
                         content.sections.back());
  }
  add_overhead(request, found, loaded, levers, content);
  if (found.telemetry) {
    for (std::string& text : telemetry_words(*found.telemetry)) {
      content.verdict.push_back(std::move(text));
    }
  }
  content.sections.push_back(breakdown_section(found.job, {.rows = request.everything,
                                                           .brief = !request.everything,
                                                           .most_steps = most_steps(request),
                                                           .telemetry = found.logs()}));
  content.sections.push_back(roof_section(
      found.roof, {.words = true, .tables = true, .use = true, .most_steps = most_steps(request)}));
  if (!found.memory.devices.empty())
    content.sections.push_back(memory_section(found.memory, {.words = true}));
  content.sections.push_back(
      fusion_section(found.analyses.fusion, chain_gains(found.analyses.tried)));
  content.sections.push_back(report_trust(found, diagnosis, loaded));
  if (launch.whole.kernels == 0) {
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

Result<Answer> answer_report(const ReportRequest& asked) {
  if (is_memory_snapshot(asked.traces.inputs)) {
    if (asked.on.is_asked()) return no_trace_for_on();
    if (asked.traces.accept) ASSAY_TRY(asked.traces.accept(asked.traces.inputs));
    return answer_memory_snapshot(asked.traces.inputs.front());
  }
  ReportRequest request = asked;
  // Unique kernels differ by their operators' inputs; answer_overhead uses the same dispatch base.
  request.traces.keep_op_inputs = true;
  const ReportInputs inputs = sort_report_inputs(asked.traces.inputs);
  if (asked.on.is_asked() && inputs.traces.empty()) return no_trace_for_on();
  std::optional<TableReport> tables;
  if (!inputs.tables.empty()) {
    if (request.traces.accept) ASSAY_TRY(request.traces.accept(inputs.tables));
    ASSAY_TRY_ASSIGN(tables, read_tables(inputs.tables, request.traces.listener));
  }
  if (tables && inputs.traces.empty()) {
    Document document = new_document("Report");
    add_tables(*std::move(tables), document);
    const bool data_lost = has_losses(document.import_log);
    return Answer{std::move(document), data_lost};
  }
  request.traces.inputs = inputs.traces;
  ASSAY_TRY_ASSIGN(request.traces.files, input_files(inputs.traces, request.traces.listener));
  ASSAY_TRY_ASSIGN(request.captured, recorded_graphs(request.traces, request.captures));
  if (request.on.is_asked()) {
    ASSAY_TRY_ASSIGN(request.on_inputs,
                     other_gpu_inputs(request.on, FactBook::built_in(), "", request.traces));
  }
  std::vector<RankLevels> ranks;
  std::vector<RankFlow> flows;
  std::vector<RankOfAnswer> shown;
  const auto analyze = [&](const LoadedTrace& loaded) -> Result<TraceContent> {
    const bool several = loaded.among > 1;
    if (several && request.on.is_asked()) {
      return Error{ErrorCode::kInvalidArgument,
                   "--on is for one trace here; assay whatif --on gives a table for each rank", "",
                   -1};
    }
    RankLevels* outline = several ? &ranks.emplace_back() : nullptr;
    RankFlow* flow = several ? &flows.emplace_back() : nullptr;
    if (request.timelines) request.lane_events = asked.lane_events / loaded.among;
    auto content = report_content(request, loaded, outline, flow);
    if (content) shown.push_back(content->rank);
    return content;
  };
  const auto conclude = [&](Document& document) {
    if (ranks.size() > 1) {
      conclude_job(ranks, std::move(flows), document, &shown);
    }
    if (tables) add_tables(*tables, document);
  };
  return answer_traces(request.traces, "Report", analyze, conclude);
}

namespace {

// Indices of the ranks that cost the others time, the latest first.
std::vector<size_t> late_ranks(const JobFlow& flow) {
  if (!flow.blame.late) return {};
  std::vector<size_t> late(flow.blame.late->ranks.begin(), flow.blame.late->ranks.end());
  std::stable_sort(late.begin(), late.end(), [&](size_t a, size_t b) {
    return flow.blame.excess_ns[a] > flow.blame.excess_ns[b];
  });
  return late;
}

template <typename T>
std::vector<T> only(const std::vector<T>& all, const std::vector<size_t>& places) {
  std::vector<T> kept;
  for (const size_t place : places) kept.push_back(all[place]);
  return kept;
}

// Each job of the set with its first sentence. ranks: indices into `flows`, which are moved from.
std::vector<JobOfSet> judged_jobs(std::vector<RankFlow>& flows, const std::vector<size_t>& ranks) {
  std::vector<RankFile> files;
  for (const size_t rank : ranks) {
    files.push_back({flows[rank].graph.file, flows[rank].graph.rank});
  }
  std::vector<JobOfSet> jobs = jobs_of_set(files);
  for (JobOfSet& job : jobs) {
    std::vector<RankFlow> own;
    for (const size_t place : job.places) own.push_back(std::move(flows[ranks[place]]));
    const std::vector<std::string> words = job_flow_words(JobFlow(std::move(own)));
    if (!words.empty()) job.verdict = words.front();
  }
  return jobs;
}

}  // namespace

void conclude_job(const std::vector<RankLevels>& outlines, std::vector<RankFlow> flows,
                  Document& document, const std::vector<RankOfAnswer>* shown) {
  const std::vector<size_t> ranks = ranks_among(flows);
  const JobLevels job = combine_ranks(only(outlines, ranks));
  if (!is_one_job(job)) {
    const std::vector<JobOfSet> jobs = judged_jobs(flows, ranks);
    const std::vector<std::string> told =
        jobs.empty() ? std::vector<std::string>() : jobs_words(jobs);
    if (!jobs.empty()) put_first(told, {jobs_section(jobs)}, document);
    if (shown != nullptr) {
      document.answer = side_by_side_answer(*shown);
      if (!jobs.empty()) set_verdict(*document.answer, told);
      document.parts_order = telling_order(*shown);
    }
    return;
  }
  std::vector<size_t> others;
  std::vector<std::string> helpers;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (std::binary_search(ranks.begin(), ranks.end(), i)) continue;
    others.push_back(i);
    helpers.push_back(flows[i].graph.file);
  }
  const JobFlow flow(only(flows, ranks));
  std::vector<std::string> words = job_flow_words(flow);
  for (std::string& text : job_words(job)) words.push_back(std::move(text));
  const std::string no_ranks = helpers_sentence(helpers);
  if (!no_ranks.empty()) words.push_back(no_ranks);
  std::vector<Section> sections = job_flow_sections(flow);
  sections.push_back(job_section(job));
  put_first(std::move(words), std::move(sections), document);
  if (shown == nullptr) return;
  const std::vector<RankOfAnswer> of_ranks = only(*shown, ranks);
  document.answer = job_answer(flow, of_ranks);
  if (!no_ranks.empty()) document.answer->more.push_back(no_ranks);
  document.parts_order.clear();
  for (const size_t rank : telling_order(of_ranks, late_ranks(flow))) {
    document.parts_order.push_back(ranks[rank]);
  }
  document.parts_order.insert(document.parts_order.end(), others.begin(), others.end());
}

}  // namespace assay
