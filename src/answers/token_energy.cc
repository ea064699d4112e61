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

struct ReadLog {
  std::string file;
  PowerLog log;
};

// Those of the files that are power logs of GPUs.
std::vector<ReadLog> gpu_logs(const std::vector<std::string>& files, bool allow_truncated) {
  std::vector<ReadLog> logs;
  for (const std::string& file : files) {
    auto log = read_power_log(file, {.allow_truncated = allow_truncated});
    if (log && log->scope.empty()) logs.push_back({file, *std::move(log)});
  }
  return logs;
}

// Energy on one GPU, from the first log that contains its power.
TokenEnergy of_device(const std::vector<ReadLog>& logs, const TelemetryOptions& options,
                      const LoadedTrace& loaded, int64_t gpu, bool only_gpu,
                      AttributeRequest asked) {
  for (const ReadLog& one : logs) {
    const auto name = name_in_log(one.log, gpu, only_gpu, options);
    if (!name) continue;
    asked.samples = one.file;
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
  if (gpus.empty()) return refused("the trace has no kernels");
  if (asked.options.tokens == 0 && asked.options.prompt_tokens == 0) {
    return refused("the labels of the steps do not count tokens");
  }
  const std::vector<ReadLog> logs = gpu_logs(request.files, traces.allow_truncated);
  const auto energy_of = [&](int64_t gpu) {
    return of_device(logs, request.options, loaded, gpu, gpus.size() == 1, asked);
  };
  TokenEnergy sum = energy_of(gpus.front());
  for (size_t i = 1; i < gpus.size(); ++i) sum.add(energy_of(gpus[i]));
  return sum;
}

}  // namespace assay
