#include "job/plan.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "base/decimal.h"

namespace assay {
namespace {

constexpr uint32_t kMostShards = 1u << 20;

Error no_shard(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

std::optional<Shard> shard_in(const LauncherVariables& value, const char* number, const char* of) {
  const auto n = number_in(value, number);
  const auto all = number_in(value, of);
  if (!n || !all || *all == 0 || *all > kMostShards || *n >= *all) return std::nullopt;
  return Shard{static_cast<uint32_t>(*n), static_cast<uint32_t>(*all)};
}

// Slurm array indices may start at any number and have any step.
std::optional<Shard> shard_of_array(const LauncherVariables& value) {
  const auto id = number_in(value, "SLURM_ARRAY_TASK_ID");
  const auto count = number_in(value, "SLURM_ARRAY_TASK_COUNT");
  if (!id || !count || *count == 0 || *count > kMostShards) return std::nullopt;
  const uint64_t first = number_in(value, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const uint64_t step =
      std::max<uint64_t>(number_in(value, "SLURM_ARRAY_TASK_STEP").value_or(1), 1);
  if (*id < first || (*id - first) % step != 0 || (*id - first) / step >= *count) {
    return std::nullopt;
  }
  return Shard{static_cast<uint32_t>((*id - first) / step), static_cast<uint32_t>(*count)};
}

}  // namespace

std::optional<uint64_t> number_in(const LauncherVariables& value, const char* name) {
  const std::optional<std::string> text = value(name);
  uint64_t number = 0;
  if (!text || !parse_uint64(*text, number)) return std::nullopt;
  return number;
}

std::vector<PlannedFile> files_of_shard(std::vector<PlannedFile> files, Shard shard) {
  std::sort(files.begin(), files.end(), [](const PlannedFile& a, const PlannedFile& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.path < b.path;
  });
  if (shard.of <= 1) return files;
  using Load = std::pair<uint64_t, uint32_t>;  // bytes so far, shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (uint32_t n = 0; n < shard.of; ++n) loads.emplace(0, n);
  std::vector<PlannedFile> own;
  for (PlannedFile& file : files) {
    const auto [bytes, number] = loads.top();
    loads.pop();
    // An empty file costs an open, so it counts as 1 byte.
    loads.emplace(bytes + std::max<uint64_t>(file.bytes, 1), number);
    if (number == shard.number) own.push_back(std::move(file));
  }
  return own;
}

Result<Shard> parse_shard(const std::string& text) {
  const size_t slash = text.find('/');
  uint64_t number = 0;
  uint64_t of = 0;
  const bool read = slash != std::string::npos && parse_uint64(text.substr(0, slash), number) &&
                    parse_uint64(text.substr(slash + 1), of);
  if (!read || of == 0 || of > kMostShards || number >= of) {
    return no_shard("--shard " + text + ": write it as I/N, I from 0 to N - 1, or auto");
  }
  return Shard{static_cast<uint32_t>(number), static_cast<uint32_t>(of)};
}

Result<Shard> shard_of_environment(const LauncherVariables& value) {
  if (const auto shard = shard_of_array(value)) return *shard;
  constexpr std::pair<const char*, const char*> kTold[] = {
      {"SLURM_PROCID", "SLURM_NTASKS"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"JOB_COMPLETION_INDEX", "ASSAY_SHARDS"}};
  for (const auto& [number, of] : kTold) {
    if (const auto shard = shard_in(value, number, of)) return *shard;
  }
  return no_shard(
      "--shard auto: no job launcher variable shows the part of this process (Slurm, Open MPI, "
      "PMI, Kubernetes with ASSAY_SHARDS); give I/N");
}

}  // namespace assay
