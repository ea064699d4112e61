#pragma once

// Cache of measured replays (spec/overhead 4.2): one small replay file per kernel in the user's
// cache folder.

#include <optional>
#include <string>

#include "base/result.h"
#include "records/replay.h"

namespace assay {

class ReplayCache {
 public:
  // identity: GPU, driver, framework, tracer, runs and caller. Entries with another identity never
  // match. If there is no cache folder or `enabled` is false, nothing is found or stored.
  ReplayCache(const ReplayFile& identity, bool enabled);

  // The entry stored under the request's key; nullopt if there is none.
  std::optional<ReplayEntry> find(const ReplayRequest& request) const;
  // Stores an entry with status kOk. A failure to store it is not an error, because the replay
  // itself succeeded.
  void keep(const ReplayRequest& request, const ReplayEntry& entry) const;

 private:
  std::string path_of(const ReplayRequest& request) const;

  std::string folder_;  // empty = off
  ReplayFile identity_;
};

}  // namespace assay
