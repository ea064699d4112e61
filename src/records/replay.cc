#include "records/replay.h"

#include <algorithm>
#include <cmath>

#include "base/stats.h"

namespace assay {

SampleStats sample_stats(std::vector<int64_t> values_ns) {
  SampleStats stats;
  stats.n = values_ns.size();
  if (values_ns.empty()) return stats;
  std::sort(values_ns.begin(), values_ns.end());
  double sum = 0;
  for (const int64_t value : values_ns) sum += static_cast<double>(value);
  stats.mean_ns = sum / static_cast<double>(stats.n);
  double squares = 0;
  for (const int64_t value : values_ns) {
    const double off = static_cast<double>(value) - stats.mean_ns;
    squares += off * off;
  }
  if (stats.n > 1) stats.std_ns = std::sqrt(squares / static_cast<double>(stats.n - 1));
  stats.min_ns = static_cast<double>(values_ns.front());
  stats.p5_ns = quantile_sorted(values_ns, 0.05);
  stats.p50_ns = quantile_sorted(values_ns, 0.5);
  stats.p95_ns = quantile_sorted(values_ns, 0.95);
  stats.max_ns = static_cast<double>(values_ns.back());
  return stats;
}

bool is_dynamic_operator(std::string_view op) {
  const size_t colons = op.rfind("::");
  const std::string_view name = colons == std::string_view::npos ? op : op.substr(colons + 2);
  for (const std::string_view prefix :
       {"nonzero", "unique", "_unique", "index_add", "masked_select", "bincount", "histc"}) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  for (const std::string_view exact : {"item", "_local_scalar_dense", "is_nonzero", "equal"}) {
    if (name == exact) return true;
  }
  return false;
}

std::string_view tracer_name(CollectorTracer tracer) {
  switch (tracer) {
    case CollectorTracer::kCupti:
      return "cupti";
    case CollectorTracer::kNsys:
      return "nsys";
    case CollectorTracer::kKineto:
      return "kineto";
    case CollectorTracer::kRocprofiler:
      return "rocprofiler";
    case CollectorTracer::kHost:
      return "host";
    case CollectorTracer::kHip:
      return "hip";
    case CollectorTracer::kUnknown:
      break;
  }
  return "unknown";
}

CollectorTracer tracer_from_name(std::string_view name) {
  for (const CollectorTracer tracer :
       {CollectorTracer::kCupti, CollectorTracer::kNsys, CollectorTracer::kKineto,
        CollectorTracer::kRocprofiler, CollectorTracer::kHost, CollectorTracer::kHip}) {
    if (name == tracer_name(tracer)) return tracer;
  }
  return CollectorTracer::kUnknown;
}

std::string_view launch_path_name(LaunchPath path) {
  switch (path) {
    case LaunchPath::kRuntime:
      return "cudaLaunchKernel";
    case LaunchPath::kDriver:
      return "cuLaunchKernel";
    case LaunchPath::kUnknown:
      break;
  }
  return "";
}

LaunchPath launch_path_of(std::string_view name) {
  for (const LaunchPath path : {LaunchPath::kRuntime, LaunchPath::kDriver}) {
    if (name == launch_path_name(path)) return path;
  }
  return LaunchPath::kUnknown;
}

const GpuFloor& lowest_floor(const FloorFile& file) {
  return *std::min_element(
      file.gpus.begin(), file.gpus.end(),
      [](const GpuFloor& a, const GpuFloor& b) { return a.launch.mean_ns < b.launch.mean_ns; });
}

std::string_view replay_through_name(ReplayThrough through) {
  return through == ReplayThrough::kPython ? "python" : "cpp";
}

std::optional<ReplayThrough> replay_through_from(std::string_view name) {
  for (const ReplayThrough through : {ReplayThrough::kCpp, ReplayThrough::kPython}) {
    if (name == replay_through_name(through)) return through;
  }
  return std::nullopt;
}

std::string_view replay_through_words(ReplayThrough through) {
  return through == ReplayThrough::kPython ? "Python" : "C++";
}

std::string_view replay_status_name(ReplayStatus status) {
  switch (status) {
    case ReplayStatus::kOk:
      return "ok";
    case ReplayStatus::kSkippedDynamic:
      return "skipped_dynamic";
    case ReplayStatus::kOpMissing:
      return "op_missing";
    case ReplayStatus::kFailed:
      return "failed";
  }
  return "";
}

}  // namespace assay
