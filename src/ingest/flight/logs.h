#pragma once

// Reads logs of the communication library, to diagnose a job that hangs: warnings in logs with
// NCCL_DEBUG=INFO or WARN, and the last collective of each rank from NCCL Inspector.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct CommLogLine {
  std::optional<int64_t> rank;  // global rank, if known
  bool inspector = false;
  std::string text;
};

// Skips files that are not such logs. Returns at most 64 lines of each kind. The rank in a
// communicator is the global rank if the communicator has `world` ranks.
std::vector<CommLogLine> read_comm_logs(const std::vector<std::string>& files, size_t world);

}  // namespace assay
