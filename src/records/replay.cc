#include "records/replay.h"

#include <algorithm>

namespace assay {

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
    case CollectorTracer::kUnknown:
      break;
  }
  return "unknown";
}

CollectorTracer tracer_from_name(std::string_view name) {
  for (const CollectorTracer tracer : {CollectorTracer::kCupti, CollectorTracer::kNsys,
                                       CollectorTracer::kKineto, CollectorTracer::kRocprofiler}) {
    if (name == tracer_name(tracer)) return tracer;
  }
  return CollectorTracer::kUnknown;
}

const GpuFloor& lowest_floor(const FloorFile& file) {
  return *std::min_element(
      file.gpus.begin(), file.gpus.end(),
      [](const GpuFloor& a, const GpuFloor& b) { return a.launch.mean_ns < b.launch.mean_ns; });
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
