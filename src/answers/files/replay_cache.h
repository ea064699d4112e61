#pragma once

// Replays that were measured before, by what was replayed and on what (spec/overhead 4.2): one
// small replay file per kernel in the user's cache folder.

#include <optional>
#include <string>

#include "base/result.h"
#include "records/replay.h"

namespace assay {

class ReplayCache {
 public:
  // identity: GPU, driver, framework, tracer, runs and what called; entries of another never match.
  // If there is no cache folder, or the cache is off, nothing is found or stored.
  ReplayCache(const ReplayFile& identity, bool enabled);

  // The entry under the request's key.
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
