#pragma once

// The bytes of a recording (.assaytrace), record by record, as docs/formats/assaytrace.md has it.

#include <cstdint>
#include <cstring>
#include <string>

#include "collect/wire.h"
#include "ingest/assaytrace/reader.h"
#include "support/bytes.h"

namespace assay::testing {

constexpr uint64_t kRecordingSession = 7;

inline std::string recording_head() {
  wire::FileHeader header = {};
  std::memcpy(header.magic, wire::kMagic, sizeof(header.magic));
  header.version = wire::kVersion;
  header.header_bytes = sizeof(header);
  header.byte_order = wire::kByteOrder;
  header.pid = 42;
  header.session = kRecordingSession;
  header.checksum = wire::file_checksum(header);
  return {reinterpret_cast<const char*>(&header), sizeof(header)};
}

template <typename Record>
void add_record(std::string& payload, wire::Kind kind, Record record) {
  record.header = {kind, sizeof(record)};
  payload.append(reinterpret_cast<const char*>(&record), sizeof(record));
}

inline void add_block(std::string& file, const std::string& payload, uint32_t sequence,
                      uint32_t records) {
  wire::BlockHeader header = {};
  header.magic = wire::kBlockMagic;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.records = records;
  header.sequence = sequence;
  header.session = kRecordingSession;
  header.checksum = wire::block_checksum(header, payload.data());
  file.append(reinterpret_cast<const char*>(&header), sizeof(header));
  file += payload;
}

// A recording of one block, and what the reader makes of it.
class RecordingText {
 public:
  explicit RecordingText(const wire::Process& process) { add(wire::Kind::kProcess, process); }

  uint32_t text(const std::string& value) {
    wire::String record = {};
    record.id = ++texts_;
    record.length = static_cast<uint32_t>(value.size());
    const size_t padded = (value.size() + 7) / 8 * 8;
    record.header = {wire::Kind::kString, static_cast<uint16_t>(sizeof(record) + padded)};
    payload_.append(reinterpret_cast<const char*>(&record), sizeof(record));
    payload_ += value + std::string(padded - value.size(), '\0');
    ++records_;
    return record.id;
  }

  template <typename Record>
  void add(wire::Kind kind, Record record) {
    add_record(payload_, kind, record);
    ++records_;
  }

  Result<Trace> read(bool keep_op_inputs) {
    std::string file = recording_head();
    add_block(file, payload_, 0, records_);
    return read_assaytrace(bytes_of(file), {.keep_op_inputs = keep_op_inputs});
  }

 private:
  std::string payload_;
  uint32_t records_ = 0;
  uint32_t texts_ = 0;
};

}  // namespace assay::testing
