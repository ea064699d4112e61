#include "cli/throughput_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "cli/common.h"
#include "cli/throughput_content.h"
#include "ingest/bench_table.h"
#include "report/section_throughput_evaluate.h"
#include "report/sections.h"
#include "throughput/evaluate.h"

namespace assay {
namespace {

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

}  // namespace

Result<Document> report_table(const std::string& path) {
  BenchFlags bench;
  bench.tables = {path};
  ASSAY_TRY_ASSIGN(const FittedModel model, load_model(bench, {}, {}));
  Document document = new_document("Report");
  document.inputs.push_back({path, {}});
  document.import_log = import_notes(model);
  document.verdict = fit_words(model);
  add_notes(model, document);
  ASSAY_TRY_ASSIGN(const ThroughputAnswers curves,
                   answer_points(model, curve_points(model, largest_groups(model.fit.data))));
  document.sections.push_back(throughput_curves_section(curves));
  if (!model.ala) ASSAY_TRY(add_evaluation(model, path, document));
  document.sections.push_back(fit_section(model));
  document.sections.push_back(trust_section(fit_trust(model)));
  return document;
}

bool is_throughput_file(const std::string& path) {
  std::string head(200, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  if (looks_like_model(head)) return true;
  return path.ends_with(".csv") && read_bench_table(path).operator bool();
}

}  // namespace assay
