#include "ingest/pftrace/decoder.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/varint.h"
#include "ingest/protobuf/wire.h"

namespace assay {
namespace {

enum PacketField : uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kStateCleared = 41,
  kPacketDropped = 42,
  kThreadDescriptor = 44,
  kRenderStage = 53,
  kTimestampClock = 58,
  kPacketDefaults = 59,
  kTrackDescriptor = 60,
};
// Parts of every packet, and packets about the recording itself: without rows of a timeline.
constexpr std::array<uint32_t, 16> kAboutTheRecording = {2,  3,  9,  33, 35, 36, 43, 45,
                                                         46, 69, 78, 79, 87, 89, 98, 99};

enum DefaultsField : uint32_t { kEventDefaults = 11, kDefaultClock = 58 };
enum EventDefaultsField : uint32_t { kDefaultTrack = 11 };

enum InternedField : uint32_t {
  kCategories = 1,
  kNames = 2,
  kAnnotationNames = 3,
  kStages = 24,
  kTexts = 29,
};
enum InternedEntryField : uint32_t { kEntryId = 1, kEntryText = 2 };

enum DescriptorField : uint32_t {
  kUuid = 1,
  kTrackName = 2,
  kProcess = 3,
  kThread = 4,
  kParent = 5,
  kCounter = 8,
  kStaticName = 10,
};
enum ProcessField : uint32_t { kPid = 1, kNameOfProcess = 6 };
enum ThreadField : uint32_t { kThreadPid = 1, kThreadTid = 2, kThreadName = 5 };
enum CounterField : uint32_t { kCounterUnit = 4, kCounterIncremental = 5 };

enum EventField : uint32_t {
  kCategoryIds = 3,
  kAnnotation = 4,
  kLegacyEvent = 6,
  kType = 9,
  kNameId = 10,
  kTrackUuid = 11,
  kCategory = 22,
  kName = 23,
  kCounterValue = 30,
  kFlowsOld = 36,
  kLastFlowsOld = 42,
  kCounterDouble = 44,
  kFlows = 47,
  kLastFlows = 48,
};
enum EventType : uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterEvent = 4 };

enum LegacyField : uint32_t { kLegacyNameId = 1, kLegacyPhase = 2, kLegacyDuration = 3 };

enum AnnotationField : uint32_t {
  kAnnotationNameId = 1,
  kBool = 2,
  kUnsigned = 3,
  kSigned = 4,
  kDouble = 5,
  kText = 6,
  kPointer = 7,
  kAnnotationName = 10,
  kTextId = 17,
};

enum StageField : uint32_t {
  kStageDuration = 2,
  kStageGpu = 11,
  kStageQueueId = 13,
  kStageId = 14,
  kStageName = 17,
  kStageNameId = 20,
  kStageLaunch = 21,
};
enum LaunchField : uint32_t { kLaunchGrid = 1, kLaunchGroup = 2 };

constexpr uint64_t kFlagCleared = 1;
constexpr uint64_t kFlagNeedsState = 2;
constexpr int64_t kNsPerUs = 1000;

// The first number of a repeated field, packed or not.
uint64_t first_number(const WireField& field) {
  if (!field.is_bytes) return field.value;
  std::string_view bytes = field.bytes;
  uint64_t value = 0;
  return take_varint(bytes, value) ? value : 0;
}

// The first flow id: a fixed number of eight bytes, packed or not.
uint64_t first_flow(const WireField& field, bool old) {
  if (!field.is_bytes || old) return first_number(field);
  uint64_t value = 0;
  if (field.bytes.size() < sizeof(value)) return 0;
  for (size_t i = 0; i < sizeof(value); ++i) {
    value |= uint64_t{static_cast<unsigned char>(field.bytes[i])} << (8 * i);
  }
  return value;
}

// Calls visit(id, text) for an entry of a table. False for invalid bytes.
template <typename Visit>
bool read_entry(std::string_view message, Visit&& visit) {
  WireReader reader(message);
  WireField field;
  uint64_t id = 0;
  std::string_view value;
  while (reader.next(field)) {
    if (field.number == kEntryId) id = field.value;
    if (field.number == kEntryText && field.is_bytes) value = field.bytes;
  }
  if (reader.good()) visit(id, value);
  return reader.good();
}

bool read_sizes(std::string_view message, uint32_t (&sizes)[3]) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number >= 1 && field.number <= 3) {
      sizes[field.number - 1] = static_cast<uint32_t>(std::min<uint64_t>(field.value, UINT32_MAX));
    }
  }
  return reader.good();
}

}  // namespace

AnnotationKey annotation_key(std::string_view name) {
  static const std::map<std::string_view, AnnotationKey> keys = {
      {"begin_ns", AnnotationKey::kBegin},
      {"end_ns", AnnotationKey::kEnd},
      {"corr_id", AnnotationKey::kCorrelation},
      {"agent", AnnotationKey::kAgent},
      {"agent_id", AnnotationKey::kAgent},
      {"src_agent", AnnotationKey::kSourceAgent},
      {"src_agent_id", AnnotationKey::kSourceAgent},
      {"dst_agent", AnnotationKey::kTargetAgent},
      {"dst_agent_id", AnnotationKey::kTargetAgent},
      {"queue", AnnotationKey::kQueue},
      {"stream_id", AnnotationKey::kStream},
      {"tid", AnnotationKey::kThread},
      {"dispatch_id", AnnotationKey::kDispatch},
      {"group_segment_size", AnnotationKey::kSharedBytes},
      {"workgroup_size", AnnotationKey::kGroup},
      {"grid_size", AnnotationKey::kGrid},
      {"copy_bytes", AnnotationKey::kBytes},
      {"bytes", AnnotationKey::kBytes},
  };
  const auto found = keys.find(name);
  return found == keys.end() ? AnnotationKey::kPlain : found->second;
}

uint32_t PerfettoRows::track(uint64_t uuid) {
  const auto [found, is_new] = track_of.try_emplace(uuid, static_cast<uint32_t>(tracks.size()));
  if (is_new) {
    tracks.emplace_back();
    tracks.back().uuid = uuid;
  }
  return found->second;
}

int64_t PerfettoRows::process_of(uint32_t track) const {
  constexpr int kMostParents = 64;
  for (int i = 0; i < kMostParents; ++i) {
    const PerfettoTrack& row = tracks[track];
    if (row.pid >= 0) return row.pid;
    const auto parent = track_of.find(row.parent);
    if (row.parent == 0 || parent == track_of.end()) return -1;
    track = parent->second;
  }
  return -1;
}

// ---- packets ------------------------------------------------------------------------------------

struct PerfettoDecoder::Packet {
  uint64_t sequence = 0;
  uint64_t flags = 0;
  bool cleared = false;
  bool dropped = false;  // packets before this one
  std::optional<uint64_t> timestamp;
  uint64_t clock = 0;
  bool has_rows = false;
  std::string_view snapshot;
  std::string_view defaults;
  std::string_view descriptor;
  std::string_view thread;
  std::string_view event;
  std::string_view stage;
  std::vector<std::string_view> interned;
};

bool PerfettoDecoder::read_fields(std::string_view bytes, Packet& packet) {
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case kTimestamp:
        packet.timestamp = field.value;
        break;
      case kTimestampClock:
        packet.clock = field.value;
        break;
      case kSequenceId:
        packet.sequence = field.value;
        break;
      case kSequenceFlags:
        packet.flags = field.value;
        break;
      case kStateCleared:
        packet.cleared |= field.value != 0;
        break;
      case kPacketDropped:
        packet.dropped = field.value != 0;
        break;
      case kInternedData:
        packet.interned.push_back(field.bytes);
        break;
      case kClockSnapshot:
        packet.snapshot = field.bytes;
        break;
      case kPacketDefaults:
        packet.defaults = field.bytes;
        break;
      case kTrackDescriptor:
        packet.descriptor = field.bytes;
        break;
      case kThreadDescriptor:
        packet.thread = field.bytes;
        break;
      case kTrackEvent:
        packet.event = field.bytes;
        packet.has_rows = true;
        break;
      case kRenderStage:
        packet.stage = field.bytes;
        packet.has_rows = true;
        break;
      default:
        if (!field.is_bytes || std::find(kAboutTheRecording.begin(), kAboutTheRecording.end(),
                                         field.number) != kAboutTheRecording.end()) {
          break;
        }
        if (unread_kinds_.insert(field.number).second) {
          rows_.log.add(ImportCode::kUnknownRecord);
        }
    }
  }
  packet.cleared |= (packet.flags & kFlagCleared) != 0;
  return reader.good();
}

void PerfettoDecoder::read_packet(std::string_view bytes, int64_t offset) {
  Packet packet;
  if (!read_fields(bytes, packet)) {
    rows_.log.add(ImportCode::kDamagedBlock, offset);
    return;
  }
  Sequence& sequence = sequences_[packet.sequence];
  // The first packet of a sequence may be marked as well: there was none before it.
  if (packet.dropped && sequence.seen) {
    rows_.log.add(ImportCode::kLostRecords, offset);
    sequence.has_state = false;
  }
  sequence.seen = true;
  if (packet.cleared) {
    sequence.names.clear();
    sequence.categories.clear();
    sequence.texts.clear();
    sequence.stages.clear();
    sequence.annotation_names.clear();
    sequence.clock = 0;
    sequence.track = 0;
    sequence.has_state = true;
  }
  if ((packet.flags & kFlagNeedsState) != 0 && !sequence.has_state) {
    if (packet.has_rows) rows_.log.add(ImportCode::kLostRecords, offset);
    return;
  }
  bool good = true;
  for (const std::string_view table : packet.interned) good &= read_interned(table, sequence);
  if (!packet.defaults.empty()) good &= read_defaults(packet.defaults, sequence);
  if (!packet.snapshot.empty()) {
    good &= clocks_.read_snapshot(packet.snapshot, sequence.clocks);
  }
  if (!packet.descriptor.empty()) good &= read_descriptor(packet.descriptor);
  if (!packet.thread.empty()) {
    // The form before track descriptors: the thread of all events of the sequence.
    constexpr uint64_t kSequenceTrack = uint64_t{1} << 63;
    sequence.thread_track = kSequenceTrack | packet.sequence;
    PerfettoTrack& row = rows_.tracks[rows_.track(sequence.thread_track)];
    WireReader reader(packet.thread);
    WireField field;
    while (reader.next(field)) {
      if (field.number == kThreadPid) row.pid = static_cast<int64_t>(field.value);
      if (field.number == kThreadTid) row.tid = static_cast<int64_t>(field.value);
      if (field.number == kThreadName && field.is_bytes) row.thread_name = text(field.bytes);
    }
    good &= reader.good();
  }
  // Every timestamp counts, also that of a packet without rows: the next one may be relative to it.
  int64_t at_ns = 0;
  bool timed = false;
  if (packet.timestamp && (packet.snapshot.empty() || packet.has_rows)) {
    const uint64_t clock = packet.clock != 0 ? packet.clock : sequence.clock;
    const auto time = clocks_.convert(*packet.timestamp, clock, sequence.clocks);
    timed = time.has_value();
    at_ns = time.value_or(0);
  }
  const size_t annotations = rows_.annotations.size();
  const bool read = (packet.event.empty() || read_event(packet.event, sequence, at_ns, timed)) &&
                    (packet.stage.empty() || read_stage(packet.stage, sequence, at_ns, timed));
  if (!read) rows_.annotations.resize(annotations);
  if (!read || !good) rows_.log.add(ImportCode::kDamagedBlock, offset);
}

bool PerfettoDecoder::read_interned(std::string_view message, Sequence& sequence) {
  WireReader reader(message);
  WireField field;
  bool good = true;
  while (reader.next(field)) {
    if (!field.is_bytes) continue;
    const auto into = [&](Interned<StringId>& table) {
      good &= read_entry(field.bytes,
                         [&](uint64_t id, std::string_view value) { table.set(id, text(value)); });
    };
    switch (field.number) {
      case kCategories:
        into(sequence.categories);
        break;
      case kNames:
        into(sequence.names);
        break;
      case kTexts:
        into(sequence.texts);
        break;
      case kStages:
        into(sequence.stages);
        break;
      case kAnnotationNames:
        good &= read_entry(field.bytes, [&](uint64_t id, std::string_view value) {
          sequence.annotation_names.set(id, {text(value), annotation_key(value)});
        });
        break;
      default:
        break;
    }
  }
  return good && reader.good();
}

bool PerfettoDecoder::read_defaults(std::string_view message, Sequence& sequence) {
  WireReader reader(message);
  WireField field;
  bool good = true;
  while (reader.next(field)) {
    if (field.number == kDefaultClock) sequence.clock = field.value;
    if (field.number != kEventDefaults || !field.is_bytes) continue;
    WireReader inner(field.bytes);
    WireField of_event;
    while (inner.next(of_event)) {
      if (of_event.number == kDefaultTrack) sequence.track = of_event.value;
    }
    good &= inner.good();
  }
  return good && reader.good();
}

bool PerfettoDecoder::read_descriptor(std::string_view message) {
  PerfettoTrack row;
  WireReader reader(message);
  WireField field;
  bool good = true;
  const auto inside = [&](auto&& visit) {
    WireReader inner(field.bytes);
    WireField of_part;
    while (inner.next(of_part)) visit(of_part);
    good &= inner.good();
  };
  while (reader.next(field)) {
    if (field.number == kUuid) row.uuid = field.value;
    if (field.number == kParent) row.parent = field.value;
    if (!field.is_bytes) continue;
    if (field.number == kTrackName || field.number == kStaticName) row.name = text(field.bytes);
    if (field.number == kProcess) {
      inside([&](const WireField& part) {
        if (part.number == kPid) row.pid = static_cast<int32_t>(part.value);
        if (part.number == kNameOfProcess && part.is_bytes) row.process_name = text(part.bytes);
      });
    }
    if (field.number == kThread) {
      inside([&](const WireField& part) {
        if (part.number == kThreadPid) row.pid = static_cast<int32_t>(part.value);
        if (part.number == kThreadTid) row.tid = static_cast<int64_t>(part.value);
        if (part.number == kThreadName && part.is_bytes) row.thread_name = text(part.bytes);
      });
    }
    if (field.number == kCounter) {
      inside([&](const WireField& part) {
        if (part.number == kCounterUnit) row.unit = static_cast<double>(part.value);
        if (part.number == kCounterIncremental) row.incremental = part.value != 0;
      });
    }
  }
  if (!good || !reader.good()) return false;
  PerfettoTrack& known = rows_.tracks[rows_.track(row.uuid)];
  row.sum = known.sum;
  known = row;
  return true;
}

// ---- track events -------------------------------------------------------------------------------

struct PerfettoDecoder::Event {
  uint64_t type = 0;
  uint64_t track_uuid = 0;
  bool has_track = false;
  StringId name = StringId(0);
  StringId category = StringId(0);
  uint64_t flow = 0;
  double value = 0;
  bool has_value = false;
  int64_t dur_ns = kNoPerfettoTime;  // of a complete event in the old form
  bool odd_phase = false;
  bool name_lost = false;
  AnnotationSpan annotations;
  // Derived.
  uint32_t track = 0;
  int64_t at_ns = 0;
};

bool PerfettoDecoder::read_annotation(std::string_view message, const Sequence& sequence) {
  WireReader reader(message);
  WireField field;
  PerfettoAnnotation row;
  bool has_value = false;
  const auto value = [&](AnnotationType type, uint64_t bits) {
    row.type = type;
    row.bits = bits;
    has_value = true;
  };
  while (reader.next(field)) {
    switch (field.number) {
      case kAnnotationNameId:
        if (const AnnotationName* name = sequence.annotation_names.find(field.value)) {
          row.name = name->name;
          row.key = name->key;
        }
        break;
      case kAnnotationName:
        row.name = text(field.bytes);
        row.key = annotation_key(field.bytes);
        break;
      case kBool:
        value(AnnotationType::kBool, field.value);
        break;
      case kUnsigned:
      case kPointer:
        value(AnnotationType::kUnsigned, field.value);
        break;
      case kSigned:
        value(AnnotationType::kSigned, field.value);
        break;
      case kDouble:
        value(AnnotationType::kDouble, field.value);
        break;
      case kText:
        if (field.is_bytes) value(AnnotationType::kText, text(field.bytes).value);
        break;
      case kTextId:
        if (const StringId* known = sequence.texts.find(field.value)) {
          value(AnnotationType::kText, known->value);
        } else {
          rows_.log.add(ImportCode::kMissingName);
        }
        break;
      default:
        break;
    }
  }
  const bool room = rows_.annotations.size() < UINT32_MAX;
  if (reader.good() && has_value && room) rows_.annotations.push_back(row);
  return reader.good();
}

// Events of Chrome's older form: a phase letter in place of a type.
bool PerfettoDecoder::read_legacy(std::string_view message, const Sequence& sequence,
                                  Event& event) {
  WireReader reader(message);
  WireField field;
  uint64_t phase = 0;
  int64_t dur_us = 0;
  while (reader.next(field)) {
    if (field.number == kLegacyPhase) phase = field.value;
    if (field.number == kLegacyDuration) dur_us = static_cast<int64_t>(field.value);
    if (field.number == kLegacyNameId) {
      if (const StringId* name = sequence.names.find(field.value)) event.name = *name;
    }
  }
  if (!reader.good()) return false;
  if (event.type != 0 || phase == 0) return true;
  if (phase == 'B') event.type = kSliceBegin;
  if (phase == 'E') event.type = kSliceEnd;
  if (phase == 'i' || phase == 'I') event.type = kInstant;
  if (phase == 'X') {
    event.type = kSliceBegin;
    constexpr int64_t kMostUs = int64_t{1} << 51;
    event.dur_ns = std::clamp<int64_t>(dur_us, 0, kMostUs) * kNsPerUs;
  }
  event.odd_phase = event.type == 0;
  return true;
}

bool PerfettoDecoder::read_event_fields(std::string_view message, const Sequence& sequence,
                                        Event& event) {
  WireReader reader(message);
  WireField field;
  std::string_view legacy;
  event.annotations.first = static_cast<uint32_t>(rows_.annotations.size());
  while (reader.next(field)) {
    switch (field.number) {
      case kType:
        event.type = field.value;
        break;
      case kTrackUuid:
        event.track_uuid = field.value;
        event.has_track = true;
        break;
      case kNameId: {
        const StringId* name = sequence.names.find(field.value);
        event.name_lost = name == nullptr;
        if (name != nullptr) event.name = *name;
        break;
      }
      case kName:
        event.name = text(field.bytes);
        break;
      case kCategoryIds: {
        const StringId* category = sequence.categories.find(first_number(field));
        if (category != nullptr && event.category == StringId(0)) event.category = *category;
        break;
      }
      case kCategory:
        if (event.category == StringId(0)) event.category = text(field.bytes);
        break;
      case kAnnotation:
        if (!read_annotation(field.bytes, sequence)) return false;
        break;
      case kLegacyEvent:
        legacy = field.bytes;
        break;
      case kCounterValue:
        event.value = static_cast<double>(static_cast<int64_t>(field.value));
        event.has_value = true;
        break;
      case kCounterDouble:
        event.value = double_of_bits(field.value);
        event.has_value = true;
        break;
      case kFlowsOld:
      case kLastFlowsOld:
      case kFlows:
      case kLastFlows:
        if (event.flow == 0) {
          event.flow =
              first_flow(field, field.number == kFlowsOld || field.number == kLastFlowsOld);
        }
        break;
      default:
        break;
    }
  }
  if (!reader.good()) return false;
  event.annotations.count =
      static_cast<uint32_t>(rows_.annotations.size()) - event.annotations.first;
  return legacy.empty() || read_legacy(legacy, sequence, event);
}

bool PerfettoDecoder::read_event(std::string_view message, Sequence& sequence, int64_t at_ns,
                                 bool timed) {
  Event event;
  if (!read_event_fields(message, sequence, event)) return false;
  ++rows_.events;
  if (!timed) {
    rows_.log.add(ImportCode::kMissingTimestamp);
    return true;
  }
  uint64_t uuid = sequence.track;
  if (event.has_track) uuid = event.track_uuid;
  if (!event.has_track && uuid == 0) uuid = sequence.thread_track;
  event.track = rows_.track(uuid);
  event.at_ns = at_ns;
  if (event.name_lost && event.type != kSliceEnd) rows_.log.add(ImportCode::kMissingName);
  switch (event.type) {
    case kSliceBegin:
      begin_slice(event, sequence);
      break;
    case kSliceEnd:
      end_slice(event, sequence);
      break;
    case kInstant:
      rows_.instants.push_back({at_ns, event.name, event.category, event.track, event.annotations});
      break;
    case kCounterEvent: {
      PerfettoTrack& track = rows_.tracks[event.track];
      if (track.incremental) track.sum += event.value;
      const double value = track.incremental ? track.sum : event.value;
      if (event.has_value) rows_.counters.push_back({at_ns, value * track.unit, event.track});
      break;
    }
    default:
      rows_.log.add(ImportCode::kUnknownPhase);
  }
  return true;
}

void PerfettoDecoder::begin_slice(const Event& event, Sequence& sequence) {
  const auto index = static_cast<uint32_t>(rows_.slices.size());
  PerfettoSlice row;
  row.begin_ns = event.at_ns;
  row.flow = event.flow;
  row.name = event.name;
  row.category = event.category;
  row.track = event.track;
  row.annotations = event.annotations;
  if (event.dur_ns != kNoPerfettoTime) row.end_ns = row.begin_ns + event.dur_ns;
  // Times in annotations are as the profiler recorded them; those of packets may have been
  // converted to another clock.
  for (uint32_t i = 0; i < row.annotations.count; ++i) {
    const PerfettoAnnotation& one = rows_.annotations[row.annotations.first + i];
    const bool number =
        one.type == AnnotationType::kUnsigned || one.type == AnnotationType::kSigned;
    if (!number || one.bits > static_cast<uint64_t>(INT64_MAX)) continue;
    if (one.key == AnnotationKey::kBegin) row.begin_ns = static_cast<int64_t>(one.bits);
    if (one.key == AnnotationKey::kEnd) row.end_ns = static_cast<int64_t>(one.bits);
  }
  rows_.slices.push_back(row);
  if (event.dur_ns == kNoPerfettoTime) {
    sequence.open[event.track].push_back({index, event.at_ns, rows_.events});
  }
}

void PerfettoDecoder::close(uint32_t slice, int64_t packet_begin_ns, int64_t packet_end_ns) {
  PerfettoSlice& row = rows_.slices[slice];
  if (row.end_ns != kNoPerfettoTime) return;
  // The annotated begin may be anything, and is checked with the row.
  row.end_ns = static_cast<int64_t>(static_cast<uint64_t>(row.begin_ns) +
                                    static_cast<uint64_t>(packet_end_ns - packet_begin_ns));
}

// A sequence writes the begins and ends of a track in their nesting order, whatever their times.
// Each row of a parallel copy is a begin and an end in files of rocprofv3.
void PerfettoDecoder::end_slice(const Event& event, Sequence& sequence) {
  const auto found = sequence.open.find(event.track);
  if (found == sequence.open.end() || found->second.empty()) {
    lost_ends_.push_back({event.at_ns, event.track, rows_.events});
    return;
  }
  const OpenSlice open = found->second.back();
  found->second.pop_back();
  close(open.slice, open.begin_ns, event.at_ns);
}

// Begins and ends that different sequences wrote, such as an asynchronous slice that another thread
// ends: joined per track in order of time.
void PerfettoDecoder::join_leftovers() {
  struct Half {
    int64_t at_ns;
    uint64_t order;
    uint32_t slice;
    bool is_end;
  };
  std::map<uint32_t, std::vector<Half>> halves;
  for (const auto& [id, sequence] : sequences_) {
    for (const auto& [track, open] : sequence.open) {
      for (const OpenSlice& one : open) {
        halves[track].push_back({one.begin_ns, one.order, one.slice, false});
      }
    }
  }
  for (const LostEnd& end : lost_ends_) {
    halves[end.track].push_back({end.at_ns, end.order, 0, true});
  }
  for (auto& [track, list] : halves) {
    std::sort(list.begin(), list.end(), [](const Half& a, const Half& b) {
      return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.order < b.order;
    });
    std::vector<Half> open;
    for (const Half& half : list) {
      if (!half.is_end) {
        open.push_back(half);
      } else if (open.empty()) {
        rows_.log.add(ImportCode::kUnmatchedEnd);
      } else {
        close(open.back().slice, open.back().at_ns, half.at_ns);
        open.pop_back();
      }
    }
    for (const Half& half : open) {
      if (rows_.slices[half.slice].end_ns == kNoPerfettoTime) {
        rows_.log.add(ImportCode::kUnmatchedBegin);
      }
    }
  }
}

bool PerfettoDecoder::read_stage(std::string_view message, const Sequence& sequence, int64_t at_ns,
                                 bool timed) {
  WireReader reader(message);
  WireField field;
  PerfettoStage row;
  StringId stage;
  uint64_t dur_ns = 0;
  bool good = true;
  const auto known = [&](const Interned<StringId>& table) {
    const StringId* found = table.find(field.value);
    return found == nullptr ? StringId() : *found;
  };
  while (reader.next(field)) {
    if (field.number == kStageDuration) dur_ns = field.value;
    if (field.number == kStageGpu) row.gpu = static_cast<int32_t>(field.value);
    if (field.number == kStageQueueId) row.queue = field.value;
    if (field.number == kStageId) stage = known(sequence.stages);
    if (field.number == kStageNameId) row.name = known(sequence.names);
    if (field.number == kStageName && field.is_bytes) row.name = text(field.bytes);
    if (field.number != kStageLaunch || !field.is_bytes) continue;
    WireReader inner(field.bytes);
    WireField part;
    while (inner.next(part)) {
      if (part.number == kLaunchGrid && part.is_bytes) good &= read_sizes(part.bytes, row.grid);
      if (part.number == kLaunchGroup && part.is_bytes) good &= read_sizes(part.bytes, row.group);
    }
    good &= inner.good();
  }
  if (!good || !reader.good()) return false;
  ++rows_.events;
  if (!timed || dur_ns > static_cast<uint64_t>(INT64_MAX / 4)) {
    rows_.log.add(timed ? ImportCode::kTimestampOverflow : ImportCode::kMissingTimestamp);
    return true;
  }
  if (!row.name) row.name = stage;
  if (!row.name) rows_.log.add(ImportCode::kMissingName);
  row.begin_ns = at_ns;
  row.end_ns = at_ns + static_cast<int64_t>(dur_ns);
  rows_.stages.push_back(row);
  return true;
}

PerfettoRows PerfettoDecoder::finish() {
  join_leftovers();
  return std::move(rows_);
}

}  // namespace assay
