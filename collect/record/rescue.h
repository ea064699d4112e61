#pragma once

// What `assay record` does for processes that ended without closing their recording: killed,
// crashed, or gone by _exit. It owns the memory that they shared (shared_area.h), and writes down
// what is left in it behind the last whole block of their files.

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

  // session: of this run. Where it cannot be had path() is kNoSharedMemory
  // (settings.h) and problem() says why.
  static SharedMemory make(uint64_t session);

  // For ASSAY_RECORD_SHARED: where processes below this one find it as long as this one lives.
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

  // After the command has ended. One process that is gone:
  struct Rescued {
    std::string file;
    uint32_t pid = 0;
    uint64_t rows = 0;        // written behind those that the file had
    uint64_t unfinished = 0;  // calls and work that had no end
    uint64_t nameless = 0;    // kernels among the rows
    std::string problem;      // why nothing could be written; empty = all was
  };
  std::vector<Rescued> rescue();

 private:
  int fd_ = -1;
  uint64_t session_ = 0;
  std::string path_;
  std::string problem_;
};

}  // namespace assay::record
