#pragma once

// Reads the header and the complete blocks of an .assaytrace file, in file order. Damaged and
// truncated blocks are counted and skipped whole.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "collect/wire.h"

namespace assay {

class AssayTraceBlocks {
 public:
  // Errors: kUnsupported (the file's format is newer than this reader), and those of `read`. A
  // damaged header is no error; see header_damaged().
  static Result<AssayTraceBlocks> open(ReadFn read);

  // Sets `payload` to that of the next complete block, valid until the next call. False at the end.
  Result<bool> next(std::string_view& payload);

  const wire::FileHeader& header() const { return header_; }
  bool header_damaged() const { return header_damaged_; }
  uint64_t damaged_blocks() const { return damaged_; }  // gaps in the sequence numbers
  bool cut() const { return cut_; }                     // the file ends in an incomplete block
  uint64_t bytes() const { return base_ + at_; }        // consumed so far
  int64_t first_damage() const { return first_damage_; }

 private:
  explicit AssayTraceBlocks(ReadFn read) : read_(std::move(read)) {}
  Status read_header();
  // Reads until `bytes` are available at at_; false if the input ends before.
  Result<bool> ensure(size_t bytes);
  Result<bool> whole_block_ahead(wire::BlockHeader& header);
  void note_sequence(uint32_t sequence);
  void note_damage();

  ReadFn read_;
  std::string window_;
  size_t at_ = 0;
  uint64_t base_ = 0;  // bytes dropped from the front of window_
  bool ended_ = false;
  wire::FileHeader header_ = {};
  bool header_damaged_ = false;
  bool session_known_ = false;
  uint64_t next_sequence_ = 0;
  uint64_t damaged_ = 0;
  bool cut_ = false;
  int64_t first_damage_ = -1;
  uint64_t vain_bytes_ = 0;  // payload bytes hashed for blocks with a wrong checksum
};

// Calls visit(kind, record) for each record of a payload; `record` holds its bytes, header
// included. Returns the number of trailing bytes that are not a record.
template <typename Visitor>
size_t for_each_record(std::string_view payload, Visitor&& visit) {
  while (payload.size() >= sizeof(wire::RecordHeader)) {
    wire::RecordHeader header;
    std::memcpy(&header, payload.data(), sizeof(header));
    if (header.bytes < 8 || header.bytes % 8 != 0 || header.bytes > payload.size()) break;
    visit(header.kind, payload.substr(0, header.bytes));
    payload.remove_prefix(header.bytes);
  }
  return payload.size();
}

// A record as a struct. Fields that the writer does not have are zero; fields that this reader does
// not have are ignored.
template <typename Record>
Record record_from(std::string_view bytes) {
  Record record = {};
  std::memcpy(&record, bytes.data(), bytes.size() < sizeof(record) ? bytes.size() : sizeof(record));
  return record;
}

// The text of a String record; empty if its length exceeds the record.
std::string_view text_of_record(std::string_view bytes);

}  // namespace assay
