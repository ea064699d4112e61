#include "answers/throughput/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "answers/throughput/words.h"
#include "ingest/formats.h"
#include "report/run/section.h"
#include "report/throughput/evaluate.h"
#include "throughput/evaluate.h"

namespace assay {
namespace {

// Limits: curves of the largest groups, and held-out errors of splits that take seconds.
constexpr size_t kCurvesShown = 4;
constexpr double kAffordedWork = 4e11;  // sum over folds of training rows cubed

// One row from each of the largest groups; ties in table order.
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

// Adds held-out errors by split, and names the splits that were skipped.
Status add_evaluation(const FittedModel& model, const std::vector<std::string>& paths,
                      TableReport& report) {
  const BenchTable table{model.fit.source, model.fit.format, {}, {}};
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
    report.verdict.push_back(std::move(text));
  if (!left_out.empty()) {
    report.verdict.push_back(
        fmt::format("Splits left out for their time: assay throughput evaluate {} --split {}",
                    fmt::join(paths, " "), left_out));
  }
  report.sections.push_back(throughput_evaluation_section(evaluation));
  return Ok{};
}

// The section with the caveats; end() if there is none.
std::vector<Section>::iterator trust_of(std::vector<Section>& sections) {
  return std::find_if(sections.begin(), sections.end(), [](const Section& section) {
    return std::any_of(section.blocks.begin(), section.blocks.end(), [](const Block& block) {
      const Table* table = std::get_if<Table>(&block);
      return table != nullptr && table->key == "caveats";
    });
  });
}

// Appends caveats to the blocks of an existing section.
void append_trust(const TrustNotes& notes, Section& section) {
  Section more = trust_section(notes);
  for (size_t i = 0; i < section.blocks.size() && i < more.blocks.size(); ++i) {
    Table* table = std::get_if<Table>(&section.blocks[i]);
    Prose* prose = std::get_if<Prose>(&section.blocks[i]);
    if (table != nullptr) {
      for (Row& row : std::get<Table>(more.blocks[i]).rows) table->rows.push_back(std::move(row));
    } else if (prose != nullptr) {
      for (std::string& text : std::get<Prose>(more.blocks[i]).paragraphs)
        prose->paragraphs.push_back(std::move(text));
    }
  }
}

}  // namespace

Result<TableReport> report_tables(const std::vector<std::string>& paths, const Listener& listener) {
  BenchRequest bench;
  bench.tables = paths;
  ASSAY_TRY_ASSIGN(const FittedModel model, load_model(bench, {}, listener, {}));
  TableReport report;
  report.source = name_of(bench);
  report.import_log = import_notes(model);
  report.verdict = fit_words(model);
  for (std::string& text : notes_of(model)) report.verdict.push_back(std::move(text));
  ASSAY_TRY_ASSIGN(const ThroughputAnswers curves,
                   answer_points(model, curve_points(model, largest_groups(model.fit.data))));
  report.sections.push_back(throughput_curves_section(curves));
  if (!model.ala) ASSAY_TRY(add_evaluation(model, paths, report));
  report.sections.push_back(fit_section(model));
  report.trust = fit_trust(model);
  return report;
}

void add_tables(TableReport report, Document& document) {
  const bool alone = document.sections.empty();
  document.inputs.push_back({report.source, {}});
  for (ImportNote& note : report.import_log) document.import_log.push_back(std::move(note));
  for (std::string& text : report.verdict)
    document.verdict.push_back(alone ? std::move(text) : "Throughput: " + text);
  const auto trust = trust_of(document.sections);
  if (trust == document.sections.end()) {
    report.sections.push_back(trust_section(report.trust));
  } else if (!report.trust.empty()) {
    append_trust(report.trust, *trust);
  }
  document.sections.insert(trust_of(document.sections),
                           std::make_move_iterator(report.sections.begin()),
                           std::make_move_iterator(report.sections.end()));
}

bool is_throughput_file(const std::string& path) {
  if (path == "-") return false;
  const FileFormat* format = format_of_file(path);
  return format != nullptr &&
         (format->family == FileFamily::kBench || format->family == FileFamily::kModel);
}

}  // namespace assay
