#include "records/replay.h"

#include <algorithm>

namespace assay {

std::string_view tracer_name(Tracer tracer) {
  switch (tracer) {
    case Tracer::kCupti:
      return "cupti";
    case Tracer::kNsys:
      return "nsys";
    case Tracer::kKineto:
      return "kineto";
    case Tracer::kRocprofiler:
      return "rocprofiler";
    case Tracer::kUnknown:
      break;
  }
  return "unknown";
}

Tracer tracer_from_name(std::string_view name) {
  for (const Tracer tracer :
       {Tracer::kCupti, Tracer::kNsys, Tracer::kKineto, Tracer::kRocprofiler}) {
    if (name == tracer_name(tracer)) return tracer;
  }
  return Tracer::kUnknown;
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
