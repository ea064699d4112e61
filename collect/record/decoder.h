#pragma once

// From CUPTI's activity records to those of the trace file: in the process that is recorded, and
// after its death in `assay record`, which has CUPTI's buffers but not CUPTI.

#include <array>
#include <atomic>
#include <cstdint>

#include "collect/record/cupti_abi.h"
#include "collect/record/progress.h"
#include "collect/record/shared_area.h"
#include "collect/record/trace_file.h"

namespace assay::record {

// Names that CUPTI's records do not hold, as ids of the file's texts.
class Names {
 public:
  virtual ~Names() = default;
  virtual uint32_t of_call(wire::Domain domain, uint32_t function) = 0;
  // name: as the record has it, an address of the process that is recorded. kNoString: not known.
  virtual uint32_t of_kernel(const char* name) = 0;
};

// By CUPTI's kind of record; 0 = not known.
using RecordBytes = std::array<std::atomic<uint16_t>, SharedPlace::kKinds>;
// Asks CUPTI how long records of the kinds that are recorded are: of a buffer full of them.
void learn_record_bytes(const cupti::Functions& functions, RecordBytes& bytes);

// A buffer's records one after the other, without CUPTI, while it may still be writing them:
// nullptr behind the last one, or where a kind of unknown length comes (is_lost).
class RecordWalk {
 public:
  RecordWalk(const RecordBytes& bytes, const uint8_t* buffer, size_t size, size_t from = 0)
      : bytes_(bytes), buffer_(buffer), size_(size), at_(from) {}
  const uint8_t* next();
  bool is_lost() const { return lost_; }
  size_t at() const { return at_; }  // behind the record that next() gave

 private:
  const RecordBytes& bytes_;
  const uint8_t* buffer_;
  size_t size_;
  size_t at_;
  bool lost_ = false;
};

// All of the record is there: times, and what every record of its kind has.
bool is_whole(const void* record);
// What a record says of a kernel's name, read while CUPTI may be writing it.
struct KernelName {
  const char* address = nullptr;  // nullptr: it is no kernel's, or not told yet
  bool is_told = true;            // false: it may still come
};
KernelName name_in(const uint8_t* record);

constexpr const char* kUnknownCall = "unknown call";

class Decoder {
 public:
  // own_thread: its calls are the recorder's and not the program's.
  Decoder(TraceFile& file, Names& names, uint32_t own_thread)
      : file_(file), names_(names), own_thread_(own_thread) {}

  // A buffer as CUPTI gave it back, its records found by CUPTI. progress: how many are done.
  void decode(const cupti::Functions& functions, uint8_t* buffer, size_t valid, uint64_t& progress);
  // One that nobody gave back, or that is left of a process, but for its first `done` records.
  void decode_left(const RecordBytes& bytes, const uint8_t* buffer, size_t size, uint64_t done);

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

  TraceFile& file_;
  Names& names_;
  const uint32_t own_thread_;
  bool saw_device_work_ = false;
  bool saw_anything_ = false;
  uint64_t last_own_call_ = 0;
};

}  // namespace assay::record
