#pragma once

// The report: the headline, the results of every module for a trace, the joint results of a job's
// traces, and measured throughput.

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
#include "flow/requests.h"
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
  // Content of these files: answer_report reads them.
  std::shared_ptr<const std::vector<CapturedGraph>> captured = {};
  bool everything = false;          // all rows of every table instead of what a reader bears
  bool timelines = false;           // charts of every launch and the timeline, for the page
  bool reach = false;               // also intervals of the actions' gains; a page has them anyway
  size_t lane_events = 250'000;     // of that timeline; answer_report shares them among the inputs
  std::string untraced = {};        // as untraced_run() (answers/untraced.h)
  TelemetryRequest telemetry = {};  // logs recorded with the trace
  std::string requests = {};        // log of a serving engine's requests: docs/formats/request_log.md
  RequestOptions request_options = {};
  // Receives the findings on each trace's time; absent if not requested.
  std::function<Status(const LoadedTrace&, const Timeline&)> timeline = {};
};
Result<Answer> answer_report(const ReportRequest& request);

// The inputs by what they are, each kind in the order given.
struct ReportInputs {
  std::vector<std::string> traces;
  std::vector<std::string> tables;
};
ReportInputs sort_report_inputs(const std::vector<std::string>& inputs);

// The report of one trace. outline: data for a comparison with others of its job, if wanted.
Result<TraceContent> report_content(const ReportRequest& request, const LoadedTrace& loaded,
                                    RankLevels* outline = nullptr, RankFlow* flow = nullptr);

// Puts the joint results of a job's ranks first; does nothing for other traces. shown: of the same
// traces, if the document needs a short answer.
void conclude_job(const std::vector<RankLevels>& outlines, std::vector<RankFlow> flows,
                  Document& document, const std::vector<RankOfAnswer>* shown = nullptr);

}  // namespace assay
