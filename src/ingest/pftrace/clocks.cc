#include "ingest/pftrace/clocks.h"

#include <vector>

#include "base/latest_time.h"
#include "ingest/protobuf/wire.h"

namespace assay {
namespace {

enum SnapshotField : uint32_t { kClock = 1, kPrimaryClock = 2 };
enum ClockField : uint32_t { kClockId = 1, kClockTime = 2, kIncremental = 3, kUnit = 4 };

constexpr uint64_t kFirstOfSequence = 64;
constexpr uint64_t kLastOfSequence = 127;
constexpr int64_t kMostUnitNs = 1'000'000'000;

bool is_of_sequence(uint64_t clock) {
  return clock >= kFirstOfSequence && clock <= kLastOfSequence;
}

struct ClockReading {
  uint64_t id = 0;
  uint64_t time = 0;
  bool incremental = false;
  uint64_t unit_ns = 1;
};

bool read_clock(std::string_view message, ClockReading& clock) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kClockId) clock.id = field.value;
    if (field.number == kClockTime) clock.time = field.value;
    if (field.number == kIncremental) clock.incremental = field.value != 0;
    if (field.number == kUnit && field.value != 0) clock.unit_ns = field.value;
  }
  return reader.good();
}

// value * unit in ns, or nullopt beyond the latest time.
std::optional<int64_t> scaled(uint64_t value, int64_t unit_ns) {
  if (value > static_cast<uint64_t>(kLatestNs / unit_ns)) return std::nullopt;
  return static_cast<int64_t>(value) * unit_ns;
}

}  // namespace

bool PerfettoClocks::read_snapshot(std::string_view message, SequenceClocks& sequence) {
  std::vector<ClockReading> readings;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kPrimaryClock && field.value != 0) primary_ = field.value;
    if (field.number != kClock || !field.is_bytes) continue;
    ClockReading clock;
    if (!read_clock(field.bytes, clock)) return false;
    const bool sane = clock.id != 0 && clock.unit_ns <= static_cast<uint64_t>(kMostUnitNs) &&
                      scaled(clock.time, static_cast<int64_t>(clock.unit_ns)).has_value();
    if (sane) readings.push_back(clock);
  }
  if (!reader.good()) return false;

  // The time of the snapshot: by the trace's clock, else by any other clock of the whole trace.
  std::optional<int64_t> at_ns;
  for (const ClockReading& clock : readings) {
    if (clock.id == primary_) at_ns = static_cast<int64_t>(clock.time);
  }
  for (const ClockReading& clock : readings) {
    if (is_of_sequence(clock.id)) continue;
    const auto time = static_cast<int64_t>(clock.time);
    // The first relation counts: later ones differ by drift alone, and would move times of one
    // clock against each other.
    if (at_ns) shifts_.try_emplace(clock.id, *at_ns - time);
  }
  for (const ClockReading& clock : readings) {
    if (at_ns || is_of_sequence(clock.id)) continue;
    const auto known = shifts_.find(clock.id);
    at_ns = static_cast<int64_t>(clock.time) + (known == shifts_.end() ? 0 : known->second);
  }
  for (const ClockReading& clock : readings) {
    if (!is_of_sequence(clock.id)) continue;
    SequenceClock& own = sequence[clock.id];
    own.unit_ns = static_cast<int64_t>(clock.unit_ns);
    own.incremental = clock.incremental;
    own.last_ns = static_cast<int64_t>(clock.time) * own.unit_ns;
    own.shift_ns = at_ns.value_or(own.last_ns) - own.last_ns;
  }
  return true;
}

std::optional<int64_t> PerfettoClocks::convert(uint64_t timestamp, uint64_t clock,
                                               SequenceClocks& sequence) {
  if (is_of_sequence(clock)) {
    const auto found = sequence.find(clock);
    if (found == sequence.end()) return std::nullopt;
    SequenceClock& own = found->second;
    const auto time = scaled(timestamp, own.unit_ns);
    if (!time) return std::nullopt;
    if (!own.incremental) return *time + own.shift_ns;
    if (own.last_ns > kLatestNs - *time) return std::nullopt;
    own.last_ns += *time;
    return own.last_ns + own.shift_ns;
  }
  const auto time = scaled(timestamp, 1);
  if (!time || clock == 0 || clock == primary_) return time;
  const auto known = shifts_.find(clock);
  if (known != shifts_.end()) return *time + known->second;
  // A trace without snapshots may use one other clock throughout. A second one has no relation.
  if (unrelated_ == 0 && shifts_.empty()) unrelated_ = clock;
  return unrelated_ == clock ? time : std::nullopt;
}

}  // namespace assay
