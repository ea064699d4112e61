#pragma once

// The inputs of RunFacts: everything known about one run.

#include "flow/flow.h"
#include "flow/requests.h"
#include "flow/untraced.h"
#include "flow/verdict.h"
#include "flow/whatif.h"
#include "roof/utilisation.h"
#include "trace/trace.h"

namespace assay {

struct FlowAnswer {
  const Trace& trace;
  const FlowReport& report;
  const FlowVerdict& verdict;
  const WhatIf* tried = nullptr;  // usual_edits() and work_edits(), each alone; null: no gains
  const Untraced* untraced = nullptr;  // the run without its profiler; null: not requested
  const Utilisation* use = nullptr;    // of the whole recording; null if it is not known
  const RequestsReport* requests = nullptr;  // null if no log was given
};

}  // namespace assay
