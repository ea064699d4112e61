#pragma once

// Names as CUPTI has them in the process that is recorded, and those that outlive it: a kernel's
// record holds the address of its name, which is worth nothing once the process is gone.

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

// The names of all calls, with their places.
void share_call_names(const cupti::Functions& functions, SharedPlace& place);

class LiveNames : public Names {
 public:
  // All must outlive this.
  LiveNames(const cupti::Functions& functions, TraceFile& file, Area& area)
      : functions_(functions), file_(file), area_(area) {}

  uint32_t of_call(wire::Domain domain, uint32_t function) override;
  uint32_t of_kernel(const char* name) override;

  // Kernels in a buffer that CUPTI is filling, behind the first `looked` bytes: their names go
  // into the file. True: one was new.
  bool look_ahead(const uint8_t* buffer, size_t& looked);
  // The file has all texts: addresses that were new are told to who comes after this process.
  void publish();
  // On any thread: a module is unloaded, and its names may go.
  void forget_addresses();

 private:
  struct Name {
    std::string text;
    uint32_t id = 0;
    uint64_t published = 0;  // in which stretch between two unloadings; 0 = in none
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
  std::mutex mutex_;  // of the shared table's end
  std::atomic<uint64_t> stretch_ = 1;
};

}  // namespace assay::record
