#pragma once

// Who reads which trace, where several processes share the work without talking to each other.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

struct Shard {
  uint32_t number = 0;  // from 0
  uint32_t of = 1;
};

struct PlannedFile {
  uint64_t bytes = 0;  // as stored
  std::string path;
};

// The files of one shard, largest first. Files are handed out longest first (of equals by path),
// each to the shard with least so far (of equals the lowest): every shard that knows the same files
// makes the same plan, in whatever order it knows them.
std::vector<PlannedFile> files_of_shard(std::vector<PlannedFile> files, Shard shard);

// "3/16": shard 3 of 0 to 15. Errors: kInvalidArgument.
Result<Shard> parse_shard(const std::string& text);

// What an array job, a step or an indexed job says of this process. `value`: of an environment
// variable, nothing where it is not set. Never 0/1 where nothing is told: that is an error.
using LauncherVariables = std::function<std::optional<std::string>(const char* name)>;
// A number among them; nothing where it is not set or none.
std::optional<uint64_t> number_in(const LauncherVariables& value, const char* name);
Result<Shard> shard_of_environment(const LauncherVariables& value);

}  // namespace assay
