#pragma once

// Writes a trace file: gathers records into blocks and writes complete blocks. One thread at a
// time. Failures are not reported at once: records that cannot be written are counted as lost, by
// reason.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collect/record/progress.h"
#include "collect/record/settings.h"
#include "collect/wire.h"

namespace assay::record {

class TraceFile {
 public:
  ~TraceFile();
  // Creates the file PATH with the process id before its extension, then a number if that file
  // exists. False: error() has the reason.
  bool open(const Settings& settings);
  // Writes the file header. Only for a thread that blocks SIGXFSZ, like all later writes. pid: of
  // the recorded process; 0 = this one.
  void begin(uint32_t pid = 0);
  // Continues a file that another process left, after its last complete block. With 0 bytes it
  // starts over, and begin() must follow. False: it cannot be opened, or is shorter.
  struct End {
    uint64_t bytes = 0;  // 0 = empty
    uint32_t sequence = 0;
    uint32_t next_text = 1;
    uint64_t records = 0;
  };
  bool resume(const std::string& path, uint64_t session, uint64_t max_bytes, const End& end);
  // Notes the progress there before each block is written.
  void keep_progress(ProgressLog* log) { progress_ = log; }

  template <typename Record>
  void add(wire::Kind kind, Record record) {
    record.header = {kind, sizeof(Record)};
    append(&record, sizeof(Record), nullptr, 0);
  }
  // A complete record, with its header and tail.
  void copy(const void* record, size_t bytes) { append(record, bytes, nullptr, 0); }
  // The id of a text; writes a new text.
  uint32_t text(std::string_view value);
  // Writes a text under an id of the caller.
  void define(uint32_t id, std::string_view value);

  void count_lost(wire::LostReason reason, uint64_t count) {
    lost_[static_cast<size_t>(reason)] += count;
  }
  uint64_t lost() const;
  uint64_t lost(wire::LostReason reason) const { return lost_[static_cast<size_t>(reason)]; }
  // Writes the gathered records.
  void flush();
  // Accepts a few more records although the file is full.
  void take_last();
  // Writes the losses, then the footer.
  void close(uint64_t monotonic_ns);

  bool full() const { return full_; }      // the limit was reached: records are dropped
  bool broken() const { return broken_; }  // a write failed: nothing more is written
  int error() const { return error_; }     // errno of the failure
  const std::string& path() const { return path_; }
  uint64_t records() const { return records_; }
  // Events of the program, as far as this object wrote them.
  uint64_t events() const { return events_; }
  uint64_t bytes() const { return bytes_; }
  // In the forked child of the writing process.
  void abandon();

 private:
  static constexpr size_t kBlockBytes = 256 << 10;
  static constexpr size_t kReserved = 4 << 10;  // for close()
  static constexpr size_t kReasons = 8;

  void limit(uint64_t session, uint64_t max_bytes);
  void append(const void* record, size_t bytes, const void* tail, size_t tail_bytes);
  void write_block();
  bool write_all(const void* data, size_t bytes);
  void drop_block(wire::LostReason reason);
  void tell_of_failure(uint64_t monotonic_ns);

  ProgressLog* progress_ = nullptr;
  std::string path_;
  int fd_ = -1;
  int error_ = 0;
  bool full_ = false;
  bool broken_ = false;
  bool cut_ = true;  // the file ends with its last complete block
  uint64_t session_ = 0;
  uint64_t max_bytes_ = 0;
  size_t block_bytes_ = kBlockBytes;
  uint64_t bytes_ = 0;    // in the file
  uint64_t records_ = 0;  // in the file
  uint32_t sequence_ = 0;
  std::vector<unsigned char> block_;  // header and payload
  uint32_t block_records_ = 0;
  uint32_t block_events_ = 0;
  uint64_t events_ = 0;
  std::array<uint64_t, kReasons> lost_ = {};
  uint32_t next_text_ = 1;
  std::unordered_map<std::string, uint32_t> texts_;
};

}  // namespace assay::record
