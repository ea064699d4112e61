#pragma once

// Rescues processes that ended without closing their recording: killed, crashed, or ended by _exit.
// `assay record` owns their shared memory (shared_area.h) and appends its data after the last
// complete block of their files.

#include <cstdint>
#include <string>
#include <vector>

namespace assay::record {

class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // session: of this run. On failure path() is kNoSharedMemory (settings.h) and problem() has the
  // reason.
  static SharedMemory make(uint64_t session);

  // For ASSAY_RECORD_SHARED: a path valid for child processes during the lifetime of this object.
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

  // The rescue of one dead process, after the command ended.
  struct Rescued {
    std::string file;
    uint32_t pid = 0;
    uint64_t rows = 0;        // appended to the file
    uint64_t unfinished = 0;  // calls and GPU activities without an end
    uint64_t nameless = 0;    // kernels without a name among the rows
    std::string problem;      // why nothing could be written; empty = success
  };
  std::vector<Rescued> rescue();

 private:
  int fd_ = -1;
  uint64_t session_ = 0;
  std::string path_;
  std::string problem_;
};

}  // namespace assay::record
