#pragma once

// The report: headline, results of every module for a trace, joint results of a job's traces, and
// measured throughput.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/breakdown/telemetry.h"
#include "answers/inputs/traces.h"
#include "answers/other_gpu.h"
#include "base/result.h"
#include "breakdown/ranks.h"
#include "flow/requests.h"
#include "launch/fusion.h"
#include "report/document/timeline.h"
#include "report/flow/job.h"

namespace assay {

struct ReportRequest {
  TraceRequest traces = {};                // inputs may include tables of measured throughput
  std::string floor = {};                  // as LaunchRequest
  FusionOptions fusion = {};               // its `floor` is ignored
  size_t top = 10;                         // kernels listed; 0 = all
  std::vector<std::string> captures = {};  // traces in which graphs were recorded
  // Graphs of the files in `captures`, filled by answer_report.
  std::shared_ptr<const std::vector<CapturedGraph>> captured = {};
  // Only the answer on one screen is shown: of a single trace, what it does not need is left out.
  bool card_only = false;
  bool everything = false;          // all rows of every table, without the limits for readers
  bool timelines = false;           // charts of every launch and the timeline, for the page
  bool reach = false;               // also intervals of the actions' gains; implied by a page
  size_t lane_events = 250'000;     // limit of timeline events; answer_report divides it by the
                                    // inputs
  std::string untraced = {};        // as untraced_times() (answers/untraced.h)
  TelemetryRequest telemetry = {};  // logs recorded with the trace
  std::string requests = {};        // request log of a serving engine: docs/formats/request_log.md
  RequestOptions request_options = {};
  OtherGpuRequest on = {};  // if asked, also the run on other GPUs; of one trace
  std::optional<OtherGpuInputs> on_inputs = {};  // filled by answer_report
  // Receives each trace and its timeline with the findings; absent if not requested.
  std::function<Status(const LoadedTrace&, const Timeline&)> timeline = {};
};
Result<Answer> answer_report(const ReportRequest& request);

// The inputs by kind, each kind in the order given.
struct ReportInputs {
  std::vector<std::string> traces;
  std::vector<std::string> tables;
};
ReportInputs sort_report_inputs(const std::vector<std::string>& inputs);

// The report of one trace. outline, flow: receive data for the comparison with other ranks, if not
// null.
Result<TraceContent> report_content(const ReportRequest& request, const LoadedTrace& loaded,
                                    RankLevels* outline = nullptr, RankFlow* flow = nullptr);

// Inserts the joint results of a job's ranks at the top. Does nothing if the traces are not a job.
// shown: answers of the same traces, if the document needs a short answer.
void conclude_job(const std::vector<RankLevels>& outlines, std::vector<RankFlow> flows,
                  Document& document, const std::vector<RankOfAnswer>* shown = nullptr);

}  // namespace assay
