#include "ingest/replay/floor.h"

#include <utility>

#include "base/files.h"
#include "floor/given.h"
#include "ingest/replay/file.h"

namespace assay {

Result<std::optional<LaunchFloor>> given_floor(const std::string& text, const Trace* trace) {
  if (text.empty()) return std::optional<LaunchFloor>();
  ASSAY_TRY_ASSIGN(std::optional<LaunchFloor> floor, floor_of_text(text, trace));
  if (floor && floor->source == FloorSource::kGiven) return floor;
  // A file takes precedence over a platform of the same name.
  if (is_regular_file(text)) {
    ASSAY_TRY_ASSIGN(const FloorFile file, read_floor_file(text));
    ASSAY_TRY_ASSIGN(LaunchFloor measured, floor_of_file(file, trace));
    return std::optional(std::move(measured));
  }
  if (floor) return floor;
  return Error{ErrorCode::kInvalidArgument,
               "--floor " + text +
                   ": neither nanoseconds, nor a file of assay null-kernel, nor a published " +
                   "platform (" + published_platforms() + ")",
               "", -1};
}

Result<LaunchFloor> floor_asked(const std::string& text, const Trace& trace, const Links& links) {
  ASSAY_TRY_ASSIGN(const std::optional<LaunchFloor> given, given_floor(text, &trace));
  return find_floor(trace, links, given);
}

}  // namespace assay
