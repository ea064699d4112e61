#include "answers/files/replay_cache.h"

#include <fmt/format.h>

#include <cctype>

#include "base/export_file.h"
#include "base/files.h"
#include "ingest/replay/file.h"

namespace assay {
namespace {

constexpr uint32_t kPrivate = 0700;  // mode of folders: entries written by others would be trusted

// 64-bit FNV-1a. Two different seeds form the file name; the key inside the file detects
// collisions.
uint64_t fnv(const std::string& text, uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ull;
  }
  return hash;
}

std::string safe_name(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return safe.empty() ? "unknown" : safe;
}

// The identity of a kernel in a replay, independent of its frequency and trace.
std::string key_text(const ReplayRequest& request, const ReplayFile& identity) {
  std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", identity.gpu.name, identity.gpu.uuid,
                  identity.head.driver, identity.framework, tracer_name(identity.head.tracer),
                  identity.head.warmups, identity.head.runs, replay_through_name(identity.through));
  text += fmt::format("\n{}\n{}\n{},{},{}|{},{},{}|{}", request.op, request.name, request.grid[0],
                      request.grid[1], request.grid[2], request.block[0], request.block[1],
                      request.block[2], request.shared_memory_bytes);
  for (const RecordedInput& input : request.inputs) {
    text += fmt::format("\n{}|{}|{}|{}|{}", input.type, input.dims, input.strides, input.value_told,
                        input.value);
  }
  return text;
}

}  // namespace

ReplayCache::ReplayCache(const ReplayFile& identity, bool enabled) : identity_(identity) {
  identity_.entries.clear();
  const auto base = user_cache_folder("assay/replay");
  if (enabled && base) folder_ = joined(*base, safe_name(identity.gpu.name));
}

std::string ReplayCache::path_of(const ReplayRequest& request) const {
  const std::string text = key_text(request, identity_);
  return fmt::format("{}/{:016x}{:016x}.json", folder_, fnv(text, 14695981039346656037ull),
                     fnv(text, 1469598103934665603ull));
}

std::optional<ReplayEntry> ReplayCache::find(const ReplayRequest& request) const {
  if (folder_.empty()) return std::nullopt;
  auto file = read_replay_file(path_of(request));
  if (!file || file->entries.size() != 1) return std::nullopt;
  ReplayEntry entry = std::move(file->entries.front());
  // Compares the complete key, because two keys may have the same file name.
  if (entry.key != key_text(request, identity_)) return std::nullopt;
  entry.key = request.key;
  return entry;
}

void ReplayCache::keep(const ReplayRequest& request, const ReplayEntry& entry) const {
  if (folder_.empty() || entry.status != ReplayStatus::kOk) return;
  if (!make_folders(folder_, kPrivate)) return;
  ReplayFile file = identity_;
  file.entries = {entry};
  file.entries.front().key = key_text(request, identity_);
  (void)export_file(path_of(request), replay_file_json(file));
}

}  // namespace assay
