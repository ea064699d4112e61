#include "floor/floor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "floor/estimate.h"
#include "floor/published.h"

namespace assay {
namespace {

// With fewer samples, the 5th percentile is determined by the smallest value alone.
constexpr uint64_t kFewFloorSamples = 20;
// Deviation of another run's value from the trace's own estimate above which it is reported.
constexpr double kFloorSpread = 0.25;
constexpr const char* kRestOnFloor = "floor_ns,queue_share,kt_fw_ns,t_orch_literal_ns";

// The common published value of all boards that ran kernels; nullptr if a board was not measured or
// boards differ.
const PublishedFloor* floor_of_boards(const Trace& trace) {
  std::set<int64_t> used;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (trace.activities.kind[a] != ActivityKind::kKernel) continue;
    used.insert(trace.streams[trace.activities.stream[a].index()].device);
  }
  std::set<const PublishedFloor*> floors;
  for (const int64_t device : used) {
    const auto named =
        std::find_if(trace.devices.begin(), trace.devices.end(),
                     [&](const DeviceProperties& properties) { return properties.id == device; });
    const bool known = named != trace.devices.end();
    floors.insert(known ? floor_of_board(named->name, trace.tracer) : nullptr);
  }
  return floors.size() == 1 ? *floors.begin() : nullptr;
}

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

// Compares a value from another run with this trace's own launches.
void compare_with_trace(const FloorEstimate& own, const LaunchFloor& floor, NoteList& notes) {
  if (floor.source == FloorSource::kEstimated || !floor.known() || !own.floor_ns) return;
  const double ratio = static_cast<double>(*own.floor_ns) / static_cast<double>(floor.floor_ns);
  if (std::abs(ratio - 1) <= kFloorSpread) return;
  notes.add(
      "floor_disagrees", own.samples, 0, kRestOnFloor,
      "launches to an empty stream took " + one_decimal(ratio) +
          " times the launch-overhead floor in this trace: its value is from another host or "
          "tracer version. " +
          (ratio > 1 ? "The difference counts as queueing (queue_share) and as time of the launch "
                       "path (kt_fw_ns)"
                     : "the papers' literal T_Orch is too large by what lies between, per launch") +
          "; give one with --floor");
}

void add_floor_notes(const FloorEstimate& own, LaunchFloor& floor) {
  NoteList notes;
  if (!floor.known()) {
    notes.add("no_floor", own.launches, 0, kRestOnFloor,
              "the launch-overhead floor is " + floor.text +
                  ": the queueing part of launch time is unknown, and T_Orch as printed in the "
                  "paper lacks it for every launch; give one (--floor)");
  }
  if (floor.source == FloorSource::kEstimated && floor.samples < kFewFloorSamples) {
    notes.add("floor_samples", floor.samples, 0, kRestOnFloor,
              "the launch-overhead floor is the 5th percentile of very few launches to an empty "
              "stream: give --floor, or treat derived values as rough");
  }
  compare_with_trace(own, floor, notes);
  for (TrustNote& note : notes.take()) floor.trust.push_back(std::move(note));
}

Status check_range(const LaunchFloor& floor) {
  if (!floor.known() || (floor.floor_ns >= 1 && floor.floor_ns <= kLargestFloorNs)) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "the launch-overhead floor must be from 1 nanosecond to a second. By default, the "
               "board's published floor or the trace's own is used",
               "", -1};
}

LaunchFloor of_boards(const PublishedFloor& board) {
  LaunchFloor floor;
  floor.source = FloorSource::kPublished;
  floor.floor_ns = std::llround(board.launch_ns);
  floor.text = published_words(board) + "; same board, not the same host";
  return floor;
}

// Kernels by the call that launched them; graphs have neither.
struct LaunchCounts {
  uint64_t runtime = 0;
  uint64_t driver = 0;
};

LaunchCounts count_launches(const Trace& trace, const Links& links) {
  LaunchCounts counts;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    const ApiCallId call = links.activity_call[a];
    if (trace.activities.kind[a] != ActivityKind::kKernel || !call) continue;
    if (links.role_of(trace, call) != ApiRole::kKernelLaunch) continue;
    const bool driver = trace.api_calls.kind[call.index()] == ApiKind::kDriver;
    ++(driver ? counts.driver : counts.runtime);
  }
  return counts;
}

// Share of launches by the other call below which no caveat is needed.
constexpr double kFewOtherLaunches = 0.1;

// Selects the floor of the launch call with most kernels: the two calls differ.
void choose_path(const Trace& trace, const Links& links, LaunchFloor& floor) {
  const LaunchCounts counts = count_launches(trace, links);
  const uint64_t all = counts.runtime + counts.driver;
  if (floor.paths.empty() || all == 0) return;
  const bool by_driver = counts.driver > counts.runtime;
  const LaunchPath wanted = by_driver ? LaunchPath::kDriver : LaunchPath::kRuntime;
  const uint64_t others = by_driver ? counts.runtime : counts.driver;
  const std::string name(launch_path_name(wanted));
  const auto found = std::find_if(floor.paths.begin(), floor.paths.end(),
                                  [wanted](const FloorOfPath& one) { return one.path == wanted; });
  NoteList notes;
  if (found == floor.paths.end()) {
    notes.add("floor_path", all - others, 0, kRestOnFloor,
              "the launch-overhead floor was measured by " +
                  std::string(launch_path_name(floor.paths.front().path)) +
                  ", and most kernels here are launched by " + name +
                  ": the time between the two calls counts as queueing or is missing");
  } else {
    floor.floor_ns = found->floor_ns;
    floor.samples = found->samples;
    floor.text += ", launched by " + name + " as " + std::to_string(all - others) + " of " +
                  std::to_string(all) + " kernels here";
    const auto other = std::find_if(floor.paths.begin(), floor.paths.end(),
                                    [&](const FloorOfPath& one) { return one.path != wanted; });
    const bool many = static_cast<double>(others) > kFewOtherLaunches * static_cast<double>(all);
    if (many && other != floor.paths.end()) {
      notes.add("floor_path", others, 0, kRestOnFloor,
                "kernels launched by " + std::string(launch_path_name(other->path)) +
                    ", with a launch-overhead floor of " + std::to_string(other->floor_ns) +
                    " ns, count with " + std::to_string(found->floor_ns) + " ns of " + name);
    }
  }
  for (TrustNote& note : notes.take()) floor.trust.push_back(std::move(note));
}

LaunchFloor estimated(const FloorEstimate& own) {
  LaunchFloor floor;
  floor.text = own.text;
  floor.samples = own.samples;
  if (!own.floor_ns) return floor;
  floor.source = FloorSource::kEstimated;
  floor.floor_ns = *own.floor_ns;
  return floor;
}

}  // namespace

std::string_view floor_source_name(FloorSource source) {
  switch (source) {
    case FloorSource::kNone:
      return "none";
    case FloorSource::kGiven:
      return "given";
    case FloorSource::kMeasured:
      return "measured";
    case FloorSource::kPublished:
      return "published";
    case FloorSource::kEstimated:
      return "estimated";
  }
  return "";
}

Result<LaunchFloor> find_floor(const Trace& trace, const Links& links,
                               const std::optional<LaunchFloor>& given) {
  if (given) ASSAY_TRY(check_range(*given));
  const FloorEstimate own = estimate_floor(trace, links);
  const PublishedFloor* const board = floor_of_boards(trace);
  LaunchFloor floor = given ? *given : board != nullptr ? of_boards(*board) : estimated(own);
  choose_path(trace, links, floor);
  add_floor_notes(own, floor);
  return floor;
}

Result<LaunchFloor> floor_or_found(const std::optional<LaunchFloor>& found, const Trace& trace,
                                   const Links& links) {
  if (!found) return find_floor(trace, links);
  ASSAY_TRY(check_range(*found));
  return *found;
}

}  // namespace assay
