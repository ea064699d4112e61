#pragma once

// Assignment of traces to several processes that do not communicate.

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

// The files of one shard, largest first. Files are assigned longest first (ties by path), each to
// the shard with the least so far (ties to the lowest). Every shard with the same files makes the
// same plan, in any order of the files.
std::vector<PlannedFile> files_of_shard(std::vector<PlannedFile> files, Shard shard);

// "3/16": shard 3 of 0 to 15. Errors: kInvalidArgument.
Result<Shard> parse_shard(const std::string& text);

// The part of this process, from the environment of an array job, a step or an indexed job.
// `value`: of an environment variable, if set. Never 0/1 if the environment has no part: that is an
// error.
using LauncherVariables = std::function<std::optional<std::string>(const char* name)>;
// A number among them; nothing where it is not set or none.
std::optional<uint64_t> number_in(const LauncherVariables& value, const char* name);
Result<Shard> shard_of_environment(const LauncherVariables& value);

}  // namespace assay
