#pragma once

// The head and the complete blocks of an .assaytrace file, in order. Damaged and truncated blocks
// are skipped and counted; no part of them is delivered.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "collect/wire.h"

namespace assay {

class AssayTraceBlocks {
 public:
  // Errors: kUnsupported (a version of the format that is newer than this reader), those of `read`.
  static Result<AssayTraceBlocks> open(ReadFn read);

  // The payload of the next whole block, until the next call. False: there is no more.
  Result<bool> next(std::string_view& payload);

  const wire::FileHeader& header() const { return header_; }
  bool header_damaged() const { return header_damaged_; }
  uint64_t damaged_blocks() const { return damaged_; }  // missing or unreadable, between whole ones
  bool cut() const { return cut_; }                     // the file does not end with a whole block
  uint64_t bytes() const { return base_ + at_; }        // passed over so far
  int64_t first_damage() const { return first_damage_; }

 private:
  explicit AssayTraceBlocks(ReadFn read) : read_(std::move(read)) {}
  Status read_header();
  // True if `bytes` are available; reads on as needed.
  Result<bool> ensure(size_t bytes);
  Result<bool> whole_block_ahead(wire::BlockHeader& header);
  void note_sequence(uint32_t sequence);
  void note_damage();

  ReadFn read_;
  std::string window_;
  size_t at_ = 0;
  uint64_t base_ = 0;  // bytes that have left the window
  bool ended_ = false;
  wire::FileHeader header_ = {};
  bool header_damaged_ = false;
  bool session_known_ = false;
  uint64_t next_sequence_ = 0;
  uint64_t damaged_ = 0;
  bool cut_ = false;
  int64_t first_damage_ = -1;
  uint64_t vain_bytes_ = 0;  // checked of blocks that were none
};

// Iterates over the records of a payload. Calls visit(kind, record) for each; `record` holds its
// bytes with the header. Returns the number of trailing bytes that are not records.
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

// The fields of a record that this reader and its writer both know; zero for the rest.
template <typename Record>
Record record_from(std::string_view bytes) {
  Record record = {};
  std::memcpy(&record, bytes.data(), bytes.size() < sizeof(record) ? bytes.size() : sizeof(record));
  return record;
}

// The text of a String record, empty when it claims more than there is.
std::string_view text_of_record(std::string_view bytes);

}  // namespace assay
