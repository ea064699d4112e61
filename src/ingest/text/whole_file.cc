#include "ingest/text/whole_file.h"

namespace assay {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

}  // namespace

Result<std::string> read_whole_file(const std::string& path, const Error& too_large) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  const ReadFn read = source.stream(false);
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
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  return read_head(source.stream(false), most);
}

}  // namespace assay
