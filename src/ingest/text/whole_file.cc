#include "ingest/text/whole_file.h"

#include "base/files.h"

namespace assay {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

// Logs of several days have some hundred MiB, and compress by a factor of 3 to 30.
constexpr uint64_t kLargestText = 2ull << 30;
bool expands_too_far(uint64_t decoded, uint64_t stored) {
  constexpr uint64_t kPlausible = 64ull << 20;
  constexpr uint64_t kBombRatio = 200;
  return stored != 0 && decoded > kPlausible && decoded / kBombRatio > stored;
}

}  // namespace

ReadFn text_stream(ByteSource& source) {
  return [read = source.stream(false), stored = source.stored_bytes(), decoded = uint64_t{0}](
             char* dst, size_t n) mutable -> Result<size_t> {
    auto got = read(dst, n);
    if (got) decoded += *got;
    if (decoded <= kLargestText && !expands_too_far(decoded, stored)) return got;
    return Error{ErrorCode::kUnsupported,
                 "holds more text than any file of its kind (" + std::to_string(decoded >> 20) +
                     " MiB so far): refused; decompress or split it yourself if it is meant",
                 "", -1};
  };
}

Result<std::string> read_whole_file(const std::string& path, const Error& too_large) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  const ReadFn read = text_stream(source);
  std::string text;
  std::string block(size_t{1} << 16, '\0');
  for (;;) {
    ASSAY_TRY_ASSIGN(const size_t got, read(block.data(), block.size()));
    if (got == 0) return text;
    text.append(block, 0, got);
    if (text.size() > kMaxBytes) return too_large;
  }
}

std::string read_head(const ReadFn& read, size_t most) {
  std::string head(most, '\0');
  size_t filled = 0;
  while (filled < head.size()) {
    const auto got = read(head.data() + filled, head.size() - filled);
    if (!got || *got == 0) break;
    filled += *got;
  }
  head.resize(filled);
  return head;
}

Result<std::string> read_head(const std::string& path, size_t most) {
  if (is_special_file(path)) {
    return Error{ErrorCode::kUnsupported,
                 "a pipe or a device, which can be read once only; save it to a file and give its "
                 "name",
                 "", -1};
  }
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  return read_head(source.stream(false), most);
}

}  // namespace assay
