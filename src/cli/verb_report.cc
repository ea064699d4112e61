#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "cli/export_file.h"
#include "cli/options.h"
#include "cli/report_content.h"
#include "cli/throughput_input.h"
#include "cli/throughput_report.h"
#include "cli/timeline_file.h"
#include "cli/verbs.h"
#include "ingest/load.h"
#include "report/document/text.h"

namespace assay {
namespace {

struct ReportVerb {
  CommonOptions common;
  ReportRequest request;
  std::string perfetto;
};

int write_report(const ReportVerb& verb, const std::optional<TableReport>& tables) {
  std::vector<RankLevels> ranks;
  const auto analyze = [&](const LoadedTrace& loaded) {
    return report_content(verb.request, loaded, &ranks.emplace_back());
  };
  const auto conclude = [&](Document& document) {
    if (ranks.size() > 1) conclude_job(ranks, document);
    if (tables) add_tables(*tables, document);
  };
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
Result<int> write_with_timeline(ReportVerb& verb, const std::optional<TableReport>& tables) {
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(verb.common.inputs));
  ASSAY_TRY_ASSIGN(TimelineFile file, TimelineFile::open(verb.perfetto, files, verb.common.output));
  verb.request.timeline = [&file](const LoadedTrace& loaded, const Timeline& timeline) {
    return file.add(loaded.trace, loaded.links, timeline);
  };
  const int code = write_report(verb, tables);
  if (code == kExitError) return code;
  ASSAY_TRY(file.finish());
  fmt::print(stderr, "assay: {}: {}\n", clean_text(verb.perfetto), clean_text(file.describe()));
  tell_of_place(verb.perfetto, verb.common.inputs);
  return code;
}

// Takes the tables out of the inputs and reads them.
Result<std::optional<TableReport>> take_tables(ReportVerb& verb) {
  std::vector<std::string>& inputs = verb.common.inputs;
  const auto first = std::stable_partition(
      inputs.begin(), inputs.end(), [](const auto& path) { return !is_throughput_file(path); });
  const std::vector<std::string> tables(first, inputs.end());
  if (tables.empty()) return std::optional<TableReport>();
  if (verb.common.output != "-") ASSAY_TRY(check_export(verb.common.output, tables));
  inputs.erase(first, inputs.end());
  auto report = report_tables(tables);
  if (report) return std::optional(std::move(*report));
  Error error = report.take_error();
  if (error.code == ErrorCode::kFormat)
    error.message +=
        "; assay throughput fit has --map and --meta, and its model is reported as well";
  return error;
}

int write_tables_alone(const ReportVerb& verb, TableReport tables) {
  if (!verb.perfetto.empty()) {
    return fail(Error{ErrorCode::kInvalidArgument,
                      "--perfetto shows the events of traces, and none is given", "", -1});
  }
  Document document = new_document("Report");
  add_tables(std::move(tables), document);
  return write_document(document, verb.common, has_lost_rows(document));
}

int run(ReportVerb& verb) {
  auto tables = take_tables(verb);
  if (!tables) return fail(tables.error());
  if (*tables && verb.common.inputs.empty()) return write_tables_alone(verb, *std::move(*tables));
  // Unique kernels differ by their operators' inputs: the same dispatch base as `assay tax`.
  verb.common.keep_op_inputs = true;
  verb.request.perf = verb.common.perf;
  verb.request.allow_truncated = verb.common.allow_truncated;
  verb.request.timelines = wants_page(verb.common);
  if (verb.perfetto.empty()) return write_report(verb, *tables);
  const auto code = write_with_timeline(verb, *tables);
  return code ? *code : fail(code.error());
}

}  // namespace

void add_report_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<ReportVerb>();
  Verb& sub =
      app.verb("report", "The verdict in words, the numbers behind it, and what they rest on");
  add_common_options(sub, verb->common, true);
  sub.option("--floor", verb->request.floor,
             "launch time of an empty kernel (see assay launch --help)");
  sub.option("--top", verb->request.top, "kernels listed; 0 = all").at_least_zero().shows_default();
  add_fusion_flags(sub, verb->request.fusion);
  add_telemetry_options(sub, verb->request.telemetry);
  sub.option("--perfetto", verb->perfetto,
             "also write a timeline for ui.perfetto.dev, .json or .json.gz: the events of the "
             "traces, and what was found in them as tracks of their own")
      .checked_by([](const std::string& file) { return file.empty() ? "names no file" : ""; })
      .called("FILE");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
