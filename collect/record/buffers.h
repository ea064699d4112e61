#pragma once

// The buffers that CUPTI fills: in the area that outlives the process, as far as it has some, and
// beyond that in memory of the process, up to a limit.

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
  uint64_t number;  // in the order in which they came back, from 1 on
};

class Buffers {
 public:
  // Before the first request. The area must outlive this. most_bytes: of all buffers.
  void use(Area& area, uint64_t most_bytes);

  // On any thread. A buffer of kBufferBytes zeros; nullptr: there is none.
  uint8_t* request() noexcept;
  // On any thread: CUPTI has filled `valid` bytes of it.
  void give(uint8_t* buffer, size_t valid) noexcept;
  size_t full() const { return waiting_.load(std::memory_order_relaxed); }

  // On the writing thread: those that came back, in their order.
  std::vector<FullBuffer> take();
  // All of it is in the file.
  void recycle(const FullBuffer& buffer);
  // Has the system make the pages of the buffer that is asked for next, which takes it longer for
  // shared memory than for a process's own: here, and not in the program's calls.
  void prepare();
  // Shows each shared buffer that CUPTI has, and how far it was looked at: look(buffer, looked).
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
  size_t made_ = 0;      // the area's first
  size_t prepared_ = 0;  // likewise
  uint64_t numbers_ = 0;
  std::atomic<size_t> waiting_ = 0;
  std::vector<size_t> looked_;  // the writing thread's: of each shared buffer
};

}  // namespace assay::record
