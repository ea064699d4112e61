#include "collect/record/drop_buffers.h"

#include <cstring>

namespace assay::record {
namespace {

// The longest record: `valid` bytes hold at least valid / kLongestRecord records.
constexpr size_t kLongestRecord = 512;

}  // namespace

uint8_t* DropBuffers::take() noexcept {
  for (size_t i = 0; i < kCount; ++i) {
    if (!is_out_[i].exchange(true, std::memory_order_acquire)) return buffers_[i].data();
  }
  return buffers_[kCount].data();
}

bool DropBuffers::owns(const uint8_t* buffer) const noexcept {
  return buffer >= buffers_.front().data() && buffer < buffers_.back().data() + kBytes;
}

uint64_t DropBuffers::give_back(uint8_t* buffer, size_t valid,
                                const cupti::Functions& functions) noexcept {
  const auto place = static_cast<size_t>(buffer - buffers_.front().data()) / kBytes;
  // Several writers overwrote each other: record boundaries are unknown.
  if (place >= kCount) return (valid + kLongestRecord - 1) / kLongestRecord;
  uint64_t count = 0;
  void* record = nullptr;
  while (functions.next_record != nullptr &&
         functions.next_record(buffer, valid, &record) == cupti::kSuccess) {
    ++count;
  }
  std::memset(buffer, 0, valid);
  is_out_[place].store(false, std::memory_order_release);
  return count;
}

DropBuffers& drop_buffers() {
  static DropBuffers buffers;
  return buffers;
}

}  // namespace assay::record
