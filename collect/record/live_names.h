#pragma once

// Names from CUPTI in the recorded process. A kernel record holds the address of its name, which is
// useless after the process ended, so names are also written to the file and their addresses
// shared.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/record/cupti_abi.h"
#include "collect/record/decoder.h"
#include "collect/record/shared_area.h"
#include "collect/record/trace_file.h"

namespace assay::record {

// Shares the names of all calls.
void share_call_names(const cupti::Functions& functions, SharedPlace& place);

class LiveNames : public Names {
 public:
  // All must outlive this.
  LiveNames(const cupti::Functions& functions, TraceFile& file, Area& area)
      : functions_(functions), file_(file), area_(area) {}

  uint32_t of_call(wire::Domain domain, uint32_t function) override;
  uint32_t of_kernel(const char* name) override;

  // Writes the names of kernels in a buffer that CUPTI is filling, after the first `looked` bytes.
  // Returns true if one was new.
  bool look_ahead(const uint8_t* buffer, size_t& looked);
  // Call once the file has all texts: shares the new addresses.
  void publish();
  // On any thread: a module is unloaded, and its names may be freed.
  void forget_addresses();

 private:
  struct Name {
    std::string text;
    uint32_t id = 0;
    uint64_t published = 0;  // the period between two module unloads; 0 = unpublished
  };
  Name& settle(const char* address, std::string_view text);
  bool read_ahead(const char* address);

  const cupti::Functions& functions_;
  TraceFile& file_;
  Area& area_;
  std::vector<uint32_t> call_names_[2];
  // By address, which CUPTI shares among the records of one kernel.
  std::unordered_map<const char*, Name> kernel_names_;
  std::vector<std::pair<const char*, uint32_t>> fresh_;
  uint64_t fresh_stretch_ = 1;
  bool can_read_ahead_ = true;
  std::mutex mutex_;  // guards the end of the shared table
  std::atomic<uint64_t> stretch_ = 1;
};

}  // namespace assay::record
