#include "base/string_pool.h"

#include <cassert>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay {

namespace {

constexpr size_t kFirstSlots = 1024;
constexpr size_t kBlockBytes = size_t{64} * 1024;

// 32 of the 64 hash bits. The low bits select the slot; comparing all of them avoids most string
// comparisons.
uint32_t hash_of(std::string_view text) {
  return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()));
}

}  // namespace

StringPool::StringPool() : slots_(kFirstSlots) { intern({}); }

StringId StringPool::intern(std::string_view text) {
  const uint32_t hash = hash_of(text);
  size_t slot = probe(text, hash);
  if (slots_[slot].id != StringId::kNone) return StringId(slots_[slot].id);
  if ((views_.size() + 1) * 2 > slots_.size()) {
    grow();
    slot = probe(text, hash);
  }
  assert(views_.size() < StringId::kNone);
  const StringId id(views_.size());
  slots_[slot] = {hash, id.value};
  views_.push_back(store(text));
  return id;
}

StringId StringPool::find(std::string_view text) const {
  return StringId(slots_[probe(text, hash_of(text))].id);
}

std::vector<StringId> StringPool::merge(const StringPool& other) {
  std::vector<StringId> ids;
  ids.reserve(other.size());
  // Iterate by index: when a pool is merged into itself, intern() adds nothing, but iterators would
  // not be safe.
  for (size_t i = 0; i < other.views_.size(); ++i) ids.push_back(intern(other.views_[i]));
  return ids;
}

// The slot that holds `text`, or the empty one where it belongs.
size_t StringPool::probe(std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].id != StringId::kNone) {
    if (slots_[slot].hash == hash) {
      const std::string_view known = views_[slots_[slot].id];
      if (known.size() == text.size() &&
          (text.empty() || std::memcmp(known.data(), text.data(), text.size()) == 0)) {
        break;
      }
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

void StringPool::grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  const size_t mask = bigger.size() - 1;
  for (const Slot& old : slots_) {
    if (old.id == StringId::kNone) continue;
    size_t slot = old.hash & mask;
    while (bigger[slot].id != StringId::kNone) slot = (slot + 1) & mask;
    bigger[slot] = old;
  }
  slots_ = std::move(bigger);
}

// A copy of `text` at a stable address. Long strings get their own block, so that a name of several
// kB does not waste the rest of the current block.
std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return {};
  char* place;
  if (text.size() <= free_bytes_) {
    place = free_;
  } else if (text.size() > kBlockBytes / 8) {
    blocks_.push_back(std::unique_ptr<char[]>(new char[text.size()]));
    std::memcpy(blocks_.back().get(), text.data(), text.size());
    return {blocks_.back().get(), text.size()};
  } else {
    blocks_.push_back(std::unique_ptr<char[]>(new char[kBlockBytes]));
    place = blocks_.back().get();
    free_bytes_ = kBlockBytes;
  }
  std::memcpy(place, text.data(), text.size());
  free_ = place + text.size();
  free_bytes_ -= text.size();
  return {place, text.size()};
}

}  // namespace assay
