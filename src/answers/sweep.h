#pragma once

// Finds whether a run is CPU-bound or GPU-bound, for one trace, a sweep over batch sizes, or two
// platforms.

#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "launch/sweep.h"

namespace assay {

// Source of one platform's sweep: traces by batch size, or a table.
struct SweepRequest {
  std::vector<std::string> batches = {};  // "8=trace.json.gz", or folders of them (inputs/sweep.h)
  std::string table = {};                 // CSV
  std::string name = {};                  // its key in the document

  bool given() const { return !batches.empty() || !table.empty(); }
};

struct BoundRequest {
  TraceRequest traces = {};  // each input gets its own conclusion; only without a sweep
  std::string floor = {};    // as LaunchRequest
  SweepRequest platform = {.name = "platform"};
  SweepRequest other = {.name = "other"};
  BoundOptions options = {};
};
Result<Answer> answer_bound(const BoundRequest& request);

}  // namespace assay
