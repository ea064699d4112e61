#pragma once

// Which part of the recorded data is in the file, so that `assay record` can continue after the
// recorder's death. The progress stored with the last complete block of the file is valid.

#include <atomic>
#include <cstdint>

namespace assay::record {

// The sources of the file: CUPTI's buffers in completion order, and banks of the host log
// (host_log.h). Everything before the given buffer and bank is in the file, and this much of them.
struct SourceProgress {
  uint64_t buffer = 0;  // its number; 0 = none yet
  uint64_t buffer_records = 0;
  uint64_t bank = 0;  // its number; 0 = none yet
  uint64_t bank_bytes = 0;
};

// The progress at one block of the file.
struct Progress {
  std::atomic<uint64_t> offset;    // of the block; 0 = none
  std::atomic<uint32_t> sequence;  // of the block
  uint32_t next_text;              // the first free string id of the file
  uint64_t records;                // in the file including this block
  SourceProgress sources;
};

// `current` follows the sources. Before a block is written it is copied to one of the two places in
// turn; while one is written the other is valid.
struct ProgressLog {
  SourceProgress current;
  Progress* places = nullptr;  // two; nullptr = not shared

  void before_block(uint64_t offset, uint32_t sequence, uint64_t records, uint32_t next_text) {
    if (places == nullptr) return;
    Progress& place = places[sequence % 2];
    place.offset.store(0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    place.next_text = next_text;
    place.records = records;
    place.sources = current;
    place.sequence.store(sequence, std::memory_order_release);
    place.offset.store(offset, std::memory_order_release);
  }
};

}  // namespace assay::record
