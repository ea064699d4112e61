#pragma once

// What logs of the communication library say when a job hangs: warnings of NCCL_DEBUG=INFO or WARN,
// and the last collective of each rank in lines of NCCL Inspector.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct CommLogLine {
  std::optional<int64_t> rank;  // in the whole job, where the log tells
  bool inspector = false;
  std::string text;
};

// Of the files those that are such logs; the others are passed over. At most 64 lines of a kind. A
// rank of a communicator is a rank of the job where it has as many ranks (`world`).
std::vector<CommLogLine> read_comm_logs(const std::vector<std::string>& files, size_t world);

}  // namespace assay
