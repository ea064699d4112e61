#pragma once

// From CUPTI's activity records to those of the trace file.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/record/cupti_abi.h"
#include "collect/record/trace_file.h"

namespace assay::record {

class Decoder {
 public:
  // own_thread: its calls are the recorder's and not the program's.
  Decoder(TraceFile& file, const cupti::Functions& functions, uint32_t own_thread)
      : file_(file), functions_(functions), own_thread_(own_thread) {}

  void decode(uint8_t* buffer, size_t valid);

  bool saw_device_work() const { return saw_device_work_; }
  bool saw_anything() const { return saw_anything_; }
  // Tracer time at which the latest call of the recorder's own thread started; 0 = none was seen.
  uint64_t last_own_call() const { return last_own_call_; }

 private:
  void add(const void* record);
  void add_call(const cupti::Api& from, wire::Domain domain);
  void add_kernel(const cupti::Kernel& from);
  void add_copy(const cupti::Memcpy& from);
  void add_peer_copy(const cupti::MemcpyPeer& from);
  void add_fill(const cupti::Memset& from);
  void add_rest(const void* record, uint32_t kind);
  uint32_t function_name(wire::Domain domain, uint32_t function);
  uint32_t kernel_name(const char* name);

  struct Name {
    std::string text;
    uint32_t id = 0;
  };

  TraceFile& file_;
  const cupti::Functions& functions_;
  const uint32_t own_thread_;
  bool saw_device_work_ = false;
  bool saw_anything_ = false;
  uint64_t last_own_call_ = 0;
  std::vector<uint32_t> function_names_[2];
  // By address, which CUPTI shares among the records of one kernel.
  std::unordered_map<const char*, Name> kernel_names_;
};

}  // namespace assay::record
