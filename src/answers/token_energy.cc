#include "answers/token_energy.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "answers/energy.h"
#include "flow/run.h"
#include "ingest/power/log.h"

namespace assay {
namespace {

// The GPUs that have kernels.
std::vector<int64_t> devices_of(const Trace& trace) {
  std::set<int64_t> devices;
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    if (trace.activities.kind[i] != ActivityKind::kKernel) continue;
    devices.insert(trace.streams[trace.activities.stream[i].index()].device);
  }
  return {devices.begin(), devices.end()};
}

// A GPU's name in the log: as given, else its only device if the trace also has one GPU, else the
// GPU's number.
std::optional<std::string> name_in_log(const PowerLog& log, int64_t gpu, bool only_gpu,
                                       const TelemetryOptions& options) {
  const auto told = options.device_of.find(gpu);
  const std::string wanted = told != options.device_of.end() ? told->second : std::to_string(gpu);
  if (told == options.device_of.end() && only_gpu && log.series.size() == 1) {
    return log.series.front().device;
  }
  const bool has = std::any_of(log.series.begin(), log.series.end(),
                               [&](const PowerSeries& one) { return one.device == wanted; });
  return has ? std::optional(wanted) : std::nullopt;
}

AttributeRequest request_of(const TelemetryOptions& options, const TraceRequest& traces) {
  AttributeRequest request{.traces = traces};
  request.at_start = options.at_start;
  request.options.sensor.offset_ns = options.offset_ns - options.zone_ns;
  return request;
}

TokenEnergy refused(std::string why) {
  return {.output = {}, .prompt = {}, .unknown = std::move(why)};
}

// Energy on one GPU, from the first log that contains its power.
TokenEnergy of_device(const TelemetryRequest& request, const LoadedTrace& loaded, int64_t gpu,
                      bool only_gpu, AttributeRequest asked) {
  for (const std::string& file : request.files) {
    const auto log = read_power_log(file, {.allow_truncated = asked.traces.allow_truncated});
    if (!log || !log->scope.empty()) continue;
    const auto name = name_in_log(*log, gpu, only_gpu, request.options);
    if (!name) continue;
    asked.samples = file;
    asked.gpu = *name;
    asked.options.device = gpu;
    auto report = energy_of_trace(asked, loaded);
    return report ? TokenEnergy::of(*report) : refused(report.error().message);
  }
  return refused("no log has the power of GPU " + std::to_string(gpu));
}

}  // namespace

TokenEnergy token_energy(const TelemetryRequest& request, const TraceRequest& traces,
                         const LoadedTrace& loaded) {
  AttributeRequest asked = request_of(request.options, traces);
  const FlowRun run = make_flow_run(loaded.trace, loaded.links, loaded.kernels);
  ask_per_token(engine_steps(run, {INT64_MIN, INT64_MAX}), asked.options);
  const std::vector<int64_t> gpus = devices_of(loaded.trace);
  std::optional<TokenEnergy> sum;
  for (const int64_t gpu : gpus) {
    TokenEnergy one = of_device(request, loaded, gpu, gpus.size() == 1, asked);
    if (sum) {
      sum->add(one);
    } else {
      sum = std::move(one);
    }
  }
  if (!sum) return refused("the trace has no kernels");
  const bool counted = asked.options.tokens > 0 || asked.options.prompt_tokens > 0;
  if (!counted) sum->unknown = "the labels of the steps do not count tokens";
  return *std::move(sum);
}

}  // namespace assay
