#pragma once

// Logs of the communication library when a job hangs. Warnings of NCCL_DEBUG=INFO or WARN are read,
// and the last collective of each rank in lines of NCCL Inspector.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct CommLogLine {
  std::optional<int64_t> rank;  // in the whole job, where it is known
  bool inspector = false;
  std::string text;
};

// Files that are not such logs are passed over. There are at most 64 lines of a kind. A rank of a
// communicator is a rank of the job where it has as many ranks (`world`).
std::vector<CommLogLine> read_comm_logs(const std::vector<std::string>& files, size_t world);

}  // namespace assay
