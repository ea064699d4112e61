#pragma once

// Clocks of a Perfetto trace. Packets name a clock; snapshots (clock_snapshot.proto) relate clocks
// to each other.

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace assay {

// Clocks 64 to 127 are defined by each packet sequence for itself.
struct SequenceClock {
  int64_t unit_ns = 1;
  bool incremental = false;  // timestamps are differences to the packet before
  int64_t last_ns = 0;       // of an incremental clock, in its own time
  int64_t shift_ns = 0;      // own time + shift = time of the trace's clock
};
using SequenceClocks = std::unordered_map<uint64_t, SequenceClock>;

class PerfettoClocks {
 public:
  // Reads a snapshot of the sequence with these clocks. False for invalid bytes.
  bool read_snapshot(std::string_view message, SequenceClocks& sequence);
  // A timestamp in ns of the trace's clock. clock = 0: the trace's own. nullopt if the clock cannot
  // be converted, or beyond 2^61 ns.
  std::optional<int64_t> convert(uint64_t timestamp, uint64_t clock, SequenceClocks& sequence);

 private:
  uint64_t primary_ = 6;                          // BOOTTIME, the default of the format
  std::unordered_map<uint64_t, int64_t> shifts_;  // of clocks of the whole trace
  uint64_t unrelated_ = 0;  // the one clock in use without a snapshot; 0 = none
};

}  // namespace assay
