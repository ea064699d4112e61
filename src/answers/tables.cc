#include "answers/tables.h"

#include <set>
#include <utility>

#include "query/document_relations.h"
#include "query/trace_relations.h"
#include "report/document/import_notes.h"
#include "report/run/section.h"

namespace assay {

RankNumbers::RankNumbers(const std::vector<std::optional<int64_t>>& told) {
  std::set<int64_t> seen;
  bool distinct = true;
  for (const std::optional<int64_t>& rank : told) {
    distinct = distinct && rank && seen.insert(*rank).second;
  }
  for (size_t i = 0; i < told.size(); ++i) {
    numbers_.push_back(distinct ? told[i].value_or(0) : static_cast<int64_t>(i));
  }
}

Result<Catalog> everything_of(const LoadedTrace& loaded, int64_t rank, const ReportRequest& request,
                              Part* part, RankLevels* outline, RankFlow* flow) {
  ReportRequest all = request;
  all.everything = true;
  ASSAY_TRY_ASSIGN(TraceContent content, report_content(all, loaded, outline, flow));
  const Trace& trace = loaded.trace;
  Part said{trace.source, trace_items(trace), import_notes(trace.log), std::move(content.verdict),
            std::move(content.sections)};
  Catalog catalog = trace_catalog(trace, loaded.links, rank);
  catalog.merge(part_catalog(said, rank, catalog));
  if (part != nullptr) *part = std::move(said);
  return catalog;
}

Status each_catalog(const ReportRequest& request,
                    const std::function<Status(const LoadedTrace&, const Catalog&)>& see) {
  TraceRequest traces = request.traces;
  traces.keep_op_inputs = true;  // as answer_report
  return each_trace(traces, [&](const LoadedTrace& loaded) -> Status {
    ASSAY_TRY_ASSIGN(const Catalog catalog, everything_of(loaded, 0, request));
    return see(loaded, catalog);
  });
}

Result<QueryInputs> QueryInputs::load(const TraceRequest& asked) {
  TraceRequest traces = asked;
  traces.keep_op_inputs = true;  // as answer_report
  QueryInputs inputs;
  std::vector<std::optional<int64_t>> told;
  ASSAY_TRY(each_trace(traces, [&](LoadedTrace loaded) -> Status {
    told.push_back(loaded.trace.distributed.rank);
    inputs.traces_.push_back(std::make_unique<LoadedTrace>(std::move(loaded)));
    return Ok{};
  }));
  const RankNumbers numbers(told);
  for (size_t i = 0; i < told.size(); ++i) {
    inputs.ranks_.push_back(numbers.of(i));
    const LoadedTrace& loaded = *inputs.traces_[i];
    inputs.trace_tables_.merge(trace_catalog(loaded.trace, loaded.links, numbers.of(i)));
  }
  return inputs;
}

Result<const Catalog*> QueryInputs::everything(const ReportRequest& request) {
  if (everything_) return static_cast<const Catalog*>(everything_.get());
  auto catalog = std::make_unique<Catalog>();
  for (size_t i = 0; i < traces_.size(); ++i) {
    // The graph of ranks joins several traces; a single trace is analyzed as in `report`.
    RankFlow* flow = traces_.size() > 1 ? &flows_.emplace_back() : nullptr;
    ASSAY_TRY_ASSIGN(Catalog one,
                     everything_of(*traces_[i], ranks_[i], request, &parts_.emplace_back(),
                                   &outlines_.emplace_back(), flow));
    catalog->merge(std::move(one));
  }
  everything_ = std::move(catalog);
  return static_cast<const Catalog*>(everything_.get());
}

Document QueryInputs::report() const {
  Document document = new_document("Report");
  document.inputs = inputs();
  if (parts_.size() == 1) {
    document.verdict = parts_[0].verdict;
    document.sections = parts_[0].sections;
    return document;
  }
  conclude_job(outlines_, flows_, document);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].verdict.empty()) continue;
    document.verdict.push_back("Rank " + std::to_string(ranks_[i]) + ": " +
                               parts_[i].verdict.front());
  }
  return document;
}

bool QueryInputs::data_lost() const {
  for (const auto& loaded : traces_) {
    if (loaded->trace.log.data_lost()) return true;
  }
  return false;
}

std::vector<Input> QueryInputs::inputs() const {
  std::vector<Input> inputs;
  inputs.reserve(traces_.size());
  for (const auto& loaded : traces_) {
    inputs.push_back({loaded->trace.source, trace_items(loaded->trace)});
  }
  return inputs;
}

}  // namespace assay
