#include "floor/given.h"

#include <cmath>
#include <cstdlib>

#include "floor/published.h"
#include "records/measured_on.h"
#include "trace/device_names.h"

namespace assay {
namespace {

constexpr Tracer kTracersWithFloors[] = {Tracer::kPyTorchProfiler, Tracer::kNsightSystems};
constexpr const char* kRestOnGiven = "floor_ns,queue_share,kt_fw_ns,t_orch_literal_ns";

void add_note(const char* what, std::string effect, LaunchFloor& floor) {
  floor.trust.push_back({what, 1, 0, kRestOnGiven, std::move(effect)});
}

// The trace's own tracer has priority, because a value of another one is not the same quantity. A
// platform with its full name is exact: DGX-H100 is not any H100.
const PublishedFloor* named_floor(const std::string& text, Tracer traced) {
  if (const PublishedFloor* floor = floor_of_platform(text, traced)) return floor;
  for (const Tracer tracer : kTracersWithFloors) {
    if (const PublishedFloor* floor = floor_of_platform(text, tracer)) return floor;
  }
  if (const PublishedFloor* floor = find_published_floor(text, traced)) return floor;
  for (const Tracer tracer : kTracersWithFloors) {
    if (const PublishedFloor* floor = find_published_floor(text, tracer)) return floor;
  }
  return nullptr;
}

LaunchFloor named_one(const PublishedFloor& named, Tracer traced, const std::string& gpu) {
  LaunchFloor floor;
  floor.source = FloorSource::kPublished;
  floor.floor_ns = std::llround(named.launch_ns);
  floor.text = published_words(named);
  if (named.tracer != traced) {
    add_note("floor_tracer",
             "the published launch-overhead floor is from another tracer than the trace: launch "
             "times include their tracer's cost",
             floor);
  }
  if (!gpu.empty() && !taken_on(named, gpu)) {
    add_note("floor_gpu",
             "the published launch-overhead floor is from another GPU (" + std::string(named.gpu) +
                 ") than the trace (" + gpu +
                 "): derived values may be off by their difference",
             floor);
  }
  return floor;
}

void note_tracers(const FloorFile& file, Tracer traced, LaunchFloor& floor) {
  if (file.head.tracer == CollectorTracer::kHip) {
    add_note(
        "floor_upper_bound",
        "the launch-overhead floor was measured without a tracer (host clock, HIP events), so it "
        "is an upper bound. Launch time above it is a lower bound",
        floor);
  } else if (!same_tracer(file.head.tracer, traced)) {
    add_note("floor_tracer",
             "the launch-overhead floor was measured under " +
                 std::string(tracer_name(file.head.tracer)) + ", the trace taken with " +
                 tracer_words(traced) +
                 ": launch times include their tracer's cost, so what lies between the two is "
                 "partly that",
             floor);
  }
}

}  // namespace

Result<std::optional<LaunchFloor>> floor_of_text(const std::string& text, const Trace* trace) {
  char* end = nullptr;
  const double ns = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0') {
    if (!(ns >= 1 && ns < static_cast<double>(kLargestFloorNs))) {
      return Error{ErrorCode::kInvalidArgument, "--floor: from 1 to under 1e9 nanoseconds", "", -1};
    }
    LaunchFloor floor;
    floor.source = FloorSource::kGiven;
    floor.floor_ns = std::llround(ns);
    floor.text = "given with --floor";
    return std::optional(std::move(floor));
  }
  const Tracer traced = trace != nullptr ? trace->tracer : Tracer::kPyTorchProfiler;
  const PublishedFloor* const named = named_floor(text, traced);
  if (named == nullptr) return std::optional<LaunchFloor>();
  return std::optional(named_one(*named, traced, trace != nullptr ? gpu_of_trace(*trace) : ""));
}

std::string published_platforms() {
  std::string names;
  for (const Tracer tracer : kTracersWithFloors) {
    for (const PublishedFloor& floor : published_floors(tracer)) {
      names += (names.empty() ? "" : ", ") + std::string(floor.platform);
    }
  }
  return names;
}

Result<LaunchFloor> floor_of_file(const FloorFile& file, const Trace* trace) {
  const GpuFloor& lowest = lowest_floor(file);
  const std::string gpu = trace != nullptr ? gpu_of_trace(*trace) : "";
  ASSAY_TRY(check_same_gpu(file.source, lowest.gpu.name, gpu));
  LaunchFloor floor;
  floor.source = FloorSource::kMeasured;
  floor.floor_ns = std::llround(lowest.launch.mean_ns);
  floor.samples = lowest.launch.n;
  floor.tracer = file.head.tracer;
  for (const CallSample& one : lowest.paths) {
    floor.paths.push_back({one.path, std::llround(one.launch.mean_ns), one.launch.n});
  }
  floor.text = "measured on " + lowest.gpu.name + " under " +
               std::string(tracer_name(file.head.tracer)) + ": mean of " +
               std::to_string(lowest.launch.n) + " empty kernels";
  if (file.gpus.size() > 1) {
    floor.text += ", the smallest of " + std::to_string(file.gpus.size()) + " GPUs";
  }
  if (trace == nullptr) {
    add_note("floor_gpu_unchecked",
             "one launch-overhead floor for a whole sweep: assumed to hold for its machines",
             floor);
    return floor;
  }
  if (gpu.empty()) {
    add_note("floor_gpu_unchecked",
             "the trace does not name its GPU: the launch-overhead floor (" + lowest.gpu.name +
                 ") is assumed to be of the same one",
             floor);
  }
  note_tracers(file, trace->tracer, floor);
  return floor;
}

}  // namespace assay
