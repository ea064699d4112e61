#pragma once

// Buffers for records that there is no room for. CUPTI before 12.9 dies of a request that is
// answered with none (kineto PR 1534, issue 1275), so it gets one of these, whose records are
// counted and thrown away. They are part of the library: nothing is allocated, nothing can fail.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collect/record/cupti_abi.h"

namespace assay::record {

class DropBuffers {
 public:
  static constexpr size_t kBytes = 64 << 10;

  // One that nobody has; where all are out, one that several share.
  uint8_t* take() noexcept;
  bool owns(const uint8_t* buffer) const noexcept;
  // Takes it back and says how many records it held; of the shared one, how many at least.
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
