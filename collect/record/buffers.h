#pragma once

// The buffers that CUPTI fills: first those in the shared area, which outlives the process, then
// private memory up to a limit.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "collect/record/shared_area.h"

namespace assay::record {

struct FullBuffer {
  uint8_t* data;
  size_t valid;
  uint64_t number;  // in completion order, from 1
};

class Buffers {
 public:
  // Before the first request. The area must outlive this. most_bytes: of all buffers.
  void use(Area& area, uint64_t most_bytes);

  // On any thread. Returns kBufferBytes of zeros; nullptr: out of memory.
  uint8_t* request() noexcept;
  // On any thread: CUPTI has filled `valid` bytes of it.
  void give(uint8_t* buffer, size_t valid) noexcept;
  size_t full() const { return waiting_.load(std::memory_order_relaxed); }

  // On the writing thread: the completed buffers, in order.
  std::vector<FullBuffer> take();
  // Call after the file has all of it.
  void recycle(const FullBuffer& buffer);
  // Faults in the pages of the next buffer, so that the program's calls do not. The faults take
  // longer for shared than for private memory.
  void prepare();
  // Visits each shared buffer that CUPTI holds, with the offset already examined: look(buffer,
  // looked).
  template <typename Look>
  void look_at_filling(Look look) {
    for (size_t i = 0; i < looked_.size(); ++i) {
      if (area_->place().buffers[i].use.load(std::memory_order_acquire) != BufferUse::kOut)
        continue;
      look(area_->buffer(i), looked_[i]);
    }
  }

 private:
  SharedBuffer* shared(const uint8_t* buffer) const;

  Area* area_ = nullptr;
  uint64_t most_bytes_ = 0;
  std::mutex mutex_;
  std::vector<uint8_t*> free_;
  std::vector<FullBuffer> full_;
  size_t made_ = 0;      // first those of the area
  size_t prepared_ = 0;  // likewise
  uint64_t numbers_ = 0;
  std::atomic<size_t> waiting_ = 0;
  std::vector<size_t> looked_;  // of the writing thread: offset examined in each shared buffer
};

}  // namespace assay::record
