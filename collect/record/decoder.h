#pragma once

// Converts CUPTI's activity records to records of the trace file. Runs in the recorded process and,
// after its death, in `assay record`, which has the buffers but not CUPTI.

#include <array>
#include <atomic>
#include <cstdint>

#include "collect/record/cupti_abi.h"
#include "collect/record/progress.h"
#include "collect/record/shared_area.h"
#include "collect/record/trace_file.h"

namespace assay::record {

// Names that CUPTI's records refer to, as string ids of the file.
class Names {
 public:
  virtual ~Names() = default;
  virtual uint32_t of_call(wire::Domain domain, uint32_t function) = 0;
  // name: the address in the recorded process, as the record has it. kNoString: unknown.
  virtual uint32_t of_kernel(const char* name) = 0;
};

// By CUPTI's kind of record; 0 = unknown.
using RecordBytes = std::array<std::atomic<uint16_t>, SharedPlace::kKinds>;
// Measures the record lengths of the recorded kinds, with CUPTI and a synthetic buffer.
void learn_record_bytes(const cupti::Functions& functions, RecordBytes& bytes);

// Walks the records of a buffer without CUPTI, possibly while CUPTI writes it. next() returns
// nullptr after the last record or at a kind of unknown length (is_lost).
class RecordWalk {
 public:
  RecordWalk(const RecordBytes& bytes, const uint8_t* buffer, size_t size, size_t from = 0)
      : bytes_(bytes), buffer_(buffer), size_(size), at_(from) {}
  const uint8_t* next();
  bool is_lost() const { return lost_; }
  size_t at() const { return at_; }  // the offset after the record from next()

 private:
  const RecordBytes& bytes_;
  const uint8_t* buffer_;
  size_t size_;
  size_t at_;
  bool lost_ = false;
};

// True if times and all other mandatory fields are set.
bool is_whole(const void* record);
// The kernel name of a record, read while CUPTI may be writing it.
struct KernelName {
  const char* address = nullptr;  // nullptr: no kernel, or not yet written
  bool is_told = true;            // false: it may still be written
};
KernelName name_in(const uint8_t* record);

constexpr const char* kUnknownCall = "unknown call";

class Decoder {
 public:
  // own_thread: its calls are the recorder's, not the program's.
  Decoder(TraceFile& file, Names& names, uint32_t own_thread)
      : file_(file), names_(names), own_thread_(own_thread) {}

  // Decodes a completed buffer with CUPTI. progress: number of records done.
  void decode(const cupti::Functions& functions, uint8_t* buffer, size_t valid, uint64_t& progress);
  // Decodes a buffer that was never completed, or that a dead process left, after its first `done`
  // records.
  void decode_left(const RecordBytes& bytes, const uint8_t* buffer, size_t size, uint64_t done);

  bool saw_device_work() const { return saw_device_work_; }
  bool saw_anything() const { return saw_anything_; }
  // Tracer time of the latest call of the recorder's thread; 0 = none.
  uint64_t last_own_call() const { return last_own_call_; }

 private:
  void add(const void* record);
  void add_call(const cupti::Api& from, wire::Domain domain);
  void add_kernel(const cupti::Kernel& from);
  void add_copy(const cupti::Memcpy& from);
  void add_peer_copy(const cupti::MemcpyPeer& from);
  void add_fill(const cupti::Memset& from);
  void add_rest(const void* record, uint32_t kind);

  TraceFile& file_;
  Names& names_;
  const uint32_t own_thread_;
  bool saw_device_work_ = false;
  bool saw_anything_ = false;
  uint64_t last_own_call_ = 0;
};

}  // namespace assay::record
