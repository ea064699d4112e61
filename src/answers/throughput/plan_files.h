#pragma once

// The two small tables that a plan reads in addition to measurements: GPU prices and request
// arrival times.

#include <string>
#include <vector>

#include "base/result.h"
#include "throughput/serving/plan.h"

namespace assay {

// Reads CSV with the columns gpu, usd_per_gpu_hour and optionally watts, gpus_per_node and nodes.
// Errors name the line.
Result<std::vector<GpuOffer>> read_prices(const std::string& path);
Result<std::vector<GpuOffer>> prices_of_text(const std::string& text, const std::string& path);

// Load of a service, from a trace of requests.
struct RequestTrace {
  size_t requests = 0;
  double in_len = 0;  // means
  double out_len = 0;
  double mean_per_s = 0;
  double busy_per_s = 0;  // rate of the 95th-percentile minute
  double variation = 1;   // squared coefficient of variation of the gaps within a minute
};
// Reads CSV with the columns TIMESTAMP ("2023-11-16 18:15:46.6805900", or seconds), ContextTokens
// and GeneratedTokens, the format of Azure's LLM inference traces.
Result<RequestTrace> read_request_trace(const std::string& path);
Result<RequestTrace> request_trace_of_text(const std::string& text, const std::string& path);

}  // namespace assay
