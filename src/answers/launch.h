#pragma once

// How kernels are launched (launch), fusion candidates (fuse), and the contents of a trace (info).

#include <cstddef>
#include <optional>
#include <string>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "launch/fusion.h"
#include "launch/tree.h"

namespace assay {

struct LaunchRequest {
  TraceRequest traces = {};
  std::string floor = {};     // nanoseconds, a floor file or a published platform; empty = none
  size_t top = 10;            // kernels listed; 0 = all
  bool count_copies = false;  // copies and fills also count as GPU activity
  std::optional<TreeOptions> tree = {};  // the collapsed call tree
  bool graph = false;                    // every kernel with its API call and operators
  bool timelines = false;                // charts of every launch, for the page
};
Result<Answer> answer_launch(const LaunchRequest& request);

struct FusionRequest {
  TraceRequest traces = {};
  std::string floor = {};      // as LaunchRequest
  FusionOptions options = {};  // its `floor` is ignored
};
Result<Answer> answer_fusion(const FusionRequest& request);

// Rows per table, links, irregular input.
Result<Answer> answer_info(const TraceRequest& request);

}  // namespace assay
