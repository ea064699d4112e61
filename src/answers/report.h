#pragma once

// The report: the verdict in words, what every room says of a trace, what the traces of a job say
// together, and measured throughput beside them.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/breakdown/telemetry.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "breakdown/ranks.h"
#include "launch/fusion.h"
#include "report/document/timeline.h"
#include "report/flow/job.h"

namespace assay {

struct ReportRequest {
  TraceRequest traces = {};                // tables of measured throughput may be among the inputs
  std::string floor = {};                  // as LaunchRequest
  FusionOptions fusion = {};               // without the floor
  size_t top = 10;                         // kernels listed; 0 = all
  std::vector<std::string> captures = {};  // traces in which graphs were recorded
  // What these hold: answer_report reads them.
  std::shared_ptr<const std::vector<CapturedGraph>> captured = {};
  bool everything = false;          // all rows of every table instead of what a reader bears
  bool timelines = false;           // charts of every launch and the timeline, for the page
  bool reach = false;               // also between what gains of levers lie; a page tells it anyway
  size_t lane_events = 250'000;     // of that timeline; answer_report shares them among the inputs
  TelemetryRequest telemetry = {};  // logs beside the trace
  // Takes what was found, laid on each trace's time; absent: nobody asked for it.
  std::function<Status(const LoadedTrace&, const Timeline&)> timeline = {};
};
Result<Answer> answer_report(const ReportRequest& request);

// The inputs by what they are, each kind in the order given.
struct ReportInputs {
  std::vector<std::string> traces;
  std::vector<std::string> tables;
};
ReportInputs sort_report_inputs(const std::vector<std::string>& inputs);

// What the report says of one trace. outline: what comparing it with others of its job needs, where
// that is wanted.
Result<TraceContent> report_content(const ReportRequest& request, const LoadedTrace& loaded,
                                    RankLevels* outline = nullptr, RankFlow* flow = nullptr);

// Puts first what the ranks of a job say together; nothing where they are no job. shown: of the
// same traces, where the document is to have a short answer.
void conclude_job(const std::vector<RankLevels>& outlines, std::vector<RankFlow> flows,
                  Document& document, const std::vector<RankOfAnswer>* shown = nullptr);

}  // namespace assay
