#pragma once

// The bytes of a recording (.assaytrace), record by record, as docs/formats/assaytrace.md has it.

#include <cstdint>
#include <cstring>
#include <string>

#include "collect/wire.h"

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

}  // namespace assay::testing
