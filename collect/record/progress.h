#pragma once

// How much of what a recorder has seen is in its file, so that somebody else can go on where it
// stopped. A block of the file is the proof: what is kept with the last whole one holds.

#include <atomic>
#include <cstdint>

namespace assay::record {

// What goes into the file: CUPTI's buffers in the order in which they came back, and banks of the
// host log (host_log.h). All of those before the named ones are in, and so much of these.
struct SourceProgress {
  uint64_t buffer = 0;  // its number; 0 = none yet
  uint64_t buffer_records = 0;
  uint64_t bank = 0;  // its number; 0 = none yet
  uint64_t bank_bytes = 0;
};

// With one block of the file.
struct Progress {
  std::atomic<uint64_t> offset;    // where the block begins; 0 = there is none
  std::atomic<uint32_t> sequence;  // its number
  uint32_t next_text;              // the first id of the file's own that is free
  uint64_t records;                // in the file with this block
  SourceProgress sources;
};

// `current` follows the sources; before a block is written it is put into one of the two places,
// in turn: while one is being written the other one holds.
struct ProgressLog {
  SourceProgress current;
  Progress* places = nullptr;  // two; nullptr = nobody asks

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
