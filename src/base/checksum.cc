#include "base/checksum.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/files.h"

namespace assay {

uint64_t checksum(const void* bytes, size_t size) { return XXH3_64bits(bytes, size); }

Result<uint64_t> file_checksum(const std::string& path) {
  ASSAY_TRY_ASSIGN(const FileHandle file, open_file(path, "rb"));
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  std::vector<char> buffer(size_t{1} << 20);
  size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    XXH3_64bits_update(&state, buffer.data(), got);
  }
  if (std::ferror(file.get()) != 0) return Error{ErrorCode::kIo, "cannot read", path, -1};
  return static_cast<uint64_t>(XXH3_64bits_digest(&state));
}

}  // namespace assay
