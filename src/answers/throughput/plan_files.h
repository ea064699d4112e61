#pragma once

// The two small tables that a plan reads in addition to measurements: prices of GPUs, and arrival
// times of requests.

#include <string>
#include <vector>

#include "base/result.h"
#include "throughput/serving/plan.h"

namespace assay {

// CSV with the columns gpu, usd_per_gpu_hour and the optional watts, gpus_per_node and nodes.
// Errors name the line.
Result<std::vector<GpuOffer>> read_prices(const std::string& path);
Result<std::vector<GpuOffer>> prices_of_text(const std::string& text, const std::string& path);

// Properties of a service from a trace of requests.
struct RequestTrace {
  size_t requests = 0;
  double in_len = 0;  // means
  double out_len = 0;
  double mean_per_s = 0;
  double busy_per_s = 0;  // of the minute that 95 % of the minutes do not exceed
  double variation = 1;   // squared coefficient of variation of the gaps within a minute
};
// CSV with the columns TIMESTAMP ("2023-11-16 18:15:46.6805900", or seconds), ContextTokens and
// GeneratedTokens, as Azure's traces of LLM inference are.
Result<RequestTrace> read_request_trace(const std::string& path);
Result<RequestTrace> request_trace_of_text(const std::string& text, const std::string& path);

}  // namespace assay
