#include "ingest/memory/snapshot.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ingest/formats.h"
#include "ingest/memory/pickle.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 48;       // beyond any memory
constexpr int64_t kMostBytesInAll = int64_t{1} << 60;  // sums of all sizes stay within 64 bits
constexpr size_t kMostKeys = 128;                      // per segment, block, action or frame

struct ActionWord {
  std::string_view word;
  SnapshotAction action;
};
constexpr ActionWord kActions[] = {
    {"alloc", SnapshotAction::kAlloc},
    {"free_requested", SnapshotAction::kFreeRequested},
    {"free_completed", SnapshotAction::kFreeCompleted},
    {"segment_alloc", SnapshotAction::kSegmentAlloc},
    {"segment_map", SnapshotAction::kSegmentAlloc},
    {"segment_free", SnapshotAction::kSegmentFree},
    {"segment_unmap", SnapshotAction::kSegmentFree},
    {"oom", SnapshotAction::kOutOfMemory},
    {"snapshot", SnapshotAction::kSnapshot},
};

SnapshotAction action_of(std::string_view word) {
  for (const ActionWord& one : kActions) {
    if (one.word == word) return one.action;
  }
  return SnapshotAction::kUnknown;
}

// True for actions that change memory. Other actions may have any size: a failed allocation may be
// beyond any memory.
bool moves_bytes(SnapshotAction action) {
  return action != SnapshotAction::kUnknown && action != SnapshotAction::kOutOfMemory &&
         action != SnapshotAction::kSnapshot;
}

BlockState state_of(std::string_view word) {
  if (word == "active_allocated") return BlockState::kAllocated;
  // The first is in PyTorch's files, the second in its documentation.
  if (word == "active_pending_free" || word == "active_awaiting_free")
    return BlockState::kAwaitingFree;
  return word == "inactive" ? BlockState::kInactive : BlockState::kUnknown;
}

bool ends_with_python(std::string_view file) { return file.ends_with(".py"); }
bool of_torch(std::string_view file) { return file.find("/torch/") != std::string_view::npos; }

class Reader {
 public:
  explicit Reader(const PickleDocument& document) : document_(document) {}

  Result<MemorySnapshot> read() {
    const PickleValue& root = document_.values[document_.root];
    const PickleValue* segments = document_.find(root, "segments");
    const PickleValue* traces = document_.find(root, "device_traces");
    if (segments == nullptr || segments->kind != PickleKind::kList)
      return format_error("a memory snapshot has a list of segments, and this has none");
    for (const uint32_t id : segments->of) ASSAY_TRY(add_segment(document_.values[id]));
    if (traces == nullptr) return std::move(snapshot_);
    if (traces->kind != PickleKind::kList) return format_error("device_traces is not a list");
    for (const uint32_t id : traces->of) ASSAY_TRY(add_trace(document_.values[id]));
    return std::move(snapshot_);
  }

 private:
  // Limits the rows read: values may be shared, so a small file could repeat one long list or dict
  // a million times.
  Status count_row(const PickleValue& dict) {
    if (++rows_ <= document_.values.size() && dict.of.size() <= 2 * kMostKeys) return Ok{};
    return Error{ErrorCode::kUnsupported,
                 "blocks or actions that are shared between lists, or have many keys", "", -1};
  }

  Result<int64_t> bytes(const PickleValue& dict, std::string_view key,
                        std::optional<int64_t> fallback) {
    const PickleValue* value = document_.find(dict, key);
    if (value == nullptr && fallback) return *fallback;
    if (value == nullptr || value->kind != PickleKind::kInteger || value->integer < 0 ||
        value->integer > kMostBytes) {
      return format_error(std::string(key) + " of a memory snapshot is not a number of bytes");
    }
    all_bytes_ += value->integer;
    if (all_bytes_ > kMostBytesInAll)
      return format_error("sizes that add up to more than any program asks for");
    return value->integer;
  }

  std::string_view word(const PickleValue& dict, std::string_view key) const {
    const PickleValue* value = document_.find(dict, key);
    return value == nullptr || value->kind != PickleKind::kText ? "" : value->text;
  }

  std::optional<int64_t> integer(const PickleValue& dict, std::string_view key) const {
    const PickleValue* value = document_.find(dict, key);
    if (value == nullptr || value->kind != PickleKind::kInteger) return std::nullopt;
    return value->integer;
  }

  Status add_segment(const PickleValue& dict) {
    ASSAY_TRY(count_row(dict));
    SnapshotSegment segment;
    const std::optional<int64_t> device = integer(dict, "device");
    const std::optional<int64_t> address = integer(dict, "address");
    const PickleValue* blocks = document_.find(dict, "blocks");
    if (!device || *device < 0 || !address || blocks == nullptr ||
        blocks->kind != PickleKind::kList)
      return format_error("a segment has no device, address or list of blocks");
    segment.device = *device;
    ASSAY_TRY_ASSIGN(segment.total, bytes(dict, "total_size", std::nullopt));
    ASSAY_TRY_ASSIGN(segment.allocated, bytes(dict, "allocated_size", -1));
    ASSAY_TRY_ASSIGN(segment.active, bytes(dict, "active_size", -1));
    auto at = static_cast<uint64_t>(*address);
    for (const uint32_t id : blocks->of) {
      ASSAY_TRY(count_row(document_.values[id]));
      ASSAY_TRY_ASSIGN(SnapshotBlock block, block_of(document_.values[id], at));
      at = block.address + static_cast<uint64_t>(block.size);
      segment.blocks.push_back(block);
    }
    snapshot_.segments.push_back(std::move(segment));
    return Ok{};
  }

  // PyTorch up to 2.0 wrote no addresses: a block starts where the previous one ends, at `follows`.
  Result<SnapshotBlock> block_of(const PickleValue& dict, uint64_t follows) {
    SnapshotBlock block;
    ASSAY_TRY_ASSIGN(block.size, bytes(dict, "size", std::nullopt));
    ASSAY_TRY_ASSIGN(block.requested, bytes(dict, "requested_size", block.size));
    const std::optional<int64_t> address = integer(dict, "address");
    block.address = address ? static_cast<uint64_t>(*address) : follows;
    block.state = state_of(word(dict, "state"));
    block.site = site_of(dict);
    return block;
  }

  Status add_trace(const PickleValue& list) {
    if (list.kind != PickleKind::kList) return format_error("a device's trace is not a list");
    std::vector<SnapshotEvent> events;
    for (const uint32_t id : list.of) {
      const PickleValue& dict = document_.values[id];
      ASSAY_TRY(count_row(dict));
      if (dict.kind != PickleKind::kDict) return format_error("an action is not a dict");
      SnapshotEvent event{.action = action_of(word(dict, "action"))};
      if (moves_bytes(event.action)) {
        ASSAY_TRY_ASSIGN(event.size, bytes(dict, "size", std::nullopt));
      }
      event.address = static_cast<uint64_t>(integer(dict, "addr").value_or(0));
      event.time_us = integer(dict, "time_us").value_or(-1);
      event.site = site_of(dict);
      events.push_back(event);
    }
    snapshot_.traces.push_back(std::move(events));
    return Ok{};
  }

  // Index of the call site. Allocations with the same stack share it.
  uint32_t site_of(const PickleValue& dict) {
    const PickleValue* frames = document_.find(dict, "frames");
    if (frames == nullptr || frames->kind != PickleKind::kList || frames->of.empty()) return 0;
    const auto [stack, is_new_stack] = site_of_stack_.try_emplace(frames, 0);
    if (!is_new_stack) return stack->second;
    const std::string name = site_name(*frames);
    if (name.empty()) return 0;
    const auto [site, is_new] =
        site_of_name_.try_emplace(name, static_cast<uint32_t>(snapshot_.sites.size()));
    if (is_new) snapshot_.sites.push_back(name);
    return stack->second = site->second;
  }

  // Name of a stack, innermost frame first: the first Python frame outside of torch, which
  // requested the memory; else the first Python frame, else the first.
  std::string site_name(const PickleValue& frames) const {
    const PickleValue* best = nullptr;
    int best_rank = 0;
    for (const uint32_t id : frames.of) {
      const PickleValue& frame = document_.values[id];
      if (frame.of.size() > 2 * kMostKeys) continue;
      const std::string_view file = word(frame, "filename");
      const int rank = !ends_with_python(file) ? 1 : of_torch(file) ? 2 : 3;
      if (rank > best_rank) best = &frame;
      best_rank = std::max(best_rank, rank);
    }
    if (best == nullptr) return "";
    std::string_view file = word(*best, "filename");
    file.remove_prefix(file.rfind('/') + 1);  // npos + 1 = 0
    const std::optional<int64_t> line = integer(*best, "line");
    return std::string(file) + (line ? ":" + std::to_string(*line) : "") + " " +
           std::string(word(*best, "name"));
  }

  const PickleDocument& document_;
  size_t rows_ = 0;
  int64_t all_bytes_ = 0;
  MemorySnapshot snapshot_;
  std::unordered_map<const PickleValue*, uint32_t> site_of_stack_;
  std::map<std::string, uint32_t> site_of_name_;
};

}  // namespace

Result<MemorySnapshot> parse_memory_snapshot(std::string_view pickle) {
  ASSAY_TRY_ASSIGN(const PickleDocument document, parse_pickle(pickle));
  return Reader(document).read();
}

Result<MemorySnapshot> read_memory_snapshot(const std::string& path) {
  const Error too_large{
      ErrorCode::kUnsupported,
      "a memory snapshot of more than 1 GiB: record fewer actions (max_entries) or "
      "without frames (stacks=\"python\")",
      path, -1};
  ASSAY_TRY_ASSIGN(const std::string text, read_whole_file(path, too_large));
  auto snapshot = parse_memory_snapshot(text);
  if (!snapshot) return explained(snapshot.take_error(), path, FileFamily::kMemory);
  snapshot->file = path;
  return snapshot;
}

}  // namespace assay
