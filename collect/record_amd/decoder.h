#pragma once

// Converts rocprofiler-sdk's records to records of the trace file.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/record/trace_file.h"
#include "collect/record_amd/library.h"

namespace assay::record_amd {

using record::TraceFile;

// The meaning of a buffer kind, whose number depends on the library's version.
enum class RecordKind : uint8_t { kHipCall, kHsaCall, kDispatch, kCopy, kScratch };

struct Symbol {
  std::string name;  // mangled
  uint32_t static_bytes = 0;
  uint32_t registers = 0;
};

// Kernels by dispatch number. Any thread adds them when code is loaded, before its first dispatch.
class Symbols {
 public:
  void add(const rocprofiler::KernelSymbol& symbol);
  // Name empty: the library did not report it.
  Symbol find(uint64_t kernel) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Symbol> symbols_;
};

// GPUs by the library's handles, numbered from 0 in its order. Other handles have no number.
using Gpus = std::unordered_map<uint64_t, uint32_t>;

class Decoder {
 public:
  Decoder(TraceFile& file, const Symbols& symbols) : file_(file), symbols_(symbols) {}

  // Before the first record.
  void learn(int kind, RecordKind meaning, const std::vector<Operation>& operations);
  void learn(Gpus gpus) { gpus_ = std::move(gpus); }
  // Stream numbers + 1 are pushed as external ids.
  void expect_streams() { has_streams_ = true; }

  // Decodes consecutive records; the first word of each is its size.
  void decode(const uint8_t* bytes, size_t count);
  bool saw_device_work() const { return saw_device_work_; }

 private:
  struct Kind {
    RecordKind meaning;
    std::unordered_map<int32_t, std::string> names;
    std::unordered_map<int32_t, uint32_t> texts;
  };
  struct Lane {
    uint32_t context;
    uint32_t stream;
  };

  bool add(const uint8_t* record, uint64_t size);
  bool add_call(Kind& kind, const uint8_t* record, uint64_t size);
  bool add_dispatch(const uint8_t* record, uint64_t size);
  bool add_copy(const uint8_t* record, uint64_t size);
  bool add_scratch(Kind& kind, const uint8_t* record, uint64_t size);
  uint32_t name_of(Kind& kind, int32_t operation);
  uint32_t kernel_name(uint64_t kernel, const Symbol& symbol);
  Lane lane_of(uint64_t external, uint32_t device, uint64_t queue);

  TraceFile& file_;
  const Symbols& symbols_;
  std::unordered_map<uint32_t, Kind> kinds_;
  Gpus gpus_;
  bool has_streams_ = false;
  bool saw_device_work_ = false;
  std::unordered_map<uint64_t, uint32_t> kernel_texts_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> queues_;  // by device and handle
  std::map<uint32_t, uint32_t> queues_of_device_;
};

}  // namespace assay::record_amd
