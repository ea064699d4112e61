#include "base/byte_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/checksum.h"
#include "base/files.h"
#include "base/platform/platform.h"

namespace assay {
namespace {

Error system_error(const char* what) {
  return Error{ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno), "", -1};
}

Result<size_t> read_some(int fd, char* dst, size_t n) {
  for (;;) {
    const ssize_t got = ::read(fd, dst, n);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return system_error("cannot read");
  }
}

Result<size_t> pread_some(int fd, char* dst, size_t n, uint64_t offset) {
  for (;;) {
    const int64_t got = platform::read_at(fd, dst, n, offset);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return system_error("cannot read");
  }
}

Compression compression_of(const std::string& head) {
  if (head.size() >= 2 && head[0] == '\x1f' && head[1] == '\x8b') return Compression::kGzip;
  if (head.size() >= 4 && std::memcmp(head.data(), "\x28\xb5\x2f\xfd", 4) == 0) {
    return Compression::kZstd;
  }
  // pzstd files start with a skippable frame: 0x184D2A50 to 0x184D2A5F (RFC 8878, 3.1.2).
  if (head.size() >= 4 && (head[0] & 0xF0) == 0x50 &&
      std::memcmp(head.data() + 1, "\x2a\x4d\x18", 3) == 0) {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

}  // namespace

struct ByteSource::Handle {
  int fd = -1;
  bool owned = false;
  bool regular = false;
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
  bool grows = false;
  std::atomic<uint64_t>* counter = nullptr;
  std::string head;  // first bytes of a pipe, read to detect the compression, returned first
  RunningChecksum streamed;  // of the bytes returned by stream() or summed()
  bool streamed_all = false;

  ~Handle() {
    if (owned) ::close(fd);
  }

  // Error for a file that has become shorter since it was opened.
  Error ended_early() const;
  Status check_unchanged() const;
};

Error ByteSource::Handle::ended_early() const {
  return {ErrorCode::kIo,
          "changed while it was read: it had " + std::to_string(bytes) +
              " bytes when it was opened, and has fewer now; read it again when no process writes "
              "to it",
          "", -1};
}

Status ByteSource::Handle::check_unchanged() const {
  if (!regular) return Ok{};
  ASSAY_TRY_ASSIGN(const FileFacts now, file_facts(fd));
  if (now.bytes < bytes) return ended_early();
  if (grows) return Ok{};
  if (now.bytes == bytes && now.mtime_ns == mtime_ns) return Ok{};
  return Error{ErrorCode::kIo,
               "changed while it was read: somebody writes to it; read it again when that is done",
               "", -1};
}

ByteSource::ByteSource(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::open(const std::string& path) {
  auto handle = std::make_unique<Handle>();
  if (path == "-") {
    handle->fd = STDIN_FILENO;
  } else {
    ASSAY_TRY_ASSIGN(handle->fd, open_descriptor(path));
    handle->owned = true;
  }
  ASSAY_TRY_ASSIGN(const FileFacts facts, file_facts(handle->fd));
  if (facts.kind == FileKind::kFolder) {
    return Error{ErrorCode::kInvalidArgument, "is a directory", "", -1};
  }
  handle->regular = facts.kind == FileKind::kFile;
  // A redirected file with a nonzero offset is treated as a pipe.
  if (handle->regular && ::lseek(handle->fd, 0, SEEK_CUR) != 0) handle->regular = false;
  if (handle->regular) handle->bytes = facts.bytes;
  handle->mtime_ns = facts.mtime_ns;
  handle->head.resize(4);
  size_t filled = 0;
  while (filled < handle->head.size()) {
    char* dst = handle->head.data() + filled;
    const size_t want = handle->head.size() - filled;
    auto got = handle->regular ? pread_some(handle->fd, dst, want, filled)
                               : read_some(handle->fd, dst, want);
    if (!got) return got.take_error();
    if (*got == 0) break;
    filled += *got;
  }
  handle->head.resize(filled);
  const Compression compression = compression_of(handle->head);
  const bool seekable = handle->regular && compression == Compression::kNone;
  if (handle->regular) handle->head.clear();
  ByteSource source(std::move(handle));
  source.compression_ = compression;
  source.seekable_ = seekable;
  return source;
}

void ByteSource::count_reads(std::atomic<uint64_t>* counter) { handle_->counter = counter; }

uint64_t ByteSource::stored_bytes() const { return handle_->bytes; }

Status ByteSource::check_unchanged() const { return handle_->check_unchanged(); }

void ByteSource::may_grow() { handle_->grows = true; }

ReadFn ByteSource::range(uint64_t begin, uint64_t end) const {
  return [handle = handle_.get(), at = begin, end](char* dst, size_t n) mutable -> Result<size_t> {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(n, end - at));
    if (want == 0) return size_t{0};
    auto got = pread_some(handle->fd, dst, want, at);
    if (got && *got == 0 && at < handle->bytes) return handle->ended_early();
    if (got) at += *got;
    if (got && (*got == 0 || at == end)) ASSAY_TRY(handle->check_unchanged());
    if (got && handle->counter != nullptr)
      handle->counter->fetch_add(*got, std::memory_order_relaxed);
    return got;
  };
}

ReadFn ByteSource::summed() {
  Handle* handle = handle_.get();
  handle->streamed = {};
  handle->streamed_all = false;
  return [handle, at = uint64_t{0}, read = range(0, handle->bytes)](
             char* dst, size_t n) mutable -> Result<size_t> {
    auto got = read(dst, n);
    if (!got) return got;
    handle->streamed.add(dst, *got);
    at += *got;
    handle->streamed_all = at == handle->bytes;
    return got;
  };
}

Result<std::optional<uint64_t>> ByteSource::stored_checksum(const std::atomic<bool>* stop) const {
  constexpr size_t kPiece = size_t{256} << 10;
  if (handle_->streamed_all) return std::optional(handle_->streamed.value());
  if (!handle_->regular) return std::optional<uint64_t>();
  RunningChecksum sum;
  std::vector<char> piece(kPiece);
  for (uint64_t at = 0; at < handle_->bytes;) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return std::optional<uint64_t>();
    const size_t want = static_cast<size_t>(std::min<uint64_t>(kPiece, handle_->bytes - at));
    ASSAY_TRY_ASSIGN(const size_t got, pread_some(handle_->fd, piece.data(), want, at));
    if (got == 0) return handle_->ended_early();
    sum.add(piece.data(), got);
    at += got;
  }
  return std::optional(sum.value());
}

ReadFn ByteSource::stream(bool ahead) {
  Handle* handle = handle_.get();
  ReadFn stored = [handle, given = size_t{0}](char* dst, size_t n) mutable -> Result<size_t> {
    if (given < handle->head.size()) {
      const size_t take = std::min(n, handle->head.size() - given);
      std::memcpy(dst, handle->head.data() + given, take);
      given += take;
      handle->streamed.add(dst, take);
      return take;
    }
    auto got = read_some(handle->fd, dst, n);
    if (got && *got == 0) ASSAY_TRY(handle->check_unchanged());
    if (got) handle->streamed.add(dst, *got);
    handle->streamed_all = got && *got == 0;
    if (got && handle->counter != nullptr)
      handle->counter->fetch_add(*got, std::memory_order_relaxed);
    return got;
  };
  ReadFn decoded = compression_ == Compression::kGzip   ? gunzip(std::move(stored))
                   : compression_ == Compression::kZstd ? unzstd(std::move(stored))
                                                        : std::move(stored);
  const bool worthwhile = ahead && compression_ != Compression::kNone;
  return worthwhile ? read_ahead(std::move(decoded)) : decoded;
}

}  // namespace assay
