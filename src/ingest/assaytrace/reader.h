#pragma once

// Reads .assaytrace files, which `assay record` writes (docs/formats/assaytrace.md), one per
// process. Reads all complete blocks; the import log counts the missing ones.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "collect/wire.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

bool is_assaytrace(std::string_view head);

// Errors: kUnsupported (a newer format, too many rows), kNotATrace (no complete block).
Result<Trace> read_assaytrace(ReadFn read, const ReadOptions& options);

// Properties of a recording, without its rows.
struct RecordingFacts {
  struct Note {
    wire::NoteCode code = {};
    int64_t value = 0;
    std::string text;
  };
  static constexpr size_t kKinds = 32;

  uint32_t pid = 0;
  uint64_t session = 0;
  std::string program;
  wire::ClockKind clock = wire::ClockKind::kNone;
  uint32_t driver_version = 0;
  uint32_t tracer_version = 0;
  wire::TracerKind tracer = wire::TracerKind::kCupti;
  bool forked = false;
  bool closed = false;  // has a footer
  uint64_t bytes = 0;
  uint64_t damaged_blocks = 0;
  std::array<uint64_t, kKinds> counts = {};   // by wire::Kind
  std::map<wire::LostReason, uint64_t> lost;  // empty unless closed
  std::vector<Note> notes;
  struct Device {
    uint32_t id = 0;
    std::string name;
    std::string uuid;  // as nvidia-smi writes it; empty = unknown
  };
  std::vector<Device> devices;

  uint64_t count(wire::Kind kind) const { return counts[static_cast<size_t>(kind)]; }
  uint64_t device_rows() const {
    return count(wire::Kind::kKernel) + count(wire::Kind::kCopy) + count(wire::Kind::kFill) +
           count(wire::Kind::kGraphRun);
  }
};
Result<RecordingFacts> read_recording_facts(const std::string& path);

}  // namespace assay
