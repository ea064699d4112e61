#include "answers/inputs/floor.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "ingest/replay/file.h"
#include "launch/floors.h"
#include "tax/measured.h"
#include "trace/links.h"

namespace assay {
namespace {

constexpr Tracer kTracersWithFloors[] = {Tracer::kPyTorchProfiler, Tracer::kNsightSystems};

// The trace's own tracer first: a floor of another one is not the same quantity. But a platform
// named in full is meant: DGX-H100 is not any H100.
const PublishedFloor* published_floor(const std::string& text, Tracer traced) {
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

std::string published_names() {
  std::string known;
  for (const Tracer tracer : kTracersWithFloors) {
    for (const PublishedFloor& floor : published_floors(tracer)) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", floor.platform);
    }
  }
  return known;
}

Result<FloorChoice> floor_of_file(const std::string& path, const Trace* trace) {
  ASSAY_TRY_ASSIGN(const FloorFile file, read_floor_file(path));
  const std::string gpu = trace != nullptr ? gpu_of_trace(*trace) : "";
  ASSAY_TRY_ASSIGN(const TaxFloor floor, floor_from_file(file, gpu));
  FloorChoice choice{.floor_ns = static_cast<double>(floor.floor_ns),
                     .source = floor.text,
                     .kind = TaxSource::kMeasured,
                     .samples = floor.samples,
                     .tracer = file.head.tracer};
  if (trace != nullptr) {
    choice.notes = floor_trust(file, gpu, trace->tracer);
  } else {
    choice.notes.push_back({"floor_gpu_unchecked", 1, 0, "floor",
                            "one floor for a whole sweep: that it is of the machines in it is "
                            "taken on trust"});
  }
  return choice;
}

}  // namespace

Result<FloorChoice> parse_floor(const std::string& text, const Trace* trace) {
  if (text.empty()) return FloorChoice{};
  char* end = nullptr;
  const double ns = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0') {
    if (ns >= 1 && ns < 1e9) {
      return FloorChoice{.floor_ns = ns, .source = "given with --floor", .kind = TaxSource::kUser};
    }
    return Error{ErrorCode::kInvalidArgument, "--floor: from 1 to under 1e9 nanoseconds", "", -1};
  }
  if (std::filesystem::is_regular_file(text)) return floor_of_file(text, trace);
  const Tracer traced = trace != nullptr ? trace->tracer : Tracer::kPyTorchProfiler;
  if (const PublishedFloor* floor = published_floor(text, traced)) {
    FloorChoice choice{.floor_ns = floor->launch_ns, .kind = TaxSource::kTable};
    choice.source = fmt::format("published for {}: {}", floor->platform, floor->source);
    if (floor->tracer != traced) {
      choice.notes.push_back({"floor_tracer", 1, 0, "floor",
                              "the published floor was taken with another tracer than the trace: "
                              "launch times include their tracer's cost"});
    }
    const std::string gpu = trace != nullptr ? gpu_of_trace(*trace) : "";
    if (!gpu.empty() && !taken_on(*floor, gpu)) {
      choice.notes.push_back({"floor_gpu", 1, 0, "floor",
                              fmt::format("the published floor was taken on another GPU ({}) than "
                                          "the trace ({}): what rests on the floor may be off by "
                                          "their difference",
                                          floor->gpu, gpu)});
    }
    return choice;
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("--floor {}: neither nanoseconds, nor a floor file, nor a published "
                           "platform ({})",
                           text, published_names()),
               "", -1};
}

std::optional<TaxFloor> tax_floor(const FloorChoice& choice) {
  if (!choice.floor_ns) return std::nullopt;
  TaxFloor floor;
  floor.source = choice.kind;
  floor.floor_ns = std::llround(*choice.floor_ns);
  floor.text = choice.source;
  floor.samples = choice.samples;
  return floor;
}

FusionOptions with_floor(FusionOptions options, const FloorChoice& floor) {
  options.floor_ns = floor.floor_ns;
  options.floor_source = floor.source;
  return options;
}

}  // namespace assay
