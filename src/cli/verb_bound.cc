#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/decimal.h"
#include "cli/common.h"
#include "cli/name_value.h"
#include "cli/sweep_names.h"
#include "cli/verbs.h"
#include "ingest/replay/sweep_table.h"
#include "launch/bound.h"
#include "report/sections.h"

namespace assay {
namespace {

// Where one platform's sweep comes from: traces by batch size, or a table.
struct SweepFlags {
  std::vector<std::string> batches;  // "8=trace.json.gz"
  std::string table;
  std::string name;

  bool given() const { return !batches.empty() || !table.empty(); }
};

struct BoundVerb {
  CommonOptions common;
  std::string floor;
  SweepFlags platform;
  SweepFlags other;
  BoundOptions options;
};

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

// Repeats of one trace are its iterations; a trace without iterations is one repeat.
Status add_trace(const std::string& argument, const CommonOptions& common,
                 std::vector<SweepRow>& rows, Sweep& sweep) {
  constexpr const char* kForm = "SIZE=TRACE, e.g. 8=b8.json.gz";
  ASSAY_TRY_ASSIGN(const auto named, split_name_value("--batch", argument, kForm));
  double batch = 0;
  if (!parse_double(named.first, batch)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--batch {}: write it as {}", argument, kForm), "", -1};
  }
  const std::string& path = named.second;
  ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(path, common));
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

Result<Sweep> load_sweep(const SweepFlags& flags, const CommonOptions& common) {
  Sweep sweep;
  std::vector<SweepRow> rows;
  if (!flags.table.empty()) {
    ASSAY_TRY_ASSIGN(rows, read_sweep_table(flags.table));
    sweep.inputs.push_back({flags.table, {}});
  }
  ASSAY_TRY_ASSIGN(const std::vector<std::string> batches, expand_sweep("--batch", flags.batches));
  for (const std::string& argument : batches) {
    ASSAY_TRY(add_trace(argument, common, rows, sweep));
  }
  sweep.points = group_by_batch(rows);
  return sweep;
}

TrustNotes joined(TrustNotes notes, const TrustNotes& more) {
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

Result<TraceContent> judge_one(const BoundVerb& verb, const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(const FloorChoice floor, parse_floor(verb.floor, &loaded.trace));
  const LaunchOptions options{.floor_ns = floor.floor_ns,
                              .floor_source = floor.source,
                              .top_kernels = 0,
                              .kernels = loaded.kernels};
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, options));
  const TraceVerdict verdict = judge_trace(launch.whole);
  VerdictWords words = verdict_words(loaded.trace, launch, FusionReport{}, verdict);
  TraceContent content;
  content.verdict = std::move(words.sentences);
  content.sections = {verdict_section(verdict, words.levers),
                      trust_section(joined(launch.trust, floor.notes))};
  return content;
}

Result<Document> judge_sweeps(const BoundVerb& verb, bool& data_lost) {
  ASSAY_TRY_ASSIGN(const FloorChoice floor, parse_floor(verb.floor, nullptr));
  BoundOptions options = verb.options;
  options.floor_ns = floor.floor_ns;
  Document document = new_document("Bound");
  std::vector<PlatformBound> platforms;
  std::vector<Sweep> sweeps;
  for (const SweepFlags* flags : {&verb.platform, &verb.other}) {
    if (!flags->given()) continue;
    ASSAY_TRY_ASSIGN(Sweep sweep, load_sweep(*flags, verb.common));
    ASSAY_TRY_ASSIGN(BoundReport report, analyze_bound(sweep.points, options));
    platforms.push_back({flags->name, std::move(report)});
    for (Input& input : sweep.inputs) document.inputs.push_back(std::move(input));
    data_lost |= sweep.data_lost;
    sweeps.push_back(std::move(sweep));
  }
  std::optional<Crossover> crossover;
  std::string no_crossover;
  if (sweeps.size() == 2) {
    // Latency is optional in a sweep: without it each platform still has its verdict.
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
  TrustNotes trust = floor.notes;
  for (const Sweep& sweep : sweeps)
    trust.insert(trust.end(), sweep.trust.begin(), sweep.trust.end());
  document.sections.push_back(trust_section(trust));
  return document;
}

// A platform's name is its key in the document, beside the document's own.
Status check_names(const BoundVerb& verb) {
  for (const std::string& name : {verb.platform.name, verb.other.name}) {
    for (const char* taken :
         {"", "schema_version", "tool", "inputs", "import_log", "verdict", "crossover", "trust"}) {
      if (name == taken) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("'{}' cannot be the name of a platform: the output uses it", name),
                     "", -1};
      }
    }
  }
  if (verb.other.given() && verb.platform.name == verb.other.name) {
    return Error{ErrorCode::kInvalidArgument, "the two platforms need different names", "", -1};
  }
  return Ok{};
}

int run(const BoundVerb& verb) {
  if (!verb.platform.given()) {
    if (!verb.common.inputs.empty() && !verb.other.given()) {
      return run_over_inputs(verb.common, "Bound", [&verb](const LoadedTrace& loaded) {
        return judge_one(verb, loaded);
      });
    }
    return fail(
        {ErrorCode::kInvalidArgument,
         "bound needs a trace, or a sweep: --batch SIZE=TRACE (three or more) or --table FILE", "",
         -1});
  }
  if (!verb.common.inputs.empty()) {
    return fail({ErrorCode::kInvalidArgument,
                 "give either traces, or a sweep with --batch or --table, not both", "", -1});
  }
  if (Status status = check_names(verb); !status) return fail(status.error());
  bool data_lost = false;
  auto document = judge_sweeps(verb, data_lost);
  if (!document) return fail(document.error());
  return write_document(*document, verb.common, data_lost);
}

}  // namespace

void add_bound_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<BoundVerb>();
  verb->platform.name = "platform";
  verb->other.name = "other";
  CLI::App* sub = app.add_subcommand(
      "bound", "CPU-bound or GPU-bound: one trace, or a sweep over batch sizes, or two platforms");
  add_common_options(*sub, verb->common, false);
  sub->add_option("traces", verb->common.inputs, "one trace: its verdict without a sweep");
  add_window_option(*sub, verb->common);
  sub->add_option(
      "--batch", verb->platform.batches,
      "SIZE=TRACE, once per batch size or repeat; or a folder or pattern of …_bSIZE_… traces");
  sub->add_option(
      "--table", verb->platform.table,
      "CSV with batch, tklqt, launches and optional latency, gpu_idle_share, cpu_idle_share");
  sub->add_option("--name", verb->platform.name, "what to call this platform")
      ->capture_default_str();
  sub->add_option("--vs-batch", verb->other.batches, "the same of a second platform");
  sub->add_option("--vs-table", verb->other.table, "the same of a second platform");
  sub->add_option("--vs-name", verb->other.name, "what to call it")->capture_default_str();
  sub->add_option("--floor", verb->floor,
                  "launch time of an empty kernel (see assay launch --help)");
  sub->add_option("--tau", verb->options.tau, "GPU-bound above this many plateaus")
      ->capture_default_str();
  sub->add_option("--rho", verb->options.rho, "tolerance of the plateau")->capture_default_str();
  sub->add_option("--balanced", verb->options.balanced_share,
                  "a batch is balanced when both idle shares are below this")
      ->capture_default_str();
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
