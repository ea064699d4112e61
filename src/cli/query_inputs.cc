#include "cli/query_inputs.h"

#include "ingest/load.h"
#include "query/document_relations.h"
#include "query/trace_relations.h"
#include "report/import_notes.h"
#include "report/sections.h"

namespace assay {
namespace {

Catalog trace_tables_of(const std::vector<std::unique_ptr<LoadedTrace>>& traces,
                        const std::vector<int64_t>& ranks) {
  Catalog catalog;
  for (size_t i = 0; i < traces.size(); ++i) {
    catalog.merge(trace_catalog(traces[i]->trace, traces[i]->links, ranks[i]));
  }
  return catalog;
}

}  // namespace

RankNumbers::RankNumbers(const std::vector<std::optional<int64_t>>& told) {
  std::set<int64_t> seen;
  bool distinct = true;
  for (const std::optional<int64_t>& rank : told) {
    distinct = distinct && rank && seen.insert(*rank).second;
  }
  for (size_t i = 0; i < told.size(); ++i) {
    numbers_.push_back(distinct ? *told[i] : static_cast<int64_t>(i));
  }
}

Result<Part> report_part(const ReportRequest& request, const LoadedTrace& loaded) {
  ASSAY_TRY_ASSIGN(TraceContent content, report_content(request, loaded));
  const Trace& trace = loaded.trace;
  return Part{trace.source, trace_items(trace), import_notes(trace.log), std::move(content.verdict),
              std::move(content.sections)};
}

Result<QueryInputs> QueryInputs::load(const CommonOptions& options) {
  QueryInputs inputs;
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, expand_inputs(options.inputs));
  std::vector<std::optional<int64_t>> told;
  for (const std::string& file : files) {
    ASSAY_TRY_ASSIGN(LoadedTrace loaded, load_input(file, options));
    told.push_back(loaded.trace.distributed.rank);
    inputs.traces_.push_back(std::make_unique<LoadedTrace>(std::move(loaded)));
  }
  const RankNumbers numbers(told);
  for (size_t i = 0; i < told.size(); ++i) inputs.ranks_.push_back(numbers.of(i));
  inputs.trace_tables_ = trace_tables_of(inputs.traces_, inputs.ranks_);
  return inputs;
}

Result<const Catalog*> QueryInputs::everything(const ReportRequest& request) {
  if (everything_) return static_cast<const Catalog*>(everything_.get());
  auto catalog = std::make_unique<Catalog>(trace_tables_);
  for (size_t i = 0; i < traces_.size(); ++i) {
    ASSAY_TRY_ASSIGN(const Part part, report_part(request, *traces_[i]));
    catalog->merge(part_catalog(part, ranks_[i], trace_tables_));
  }
  everything_ = std::move(catalog);
  return static_cast<const Catalog*>(everything_.get());
}

bool QueryInputs::data_lost() const {
  for (const auto& loaded : traces_) {
    if (loaded->trace.log.data_lost()) return true;
  }
  return false;
}

std::vector<Input> QueryInputs::inputs() const {
  std::vector<Input> inputs;
  for (const auto& loaded : traces_) {
    inputs.push_back({loaded->trace.source, trace_items(loaded->trace)});
  }
  return inputs;
}

}  // namespace assay
