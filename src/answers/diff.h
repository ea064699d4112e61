#pragma once

// Compares two sides: what changed, where the change comes from, and whether it is significant.

#include <cstddef>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "diff/compare.h"
#include "diff/gate.h"
#include "report/diff/section.h"
#include "trace/trust.h"

namespace assay {

struct DiffRequest {
  TraceRequest traces = {};  // how both sides are read; inputs are ignored
  std::string a = {};        // baseline: a trace, a folder or a pattern
  std::string b = {};        // the side to check
  std::vector<Gate> gates = {};
  bool fail_on_any = false;  // gates also fail on changes that are not significant
  size_t top = 10;           // rows per table; 0 = all
  // "A,B", each as untraced_times() (answers/untraced.h); a file or "none" also for both sides.
  std::string untraced = {};
  Resampling resampling = {};
};

struct DiffAnswer {
  Answer answer;
  DiffReport report;
  TrustNotes notes;
  std::vector<GateResult> gates;

  // Input of the other output formats. `request` must be that of the answer, which must outlive the
  // view.
  DiffView view(const DiffRequest& request) const {
    return {report, gates, notes, request.top, request.fail_on_any};
  }
};
Result<DiffAnswer> answer_diff(const DiffRequest& request);

}  // namespace assay
