#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "cli/report_content.h"
#include "cli/throughput_content.h"
#include "cli/timeline_file.h"
#include "cli/verbs.h"
#include "ingest/bench_table.h"
#include "ingest/load.h"
#include "report/section_throughput_evaluate.h"
#include "report/sections.h"
#include "report/text.h"
#include "throughput/evaluate.h"

namespace assay {
namespace {

struct ReportVerb {
  CommonOptions common;
  ReportRequest request;
  std::string perfetto;
};

int write_report(const ReportVerb& verb) {
  std::vector<RankLevels> ranks;
  const auto analyze = [&](const LoadedTrace& loaded) {
    return report_content(verb.request, loaded, &ranks.emplace_back());
  };
  const auto conclude = [&](Document& document) { conclude_job(ranks, document); };
  return run_over_inputs(verb.common, "Report", analyze, conclude);
}

// A timeline among the traces of a folder is no trace of it.
void tell_of_place(const std::string& timeline, const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  const fs::path parent = fs::path(timeline).parent_path();
  const auto holds = [&parent](const std::string& input) {
    std::error_code unknown;
    return fs::is_directory(input, unknown) &&
           fs::equivalent(input, parent.empty() ? fs::path(".") : parent, unknown);
  };
  if (std::none_of(inputs.begin(), inputs.end(), holds)) return;
  fmt::print(stderr, "assay: {} lies among its traces: who reads the folder skips it\n",
             clean_text(timeline));
}

// The report, and beside it the timeline: under its name only once the report is written too.
Result<int> write_with_timeline(ReportVerb& verb) {
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(verb.common.inputs));
  ASSAY_TRY_ASSIGN(TimelineFile file, TimelineFile::open(verb.perfetto, files, verb.common.output));
  verb.request.timeline = [&file](const LoadedTrace& loaded, const Timeline& timeline) {
    return file.add(loaded.trace, loaded.links, timeline);
  };
  const int code = write_report(verb);
  if (code == kExitError) return code;
  ASSAY_TRY(file.finish());
  fmt::print(stderr, "assay: {}: {}\n", clean_text(verb.perfetto), clean_text(file.describe()));
  tell_of_place(verb.perfetto, verb.common.inputs);
  return code;
}

// Curves of the groups with the most rows, and held-out errors of the splits that take seconds.
constexpr size_t kCurvesShown = 4;
constexpr double kAffordedWork = 4e11;  // sum over folds of training rows cubed

// One row of each of the groups with the most rows, ties in the order of the table.
std::vector<BenchRow> largest_groups(const ThroughputData& data) {
  std::vector<std::pair<size_t, size_t>> groups(data.group_names.size());  // rows, first row
  for (size_t i = data.rows.size(); i-- > 0;)
    groups[data.group[i]] = {groups[data.group[i]].first + 1, i};
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<BenchRow> rows;
  for (size_t k = 0; k < std::min(kCurvesShown, groups.size()); ++k)
    rows.push_back(data.rows[groups[k].second]);
  return rows;
}

double work_of(const Split& split) {
  double work = 0;
  for (const SplitFold& fold : split.folds) work += std::pow(fold.train.size(), 3);
  return work;
}

// Adds errors by split; says which splits were left out.
Status add_evaluation(const FittedModel& model, const std::string& path, Document& document) {
  BenchTable table{model.fit.source, model.fit.format, {}, {}};
  table.rows = model.fit.data.rows;
  ThroughputEvaluation evaluation{table, model.fit.data, {}, {}, {}};
  double work = 0;
  std::string left_out;
  for (const char* name : {"S3", "S4", "S1", "S2", "S5", "S6", "S7"}) {
    ASSAY_TRY_ASSIGN(Split split, make_split(model.fit.data, name));
    if (split.folds.empty()) continue;
    if (work + work_of(split) > kAffordedWork) {
      left_out += (left_out.empty() ? "" : ",") + std::string(name);
      continue;
    }
    work += work_of(split);
    ASSAY_TRY_ASSIGN(SplitErrors errors,
                     evaluate_split(model.fit.data, split, assay_method(model.fit.facts)));
    evaluation.errors.push_back(std::move(errors));
    evaluation.splits.push_back(std::move(split));
  }
  for (std::string& text : throughput_evaluation_words(evaluation))
    document.verdict.push_back(std::move(text));
  if (!left_out.empty()) {
    document.verdict.push_back(fmt::format(
        "Splits left out for their time: assay throughput evaluate {} --split {}", path, left_out));
  }
  document.sections.push_back(throughput_evaluation_section(evaluation));
  return Ok{};
}

// The report of a table of measured throughput, or of a model file made of one.
Result<Document> report_table(const std::string& path) {
  BenchFlags bench;
  bench.tables = {path};
  ASSAY_TRY_ASSIGN(const FittedModel model, load_model(bench, {}, {}));
  Document document = new_document("Report");
  document.inputs.push_back({path, {}});
  document.import_log = import_notes(model);
  document.verdict = fit_words(model);
  ASSAY_TRY_ASSIGN(const ThroughputAnswers curves,
                   answer_points(model, curve_points(model, largest_groups(model.fit.data))));
  document.sections.push_back(throughput_curves_section(curves));
  if (!model.ala) ASSAY_TRY(add_evaluation(model, path, document));
  document.sections.push_back(fit_section(model));
  document.sections.push_back(trust_section(fit_trust(model)));
  return document;
}

// A table by its name, a model by its first words: nothing of a trace is read for it.
bool is_throughput_file(const std::string& path) {
  std::string head(200, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  if (looks_like_model(head)) return true;
  return path.ends_with(".csv") && read_bench_table(path).operator bool();
}

int run(ReportVerb& verb) {
  if (verb.common.inputs.size() == 1 && is_throughput_file(verb.common.inputs.front())) {
    auto document = report_table(verb.common.inputs.front());
    if (!document) return fail(document.error());
    return write_document(*document, verb.common, has_lost_rows(*document));
  }
  // Unique kernels differ by their operators' inputs: the same dispatch base as `assay tax`.
  verb.common.keep_op_inputs = true;
  verb.request.perf = verb.common.perf;
  verb.request.allow_truncated = verb.common.allow_truncated;
  verb.request.timelines = wants_page(verb.common);
  if (verb.perfetto.empty()) return write_report(verb);
  const auto code = write_with_timeline(verb);
  return code ? *code : fail(code.error());
}

}  // namespace

void add_report_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<ReportVerb>();
  CLI::App* sub = app.add_subcommand(
      "report", "The verdict in words, the numbers behind it, and what they rest on");
  add_common_options(*sub, verb->common, true);
  sub->add_option("--floor", verb->request.floor,
                  "launch time of an empty kernel (see assay launch --help)");
  sub->add_option("--top", verb->request.top, "kernels listed; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_fusion_flags(*sub, verb->request.fusion);
  add_telemetry_options(*sub, verb->request.telemetry);
  sub->add_option("--perfetto", verb->perfetto,
                  "also write a timeline for ui.perfetto.dev, .json or .json.gz: the events of the "
                  "traces, and what was found in them as tracks of their own")
      ->check([](const std::string& file) { return file.empty() ? "names no file" : ""; })
      ->type_name("FILE");
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
