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

// Returns the value of an environment variable, if set.
using LauncherVariables = std::function<std::optional<std::string>(const char* name)>;
// The variable as a number; nullopt if it is not set or not a number.
std::optional<uint64_t> number_in(const LauncherVariables& value, const char* name);
// The shard of this process, from the variables of an array job, a job step or an indexed job.
// Fails if there are none; it never falls back to 0/1.
Result<Shard> shard_of_environment(const LauncherVariables& value);

}  // namespace assay
