#pragma once

// Buffers for records to drop when memory is full. CUPTI before 12.9 crashes if a request gets no
// buffer (kineto PR 1534, issue 1275), so it gets one of these, and its records are counted and
// discarded. They are static: nothing is allocated, nothing can fail.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collect/record/cupti_abi.h"

namespace assay::record {

class DropBuffers {
 public:
  static constexpr size_t kBytes = 64 << 10;

  // A free buffer, or the shared one if none is free.
  uint8_t* take() noexcept;
  bool owns(const uint8_t* buffer) const noexcept;
  // Releases the buffer and returns its number of records, for the shared one a lower bound.
  // functions: of the CUPTI that filled it.
  uint64_t give_back(uint8_t* buffer, size_t valid, const cupti::Functions& functions) noexcept;

 private:
  static constexpr size_t kCount = 16;
  using Bytes = std::array<uint8_t, kBytes>;
  alignas(4096) std::array<Bytes, kCount + 1> buffers_ = {};  // the last is shared
  std::array<std::atomic<bool>, kCount> is_out_ = {};
};

// Of this process.
DropBuffers& drop_buffers();

}  // namespace assay::record
