#include "base/checksum.h"

#include <cinttypes>
#include <cstdio>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/files.h"

namespace assay {

uint64_t checksum(const void* bytes, size_t size) { return XXH3_64bits(bytes, size); }

struct RunningChecksum::State {
  XXH3_state_t xxh3;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}
RunningChecksum::RunningChecksum(RunningChecksum&&) noexcept = default;
RunningChecksum& RunningChecksum::operator=(RunningChecksum&&) noexcept = default;
RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::add(const void* bytes, size_t size) {
  XXH3_64bits_update(&state_->xxh3, bytes, size);
}

uint64_t RunningChecksum::value() const { return XXH3_64bits_digest(&state_->xxh3); }

Result<uint64_t> file_checksum(const std::string& path) {
  ASSAY_TRY_ASSIGN(const FileHandle file, open_file(path, "rb"));
  RunningChecksum sum;
  std::vector<char> buffer(size_t{1} << 20);
  size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    sum.add(buffer.data(), got);
  }
  if (std::ferror(file.get()) != 0) return Error{ErrorCode::kIo, "cannot read", path, -1};
  return sum.value();
}

std::string checksum_text(uint64_t checksum) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64, checksum);
  return std::string("xxh3:") + digits;
}

}  // namespace assay
