#include "floor/floor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "floor/estimate.h"
#include "floor/published.h"

namespace assay {
namespace {

// Below so many the 5th percentile is their smallest value, whatever it is.
constexpr uint64_t kFewFloorSamples = 20;
// How far a floor of another run may lie from what the trace itself shows before it is told.
constexpr double kFloorSpread = 0.25;
constexpr const char* kRestOnFloor = "floor_ns,queue_share,kt_fw_ns,t_orch_literal_ns";

// The one published floor of all boards that ran kernels; nullptr when a board was not measured or
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

// A floor of another run beside this trace's own launches.
void compare_with_trace(const FloorEstimate& own, const LaunchFloor& floor, NoteList& notes) {
  if (floor.source == FloorSource::kEstimated || !floor.known() || !own.floor_ns) return;
  const double ratio = static_cast<double>(*own.floor_ns) / static_cast<double>(floor.floor_ns);
  if (std::abs(ratio - 1) <= kFloorSpread) return;
  notes.add(
      "floor_disagrees", own.samples, 0, kRestOnFloor,
      "launches to an empty stream took " + one_decimal(ratio) +
          " times the floor in this trace: the floor is of another host or another version "
          "of the tracer. " +
          (ratio > 1 ? "What lies between counts as queueing (queue_share) and as time of "
                       "the launch path (kt_fw_ns)"
                     : "the papers' literal T_Orch is too large by what lies between, per launch") +
          "; give one with --floor");
}

void add_floor_notes(const FloorEstimate& own, LaunchFloor& floor) {
  NoteList notes;
  if (!floor.known()) {
    notes.add("no_floor", own.launches, 0, kRestOnFloor,
              "the launch floor is " + floor.text +
                  ": what part of launch time is queueing cannot be told, and the papers' literal "
                  "T_Orch lacks it for every launch; give one (--floor)");
  }
  if (floor.source == FloorSource::kEstimated && floor.samples < kFewFloorSamples) {
    notes.add("floor_samples", floor.samples, 0, kRestOnFloor,
              "the launch floor is the 5th percentile of very few launches to an empty stream: "
              "give --floor, or take what rests on it for a rough number");
  }
  compare_with_trace(own, floor, notes);
  for (TrustNote& note : notes.take()) floor.trust.push_back(std::move(note));
}

Status check_range(const LaunchFloor& floor) {
  if (!floor.known() || (floor.floor_ns >= 1 && floor.floor_ns <= kLargestFloorNs)) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "the launch floor must be from 1 nanosecond to a second; leave it out to take the "
               "published one of this board or the trace's own",
               "", -1};
}

LaunchFloor of_boards(const PublishedFloor& board) {
  LaunchFloor floor;
  floor.source = FloorSource::kPublished;
  floor.floor_ns = std::llround(board.launch_ns);
  floor.text = published_words(board) + "; same board, not the same host";
  return floor;
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
