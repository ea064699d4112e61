#include "ingest/xplane/reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_string.h"
#include "ingest/chrome/generated_text.h"
#include "ingest/protobuf/wire.h"

namespace assay {
namespace {

enum SpaceField : uint32_t { kPlane = 1 };
enum PlaneField : uint32_t { kPlaneName = 2, kLine = 3, kEventName = 4, kStatName = 5 };
enum LineField : uint32_t {
  kLineId = 1,
  kLineName = 2,
  kLineStart = 3,
  kEvent = 4,
  kShownId = 10,
  kShownName = 11
};
enum EventField : uint32_t {
  kEventNameId = 1,
  kOffset = 2,
  kDuration = 3,
  kEventStat = 4,
  kOccurrences = 5
};
enum NameField : uint32_t { kNameId = 1, kName = 2, kDisplayName = 4 };
enum MapField : uint32_t { kValue = 2 };
enum StatField : uint32_t { kStatNameId = 1, kUnsigned = 3, kSigned = 4 };

constexpr uint64_t kMostBytes = 4ull << 30;
constexpr int64_t kHostProcess = 1;
constexpr int64_t kFirstDevice = 100;

std::string_view bytes_of(std::string_view message, uint32_t number) {
  WireReader reader(message);
  WireField field;
  std::string_view found;
  while (reader.next(field)) {
    if (field.number == number && field.is_bytes) found = field.bytes;
  }
  return found;
}

// Offset of the first invalid bytes in a message, or in its nested messages that `inside` selects;
// npos if there are none.
using Inside = bool (*)(unsigned depth, const WireField& field);
size_t first_fault(std::string_view message, unsigned depth, Inside inside) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (!field.is_bytes || !inside(depth, field)) continue;
    const size_t fault = first_fault(field.bytes, depth + 1, inside);
    if (fault != std::string_view::npos) {
      return static_cast<size_t>(field.bytes.data() - message.data()) + fault;
    }
  }
  return reader.good() ? std::string_view::npos : static_cast<size_t>(reader.offset());
}

bool is_read(unsigned depth, const WireField& field) {
  constexpr uint32_t kMessages[] = {kPlane, kLine, kEvent, kEventStat};
  const bool is_name = depth == 1 && (field.number == kEventName || field.number == kStatName);
  return depth < std::size(kMessages) && (field.number == kMessages[depth] || is_name);
}

struct PlaneNames {
  std::string_view name;
  std::unordered_map<uint64_t, std::string_view> events;
  uint64_t correlation = 0;  // id of the statistic; 0 = none
  std::vector<std::string_view> lines;
};

void read_name(std::string_view entry, bool of_event, PlaneNames& names) {
  WireReader reader(bytes_of(entry, kValue));
  WireField field;
  uint64_t id = 0;
  std::string_view name;
  std::string_view shown;
  while (reader.next(field)) {
    if (field.number == kNameId) id = field.value;
    if (field.number == kName && field.is_bytes) name = field.bytes;
    if (field.number == kDisplayName && field.is_bytes) shown = field.bytes;
  }
  if (of_event) names.events[id] = shown.empty() ? name : shown;
  if (!of_event && name == "correlation_id") names.correlation = id;
}

PlaneNames read_plane(std::string_view plane) {
  PlaneNames names;
  WireReader reader(plane);
  WireField field;
  while (reader.next(field)) {
    if (!field.is_bytes) continue;
    if (field.number == kPlaneName) names.name = field.bytes;
    if (field.number == kLine) names.lines.push_back(field.bytes);
    if (field.number == kEventName || field.number == kStatName) {
      read_name(field.bytes, field.number == kEventName, names);
    }
  }
  return names;
}

// The planes as the rows of a trace.json.
class Rows : public GeneratedChromeText {
 public:
  explicit Rows(std::vector<std::string_view> planes) : planes_(std::move(planes)) {}

  // Number of events that are sums over a line and have no time.
  uint64_t sums() const { return sums_; }

 private:
  // Writes one event, or the metadata of a line or plane before its first event.
  bool write_next() override {
    WireField field;
    while (events_.next(field)) {
      if (field.number != kEvent || !field.is_bytes) continue;
      write_event(field.bytes);
      return true;
    }
    if (line_ < names_.lines.size()) {
      begin_line(names_.lines[line_++]);
    } else if (plane_ < planes_.size()) {
      begin_plane(planes_[plane_++]);
    } else {
      return false;
    }
    return true;
  }

  void name_row(std::string_view what, std::string_view name) {
    write_name(what, name, process_, std::to_string(thread_));
  }

  void begin_plane(std::string_view plane) {
    names_ = read_plane(plane);
    line_ = 0;
    // Runtime calls have a separate plane until a profiler merges it with the host's.
    const bool host = names_.name.starts_with("/host:");
    process_ = host ? kHostProcess : kFirstDevice + static_cast<int64_t>(plane_);
    thread_ = 0;
    if (!names_.lines.empty()) name_row("process_name", host ? "/host:CPU" : names_.name);
  }

  void begin_line(std::string_view line) {
    WireReader reader(line);
    WireField field;
    std::string_view name;
    std::string_view shown;
    uint64_t id = 0;
    uint64_t shown_id = 0;
    start_ns_ = 0;
    while (reader.next(field)) {
      if (field.number == kLineId) id = field.value;
      if (field.number == kShownId) shown_id = field.value;
      if (field.number == kLineStart) start_ns_ = static_cast<int64_t>(field.value);
      if (field.number == kLineName && field.is_bytes) name = field.bytes;
      if (field.number == kShownName && field.is_bytes) shown = field.bytes;
    }
    thread_ = static_cast<int64_t>(shown_id != 0 ? shown_id : id);
    name_row("thread_name", shown.empty() ? name : shown);
    events_ = WireReader(line);
  }

  void write_event(std::string_view event) {
    WireReader reader(event);
    WireField field;
    uint64_t name = 0;
    int64_t offset_ps = 0;
    int64_t duration_ps = 0;
    uint64_t correlation = 0;
    while (reader.next(field)) {
      if (field.number == kEventNameId) name = field.value;
      if (field.number == kOffset) offset_ps = static_cast<int64_t>(field.value);
      if (field.number == kDuration) duration_ps = static_cast<int64_t>(field.value);
      if (field.number == kEventStat && field.is_bytes && names_.correlation != 0) {
        correlation = std::max(correlation, correlation_in(field.bytes));
      }
      if (field.number == kOccurrences) {
        ++sums_;
        return;
      }
    }
    begin_row("X", process_, std::to_string(thread_));
    const int64_t begin_ns = start_ns_ + to_ns(offset_ps);
    write_us(",\"ts\":", begin_ns);
    write_us(",\"dur\":",
             start_ns_ + to_ns(offset_ps + std::max<int64_t>(duration_ps, 0)) - begin_ns);
    text_ += ",\"name\":";
    const auto found = names_.events.find(name);
    append_json_string(found == names_.events.end() ? std::string_view() : found->second, text_);
    text_ += ",\"args\":{";
    if (correlation != 0) text_ += "\"correlation_id\":" + std::to_string(correlation);
    text_ += "}}";
  }

  uint64_t correlation_in(std::string_view stat) const {
    WireReader reader(stat);
    WireField field;
    uint64_t id = 0;
    uint64_t value = 0;
    while (reader.next(field)) {
      if (field.number == kStatNameId) id = field.value;
      if (field.number == kUnsigned || field.number == kSigned) value = field.value;
    }
    return id == names_.correlation ? value : 0;
  }

  static int64_t to_ns(int64_t ps) {
    constexpr int64_t kPerNs = 1000;
    const int64_t whole = ps / kPerNs - (ps % kPerNs < 0 ? 1 : 0);
    return whole + (ps - whole * kPerNs >= kPerNs / 2 ? 1 : 0);
  }

  std::vector<std::string_view> planes_;
  size_t plane_ = 0;
  PlaneNames names_;
  size_t line_ = 0;
  WireReader events_{std::string_view()};
  int64_t process_ = 0;
  int64_t thread_ = 0;
  int64_t start_ns_ = 0;
  uint64_t sums_ = 0;
};

Result<std::string> read_all(const ReadFn& read) {
  std::string bytes;
  std::string block(size_t{1} << 20, '\0');
  for (;;) {
    ASSAY_TRY_ASSIGN(const size_t got, read(block.data(), block.size()));
    if (got == 0) return bytes;
    if (bytes.size() + got > kMostBytes) {
      return Error{ErrorCode::kUnsupported, "an XSpace of more than 4 GiB; record fewer steps", "",
                   -1};
    }
    bytes.append(block, 0, got);
  }
}

}  // namespace

Result<Trace> read_xplane(const ReadFn& read, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(const std::string bytes, read_all(read));
  std::vector<std::string_view> planes;
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kPlane && field.is_bytes) planes.push_back(field.bytes);
  }
  if (!reader.good() && !options.allow_truncated) {
    return Error{ErrorCode::kTruncated,
                 "the file ends within a plane, or holds bytes that are not an XSpace; copy it "
                 "again, or read the planes before this with --allow-truncated",
                 "", static_cast<int64_t>(reader.offset())};
  }
  const size_t fault = first_fault(std::string_view(bytes).substr(0, reader.offset()), 0, is_read);
  if (fault != std::string_view::npos) {
    return Error{ErrorCode::kFormat, "these bytes are not part of an XSpace (xplane.proto)", "",
                 static_cast<int64_t>(fault)};
  }
  Rows rows(std::move(planes));
  ASSAY_TRY_ASSIGN(Trace trace, rows.read_trace(options));
  if (!reader.good()) trace.log.add(ImportCode::kTruncated, static_cast<int64_t>(reader.offset()));
  if (rows.sums() > 0) trace.log.add(ImportCode::kUnknownPhase, -1, rows.sums());
  return trace;
}

}  // namespace assay
