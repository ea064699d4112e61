#include "collect/record/buffers.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace assay::record {

void Buffers::use(Area& area, uint64_t most_bytes) {
  area_ = &area;
  most_bytes_ = most_bytes;
  looked_.resize(area.layout().buffers);
}

SharedBuffer* Buffers::shared(const uint8_t* buffer) const {
  const size_t index = area_->index_of(buffer);
  return index < area_->layout().buffers ? &area_->place().buffers[index] : nullptr;
}

uint8_t* Buffers::request() noexcept {
  const auto hand_out = [this](uint8_t* buffer) {
    if (SharedBuffer* known = shared(buffer)) {
      known->use.store(BufferUse::kOut, std::memory_order_release);
    }
    return buffer;
  };
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      uint8_t* buffer = free_.back();
      free_.pop_back();
      return hand_out(buffer);
    }
    if ((made_ + 1) * kBufferBytes > most_bytes_) return nullptr;
    ++made_;
    if (made_ <= area_->layout().buffers) return hand_out(area_->buffer(made_ - 1));
  }
  // Untouched zero pages use no memory.
  auto* buffer = static_cast<uint8_t*>(std::calloc(1, kBufferBytes));
  if (buffer != nullptr) return buffer;
  const std::lock_guard lock(mutex_);
  --made_;
  return nullptr;
}

void Buffers::give(uint8_t* buffer, size_t valid) noexcept {
  SharedBuffer* known = shared(buffer);
  try {
    const std::lock_guard lock(mutex_);
    full_.push_back({buffer, valid, ++numbers_});
    waiting_.store(full_.size(), std::memory_order_relaxed);
    if (known == nullptr) return;
    known->number = numbers_;
    known->valid = valid;
    known->use.store(BufferUse::kFull, std::memory_order_release);
  } catch (...) {
    if (known == nullptr) std::free(buffer);
  }
}

std::vector<FullBuffer> Buffers::take() {
  std::vector<FullBuffer> full;
  const std::lock_guard lock(mutex_);
  full.swap(full_);
  waiting_.store(0, std::memory_order_relaxed);
  return full;
}

void Buffers::recycle(const FullBuffer& buffer) {
  SharedBuffer* known = shared(buffer.data);
  if (known == nullptr) {
    std::memset(buffer.data, 0, buffer.valid);
  } else {
    // Zero the whole buffer: a rescue reads any nonzero bytes as a record.
    known->use.store(BufferUse::kWritten, std::memory_order_release);
    std::memset(buffer.data, 0, kBufferBytes);
    looked_[area_->index_of(buffer.data)] = 0;
    known->use.store(BufferUse::kFree, std::memory_order_release);
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer.data);
}

void Buffers::prepare() {
  size_t next = 0;
  {
    const std::lock_guard lock(mutex_);
    next = made_;
    const bool one_is_there = !free_.empty() || prepared_ > made_;
    if (one_is_there || next >= area_->layout().buffers) return;
    if ((next + 1) * kBufferBytes > most_bytes_) return;
  }
#ifdef MADV_POPULATE_WRITE
  ::madvise(area_->buffer(next), kBufferBytes, MADV_POPULATE_WRITE);
#endif
  prepared_ = next + 1;
}

}  // namespace assay::record
