#include "answers/sweep.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "answers/analyses.h"
#include "answers/inputs/name_value.h"
#include "answers/inputs/sweep.h"
#include "answers/ranks.h"
#include "base/decimal.h"
#include "ingest/replay/floor.h"
#include "ingest/replay/sweep_table.h"
#include "report/flow/section.h"
#include "report/launch/section.h"
#include "report/run/section.h"

namespace assay {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<SweepPoint> group_by_batch(const std::vector<SweepRow>& rows) {
  struct Repeats {
    SweepPoint point;
    std::vector<double> latency, gpu_idle, cpu_idle;
  };
  std::map<double, Repeats> by_batch;
  for (const SweepRow& row : rows) {
    Repeats& repeats = by_batch[row.batch];
    repeats.point.batch = row.batch;
    repeats.point.tklqt_ns.push_back(row.tklqt_ns);
    repeats.point.launches.push_back(row.launches);
    if (row.latency_ns) repeats.latency.push_back(*row.latency_ns);
    if (row.gpu_idle_share) repeats.gpu_idle.push_back(*row.gpu_idle_share);
    if (row.cpu_idle_share) repeats.cpu_idle.push_back(*row.cpu_idle_share);
  }
  std::vector<SweepPoint> sweep;
  for (auto& [batch, repeats] : by_batch) {
    if (!repeats.latency.empty()) repeats.point.latency_ns = mean(repeats.latency);
    if (!repeats.gpu_idle.empty()) repeats.point.gpu_idle_share = mean(repeats.gpu_idle);
    if (!repeats.cpu_idle.empty()) repeats.point.cpu_idle_share = mean(repeats.cpu_idle);
    sweep.push_back(std::move(repeats.point));
  }
  return sweep;
}

SweepRow row_of(double batch, const LaunchMetrics& m) {
  SweepRow row;
  row.batch = batch;
  row.tklqt_ns = static_cast<double>(m.tklqt_ns);
  row.launches = static_cast<double>(m.launch_time.n);
  if (m.il_ns > 0) {
    const double il = static_cast<double>(m.il_ns);
    row.latency_ns = il;
    row.gpu_idle_share = static_cast<double>(m.gpu_idle_union_ns) / il;
    if (m.cpu_idle_known) row.cpu_idle_share = static_cast<double>(m.cpu_idle_ns) / il;
  }
  return row;
}

struct Sweep {
  std::vector<SweepPoint> points;
  std::vector<Input> inputs;
  TrustNotes trust;
  bool data_lost = false;
};

// The repeats of a trace are its iterations; a trace without iterations is a single repeat.
Status add_trace(const std::string& argument, const TraceRequest& traces,
                 std::vector<SweepRow>& rows, Sweep& sweep) {
  constexpr const char* kForm = "SIZE=TRACE, e.g. 8=b8.json.gz";
  ASSAY_TRY_ASSIGN(const auto named, split_name_value("--batch", argument, kForm));
  double batch = 0;
  if (!parse_double(named.first, batch)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--batch {}: write it as {}", argument, kForm), "", -1};
  }
  const std::string& path = named.second;
  ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(path, traces));
  ASSAY_TRY_ASSIGN(
      const LaunchReport launch,
      analyze_launch(loaded.trace, loaded.links, loaded.windows, {.kernels = loaded.kernels}));
  std::vector<SweepRow> repeats;
  for (const LaunchMetrics& iteration : launch.iterations) {
    if (iteration.launch_time.n > 0) repeats.push_back(row_of(batch, iteration));
  }
  if (repeats.empty()) repeats.push_back(row_of(batch, launch.whole));
  rows.insert(rows.end(), repeats.begin(), repeats.end());
  std::vector<Item> items = trace_items(loaded.trace);
  items.insert(items.begin(), {"batch", "batch", batch});
  sweep.inputs.push_back({path, std::move(items)});
  sweep.data_lost |= loaded.trace.log.data_lost();
  for (TrustNote note : launch.trust) {
    note.effect = fmt::format("batch {:g}: {}", batch, note.effect);
    sweep.trust.push_back(std::move(note));
  }
  return Ok{};
}

Result<Sweep> load_sweep(const SweepRequest& request, const TraceRequest& traces) {
  Sweep sweep;
  std::vector<SweepRow> rows;
  if (!request.table.empty()) {
    ASSAY_TRY_ASSIGN(rows, read_sweep_table(request.table));
    sweep.inputs.push_back({request.table, {}});
  }
  ASSAY_TRY_ASSIGN(const std::vector<std::string> batches,
                   expand_sweep("--batch", request.batches, traces.listener));
  for (const std::string& argument : batches) {
    ASSAY_TRY(add_trace(argument, traces, rows, sweep));
  }
  sweep.points = group_by_batch(rows);
  return sweep;
}

TrustNotes with_notes(TrustNotes notes, const TrustNotes& more) {
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

Result<TraceContent> judge_one(const BoundRequest& request, const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(const LaunchFloor floor, floor_asked(request.floor, loaded.trace, loaded.links));
  ASSAY_TRY_ASSIGN(const FlowFindings flow, find_flow(loaded, request.traces.part));
  const LaunchOptions options{.floor = floor,
                              .top_kernels = 0,
                              .flow = &flow.report.all_devices(),
                              .kernels = loaded.kernels};
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, options));
  const FlowAnswer answer{loaded.trace, flow.report, flow.verdict, &flow.tried};
  const findings::Diagnosis diagnosis = diagnosis_of(loaded, answer);
  const std::vector<Lever> levers = flow_levers(diagnosis);
  TraceContent content;
  content.verdict = flow_words(diagnosis);
  content.sections = {flow_section(answer, levers), shares_section(launch_shares(launch.whole)),
                      trust_section(with_notes(launch.trust, floor.trust))};
  return content;
}

Result<Answer> judge_sweeps(const BoundRequest& request) {
  ASSAY_TRY_ASSIGN(const std::optional<LaunchFloor> floor, given_floor(request.floor, nullptr));
  BoundOptions options = request.options;
  if (floor) options.floor_ns = static_cast<double>(floor->floor_ns);
  Answer answer{new_document("Sweep")};
  Document& document = answer.document;
  std::vector<PlatformBound> platforms;
  std::vector<Sweep> sweeps;
  for (const SweepRequest* platform : {&request.platform, &request.other}) {
    if (!platform->given()) continue;
    ASSAY_TRY_ASSIGN(Sweep sweep, load_sweep(*platform, request.traces));
    ASSAY_TRY_ASSIGN(BoundReport report, analyze_bound(sweep.points, options));
    platforms.push_back({platform->name, std::move(report)});
    for (Input& input : sweep.inputs) document.inputs.push_back(std::move(input));
    answer.data_lost |= sweep.data_lost;
    sweeps.push_back(std::move(sweep));
  }
  std::optional<Crossover> crossover;
  std::string no_crossover;
  if (sweeps.size() == 2) {
    // Latency is optional in a sweep: without it, each platform still has its own conclusion.
    auto between = find_crossover(sweeps[0].points, sweeps[1].points);
    if (between) {
      crossover = *between;
    } else {
      no_crossover = "No crossover: " + between.error().message + ".";
    }
  }
  const Crossover* between = crossover ? &*crossover : nullptr;
  document.verdict = bound_verdict_words(platforms, between);
  if (!no_crossover.empty()) document.verdict.push_back(no_crossover);
  document.sections = bound_sections(platforms, between);
  TrustNotes trust = floor ? floor->trust : TrustNotes{};
  for (const Sweep& sweep : sweeps)
    trust.insert(trust.end(), sweep.trust.begin(), sweep.trust.end());
  document.sections.push_back(trust_section(trust));
  return answer;
}

// Platform names are document keys, so they must differ from the document's own keys.
Status check_names(const BoundRequest& request) {
  for (const std::string& name : {request.platform.name, request.other.name}) {
    for (const char* taken : {"", "schema_version", "tool", "inputs", "import_log", "headline",
                              "summary", "crossover", "caveats"}) {
      if (name == taken) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("'{}' cannot be the name of a platform: the output uses it", name),
                     "", -1};
      }
    }
  }
  if (request.other.given() && request.platform.name == request.other.name) {
    return Error{ErrorCode::kInvalidArgument, "the two platforms need different names", "", -1};
  }
  return Ok{};
}

}  // namespace

Result<Answer> answer_bound(const BoundRequest& request) {
  const bool traces = !request.traces.inputs.empty();
  if (request.platform.given() && traces) {
    return Error{ErrorCode::kInvalidArgument,
                 "give either traces, or a sweep with --batch or --table, not both", "", -1};
  }
  if (request.platform.given()) {
    ASSAY_TRY(check_names(request));
    return judge_sweeps(request);
  }
  if (!traces || request.other.given()) {
    return Error{
        ErrorCode::kInvalidArgument,
        "sweep needs a trace, or a sweep: --batch SIZE=TRACE (three or more) or --table FILE", "",
        -1};
  }
  return answer_traces(request.traces, "Sweep", [&request](const LoadedTrace& loaded) {
    return judge_one(request, loaded);
  });
}

}  // namespace assay
