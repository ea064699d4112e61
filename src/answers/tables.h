#pragma once

// The traces of `sql` and `export` as relations: their tables at once, results of the modules on
// request.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "answers/inputs/traces.h"
#include "answers/report.h"
#include "base/result.h"
#include "query/relation.h"

namespace assay {

// A set of traces calls each by its own rank, if every one has another; else by its position.
class RankNumbers {
 public:
  // In the order of the inputs.
  explicit RankNumbers(const std::vector<std::optional<int64_t>>& told);
  int64_t of(size_t input) const { return numbers_[input]; }

 private:
  std::vector<int64_t> numbers_;
};

// A trace's tables and the results of the modules. loaded must outlive the catalog and must not
// move. part, outline: also the `report` of the trace, and the data for a comparison with others.
Result<Catalog> everything_of(const LoadedTrace& loaded, int64_t rank, const ReportRequest& request,
                              Part* part = nullptr, RankLevels* outline = nullptr,
                              RankFlow* flow = nullptr);

// Everything of each trace in turn: one trace is in memory at a time.
Status each_catalog(const ReportRequest& request,
                    const std::function<Status(const LoadedTrace&, const Catalog&)>& see);

// Several traces at once, all in memory.
class QueryInputs {
 public:
  static Result<QueryInputs> load(const TraceRequest& traces);

  const Catalog& trace_tables() const { return trace_tables_; }
  // Trace tables and results; the analyses run at the first call.
  Result<const Catalog*> everything(const ReportRequest& request);
  // Results of `report` for the traces; after everything().
  Document report() const;
  bool data_lost() const;
  std::vector<Input> inputs() const;

 private:
  std::vector<std::unique_ptr<LoadedTrace>> traces_;
  std::vector<int64_t> ranks_;
  Catalog trace_tables_;
  std::unique_ptr<Catalog> everything_;
  std::vector<Part> parts_;
  std::vector<RankLevels> outlines_;
  std::vector<RankFlow> flows_;
};

}  // namespace assay
