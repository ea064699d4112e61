#pragma once

// Turns the packets of a Perfetto trace into rows. Field numbers are those of Perfetto's public
// definitions, listed in docs/formats/pftrace.md.

#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/pftrace/clocks.h"
#include "ingest/pftrace/interned.h"
#include "ingest/pftrace/rows.h"

namespace assay {

class PerfettoDecoder {
 public:
  // Reads one packet at this offset of the file (-1 = within compressed packets). Damaged packets
  // and packets with lost texts are counted and skipped.
  void read_packet(std::string_view packet, int64_t offset);
  // The rows so far.
  const PerfettoRows& rows() const { return rows_; }
  // The rows of all packets. Joins begins and ends that different sequences wrote. Call once.
  PerfettoRows finish();

 private:
  struct AnnotationName {
    StringId name;
    AnnotationKey key = AnnotationKey::kPlain;
  };
  struct OpenSlice {
    uint32_t slice = 0;
    int64_t begin_ns = 0;  // of the packet
    uint64_t order = 0;    // in the file
  };
  struct Sequence {
    bool seen = false;
    bool has_state = false;  // its texts are complete since the last clear
    uint64_t clock = 0;
    uint64_t track = 0;
    uint64_t thread_track = 0;  // of an old-style thread descriptor
    Interned<StringId> names;
    Interned<StringId> categories;
    Interned<StringId> texts;
    Interned<StringId> stages;
    Interned<AnnotationName> annotation_names;
    SequenceClocks clocks;
    std::unordered_map<uint32_t, std::vector<OpenSlice>> open;  // by track
  };
  struct Packet;
  struct Event;
  struct LostEnd {
    int64_t at_ns = 0;
    uint32_t track = 0;
    uint64_t order = 0;
  };

  bool read_fields(std::string_view bytes, Packet& packet);
  bool read_interned(std::string_view message, Sequence& sequence);
  bool read_defaults(std::string_view message, Sequence& sequence);
  bool read_descriptor(std::string_view message);
  bool read_event(std::string_view message, Sequence& sequence, int64_t at_ns, bool timed);
  bool read_event_fields(std::string_view message, const Sequence& sequence, Event& event);
  bool read_annotation(std::string_view message, const Sequence& sequence);
  bool read_legacy(std::string_view message, const Sequence& sequence, Event& event);
  bool read_stage(std::string_view message, const Sequence& sequence, int64_t at_ns, bool timed);
  void begin_slice(const Event& event, Sequence& sequence);
  void end_slice(const Event& event, Sequence& sequence);
  void close(uint32_t slice, int64_t packet_begin_ns, int64_t packet_end_ns);
  void join_leftovers();
  StringId text(std::string_view value) { return rows_.strings.intern(value); }

  PerfettoRows rows_;
  PerfettoClocks clocks_;
  std::unordered_map<uint64_t, Sequence> sequences_;
  std::vector<LostEnd> lost_ends_;
  std::set<uint32_t> unread_kinds_;
};

// Meaning of an annotation by its name in rocprofv3 or rocprofiler-systems.
AnnotationKey annotation_key(std::string_view name);

}  // namespace assay
