#pragma once

// Traces as relations for `sql` and `export`: trace tables immediately, module results on request.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "answers/inputs/traces.h"
#include "answers/report.h"
#include "base/result.h"
#include "query/relation.h"

namespace assay {

// Rank numbers for a set of traces: the recorded ranks if all are known and distinct, else
// positions.
class RankNumbers {
 public:
  // `told` has the recorded ranks in input order; nullopt = unknown.
  explicit RankNumbers(const std::vector<std::optional<int64_t>>& told);
  int64_t of(size_t input) const { return numbers_[input]; }

 private:
  std::vector<int64_t> numbers_;
};

// A trace's tables and the module results. loaded must outlive the catalog and must not move.
// `part` receives the trace's `report` if not null. `outline` and `flow` receive the data for the
// comparison with other ranks.
Result<Catalog> everything_of(const LoadedTrace& loaded, int64_t rank, const ReportRequest& request,
                              Part* part = nullptr, RankLevels* outline = nullptr,
                              RankFlow* flow = nullptr);

// Calls `see` with the complete catalog of each trace in turn; one trace is in memory at a time.
Status each_catalog(const ReportRequest& request,
                    const std::function<Status(const LoadedTrace&, const Catalog&)>& see);

// Several traces, all in memory.
class QueryInputs {
 public:
  static Result<QueryInputs> load(const TraceRequest& traces);

  const Catalog& trace_tables() const { return trace_tables_; }
  // Trace tables and module results. The analyses run on the first call.
  Result<const Catalog*> everything(const ReportRequest& request);
  // The `report` results of the traces. Call everything() first.
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
