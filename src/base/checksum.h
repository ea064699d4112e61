#pragma once

// 64-bit XXH3. Detects damage and changes, not tampering; it is not a cryptographic hash.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace assay {

uint64_t checksum(const void* bytes, size_t size);

// The same checksum, computed incrementally.
class RunningChecksum {
 public:
  RunningChecksum();
  RunningChecksum(RunningChecksum&&) noexcept;
  RunningChecksum& operator=(RunningChecksum&&) noexcept;
  ~RunningChecksum();

  void add(const void* bytes, size_t size);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Checksum of a whole file, as stored.
Result<uint64_t> file_checksum(const std::string& path);

// Text form used in reports: "xxh3:" and the 16 hex digits that `xxhsum -H3 FILE` prints.
std::string checksum_text(uint64_t checksum);

}  // namespace assay
