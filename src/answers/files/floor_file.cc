#include "answers/files/floor_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "base/files.h"
#include "base/json_string.h"

namespace assay {
namespace {

std::string sample_json(const char* name, const SampleStats& sample) {
  return fmt::format(
      R"("{}": {{"n": {}, "mean_ns": {:.1f}, "std_ns": {:.1f}, "min_ns": {:.1f}, "p5_ns": {:.1f}, )"
      R"("p50_ns": {:.1f}, "p95_ns": {:.1f}, "max_ns": {:.1f}}})",
      name, sample.n, sample.mean_ns, sample.std_ns, sample.min_ns, sample.p5_ns, sample.p50_ns,
      sample.p95_ns, sample.max_ns);
}

std::string optional_text(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format(R"("{}": {}, )", name, json_string(text));
}

std::string path_json(const CallSample& floor) {
  std::string clocks;
  if (floor.sm_mhz_before > 0 && floor.sm_mhz_after > 0) {
    clocks = fmt::format(R"("sm_mhz_before": {}, "sm_mhz_after": {}, )", floor.sm_mhz_before,
                         floor.sm_mhz_after);
  }
  return fmt::format(R"({{"path": "{}", {})", launch_path_name(floor.path), clocks) + "\n     " +
         sample_json("launch", floor.launch) + ",\n     " +
         sample_json("duration", floor.duration) + "}";
}

std::string paths_json(const GpuFloor& floor) {
  std::string all;
  for (const CallSample& one : floor.paths) all += (all.empty() ? "" : ",\n    ") + path_json(one);
  return all.empty() ? "" : ",\n   \"paths\": [" + all + "]";
}

std::string gpu_json(const MeasuredFloor& measured) {
  constexpr const char* kNext = ",\n   ";
  const GpuIdentity& gpu = measured.floor.gpu;
  std::string text = fmt::format(R"({{"name": {}, )", json_string(gpu.name)) +
                     optional_text("uuid", gpu.uuid) +
                     optional_text("architecture", measured.architecture) +
                     optional_text("path", std::string(launch_path_name(measured.floor.path))) +
                     "\n   " + sample_json("launch", measured.floor.launch) + kNext +
                     sample_json("duration", measured.floor.duration);
  if (measured.call) text += kNext + sample_json("call", *measured.call);
  if (measured.round_trip) text += kNext + sample_json("round_trip", *measured.round_trip);
  return text + paths_json(measured.floor) + "}";
}

// Measured series of one GPU, by line name.
struct HipGpu {
  MeasuredFloor measured;
  std::map<std::string, std::vector<int64_t>> series;
};

Result<MeasuredFloor> summarised(HipGpu gpu, const std::string& path) {
  for (const char* name : {"launch", "duration", "call", "round_trip"}) {
    if (!gpu.series[name].empty()) continue;
    return Error{ErrorCode::kFormat, std::string("has no time of ") + name, path, -1};
  }
  MeasuredFloor measured = std::move(gpu.measured);
  measured.floor.launch = sample_stats(gpu.series["launch"]);
  measured.floor.duration = sample_stats(gpu.series["duration"]);
  measured.call = sample_stats(gpu.series["call"]);
  measured.round_trip = sample_stats(gpu.series["round_trip"]);
  return measured;
}

}  // namespace

Result<std::string> floor_file_json(const MeasurementHead& head,
                                    const std::vector<MeasuredFloor>& floors) {
  if (floors.empty())
    return Error{ErrorCode::kInternal, "no launch-overhead floor was measured", "", -1};
  std::string gpus;
  const std::string& first = floors.front().floor.gpu.name;
  for (const MeasuredFloor& measured : floors) {
    const std::string& name = measured.floor.gpu.name;
    if (name != first) {
      return Error{
          ErrorCode::kInvalidArgument,
          "the GPUs are of two kinds, " + first + " and " + name +
              ": a launch-overhead floor has one kind; measure them one by one with --device",
          "", -1};
    }
    gpus += (gpus.empty() ? "\n  " : ",\n  ") + gpu_json(measured);
  }
  return fmt::format(
      "{{\"kind\": \"assay-floor\", \"schema_version\": 1, \"tracer\": \"{}\", {}"
      "\"warmups\": {}, \"runs\": {},\n \"gpus\": [{}]}}\n",
      tracer_name(head.tracer), optional_text("driver", head.driver), head.warmups, head.runs,
      gpus);
}

Result<HipFloors> read_hip_floors(const std::string& path) {
  ASSAY_TRY_ASSIGN(std::string all_lines, file_text(path));
  std::istringstream file(std::move(all_lines));
  HipFloors all;
  std::vector<HipGpu> gpus;
  for (std::string line; std::getline(file, line);) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, space);
    const std::string text = space < line.size() ? line.substr(space + 1) : "";
    if (name == "runtime") {
      all.runtime_version = std::atoi(text.c_str());
    } else if (name == "gpu") {
      gpus.emplace_back().measured.floor.gpu.name = text;
    } else if (gpus.empty()) {
      return Error{ErrorCode::kFormat, "has a time before a GPU", path, -1};
    } else if (name == "architecture") {
      gpus.back().measured.architecture = text;
    } else if (name == "uuid") {
      gpus.back().measured.floor.gpu.uuid = text;
    } else if (name != "bus") {
      gpus.back().series[name].push_back(std::atoll(text.c_str()));
    }
  }
  for (HipGpu& gpu : gpus) {
    ASSAY_TRY_ASSIGN(MeasuredFloor measured, summarised(std::move(gpu), path));
    all.floors.push_back(std::move(measured));
  }
  return all;
}

Result<std::vector<CudaClocks>> read_cuda_clocks(const std::string& path) {
  ASSAY_TRY_ASSIGN(std::string all_lines, file_text(path));
  std::istringstream lines(std::move(all_lines));
  std::vector<CudaClocks> all;
  int64_t device = 0;
  for (std::string word; lines >> word;) {
    if (word == "gpu") {
      lines >> device;
    } else if (word == "clock") {
      CudaClocks clocks;
      clocks.device = device;
      std::string call;
      lines >> call >> clocks.sm_mhz_before >> clocks.sm_mhz_after;
      clocks.path = launch_path_of(call);
      if (lines) all.push_back(clocks);
    }
  }
  return all;
}

}  // namespace assay
