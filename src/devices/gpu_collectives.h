#pragma once

// All-reduce and all-gather over every GPU that the driver shows, by NCCL or RCCL opened at run
// time, all from one process and thread. RCCL has NCCL's functions under the same names (nccl.h of
// NCCL 2.10 and later, rccl.h of ROCm 5 and later).

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "devices/gpu_memory.h"
#include "devices/gpu_runtime.h"
#include "devices/workload.h"

namespace assay {

struct CollectiveLibraries {
  std::vector<std::string> collectives;  // of NCCL or RCCL
  std::vector<std::string> driver;       // driver libraries, to open the other GPUs
  std::string missing;                   // error text if NCCL or RCCL is not installed
  std::string helpers;                   // image, as load_helpers takes it
};

struct CollectiveApi {
  int (*init_all)(void** communicators, int count, const int* ordinals);
  int (*destroy)(void* communicator);
  int (*group_start)();
  int (*group_end)();
  int (*all_reduce)(const void* from, void* to, size_t count, int type, int operation,
                    void* communicator, void* stream);
  int (*all_gather)(const void* from, void* to, size_t each, int type, void* communicator,
                    void* stream);
  const char* (*error_text)(int code);
};

class GpuCollectives {
 public:
  // Fails with a single GPU, because nothing would move over a link. `measured` is rank 0, must
  // outlive the result, and is the current GPU before and after every call.
  static Result<std::unique_ptr<GpuCollectives>> open(GpuVendor vendor, const GpuRuntime& measured,
                                                      const CollectiveLibraries& libraries);
  ~GpuCollectives();
  GpuCollectives(const GpuCollectives&) = delete;
  GpuCollectives& operator=(const GpuCollectives&) = delete;

  size_t ranks() const { return ranks_.size(); }
  // Allocates buffers on every GPU. Returns the index for enqueue() and bytes().
  Result<size_t> prepare(const Workload& work);
  // Enqueues the collective on every GPU's stream.
  Status enqueue(size_t prepared);
  // Waits for every GPU but the measured one.
  Status synchronize() const;
  // Minimum bytes moved in the measured GPU's own memory, per execution.
  double bytes(size_t prepared) const;

 private:
  struct Rank {
    const GpuRuntime* runtime = nullptr;
    GpuHelpers helpers;
    void* communicator = nullptr;
  };
  struct Prepared {
    Workload work;
    size_t from_bytes = 0;                      // on each
    std::vector<std::array<void*, 2>> buffers;  // per rank: from, to
  };

  explicit GpuCollectives(const GpuRuntime& measured) : measured_(measured) {}
  Status check(int code, const char* doing) const;
  Status open_peers(GpuVendor vendor, const CollectiveLibraries& libraries, int count);
  Status make_buffers(Prepared& one);
  Status enqueue_on(const Rank& rank, const Prepared& one, const std::array<void*, 2>& buffers);

  const GpuRuntime& measured_;
  CollectiveApi api_ = {};
  std::vector<std::unique_ptr<GpuRuntime>> peers_;
  std::vector<Rank> ranks_;
  std::vector<Prepared> prepared_;
};

}  // namespace assay
