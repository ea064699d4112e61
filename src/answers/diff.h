#pragma once

// What changed from one side to the other, where it comes from, and whether it is more than noise.

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
  TraceRequest traces = {};  // how both sides are read; without inputs
  std::string a = {};        // the side compared against: a trace, a folder or a pattern
  std::string b = {};        // the side in question
  std::vector<Gate> gates = {};
  bool fail_on_any = false;  // gates do not ask whether a change is more than noise
  size_t top = 10;           // rows per table; 0 = all
  Resampling resampling = {};
};

struct DiffAnswer {
  Answer answer;
  DiffReport report;
  TrustNotes notes;
  std::vector<GateResult> gates;

  // As the other formats of a diff take it; of the same request. The answer must outlive it.
  DiffView view(const DiffRequest& request) const {
    return {report, gates, notes, request.top, request.fail_on_any};
  }
};
Result<DiffAnswer> answer_diff(const DiffRequest& request);

}  // namespace assay
