#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/checksum.h"
#include "ingest/columnar/layout.h"

namespace assay {
namespace {

using columnar::Block;
using columnar::Head;

struct Bytes {
  const void* data = nullptr;
  uint64_t size = 0;
};

template <typename T>
Bytes bytes_of(const std::vector<T>& column) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {column.data(), column.size() * sizeof(T)};
}

Error write_error(const std::string& path, int code) {
  return {ErrorCode::kIo, std::string("cannot write: ") + std::strerror(code), path, -1};
}

// The texts of the pool behind each other, and the length of each.
struct PoolBytes {
  std::vector<uint32_t> lengths;
  std::string text;
};

PoolBytes pool_bytes(const StringPool& pool) {
  PoolBytes bytes;
  bytes.lengths.reserve(pool.size());
  for (size_t i = 0; i < pool.size(); ++i) {
    const std::string_view text = pool.view(StringId(i));
    bytes.lengths.push_back(static_cast<uint32_t>(text.size()));
    bytes.text += text;
  }
  return bytes;
}

std::vector<Block> directory_of(const std::vector<Bytes>& contents) {
  std::vector<Block> directory;
  uint64_t offset = columnar::padded(sizeof(Head) + contents.size() * sizeof(Block));
  for (const Bytes& content : contents) {
    directory.push_back({offset, content.size, checksum(content.data, content.size)});
    offset += columnar::padded(content.size);
  }
  return directory;
}

Head head_of(const std::vector<Block>& directory) {
  Head head{};
  std::memcpy(head.magic, kColumnarMagic.data(), sizeof(head.magic));
  head.byte_order = columnar::kByteOrder;
  head.version = columnar::kVersion;
  head.schema_hash = columnar::schema_hash();
  head.reader_stamp = columnar::reader_stamp();
  head.file_bytes = directory.back().offset + columnar::padded(directory.back().bytes);
  head.blocks = directory.size();
  head.directory_hash = checksum(directory.data(), directory.size() * sizeof(Block));
  head.head_hash = checksum(&head, offsetof(Head, head_hash));
  return head;
}

bool put(std::FILE* file, const void* data, uint64_t size) {
  return size == 0 || std::fwrite(data, 1, size, file) == size;
}

bool put_padded(std::FILE* file, uint64_t at, Bytes content) {
  static constexpr char kZeros[columnar::kAlignment] = {};
  const uint64_t end = at + content.size;
  return put(file, content.data, content.size) && put(file, kZeros, columnar::padded(end) - end);
}

bool put_all(std::FILE* file, const std::vector<Bytes>& contents) {
  const std::vector<Block> directory = directory_of(contents);
  const Head head = head_of(directory);
  bool good = put(file, &head, sizeof(head)) && put_padded(file, sizeof(head), bytes_of(directory));
  for (size_t i = 0; i < contents.size() && good; ++i) {
    good = put_padded(file, directory[i].offset, contents[i]);
  }
  return good && std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
}

}  // namespace

Result<SourceStamp> stamp_source(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return Error{ErrorCode::kIo, std::string("cannot stat: ") + std::strerror(errno), path, -1};
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kInvalidArgument, "is no regular file: only those can be cached", path,
                 -1};
  }
  std::error_code failed;
  SourceStamp stamp;
  stamp.path = std::filesystem::absolute(path, failed).lexically_normal().string();
  stamp.bytes = static_cast<uint64_t>(info.st_size);
  stamp.mtime_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  ASSAY_TRY_ASSIGN(stamp.hash, file_checksum(path));
  stamp.made_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  return stamp;
}

Status write_columnar(const Trace& trace, const SourceStamp& source, const std::string& path) {
  // What a reader of ours would refuse later is not written.
  ASSAY_TRY(columnar::check_trace(trace));
  const std::string info = columnar::encode_info(trace, source);
  const PoolBytes pool = pool_bytes(trace.strings);
  std::vector<Bytes> contents = {
      {info.data(), info.size()}, bytes_of(pool.lengths), {pool.text.data(), pool.text.size()}};
  columnar::for_each_column(
      trace, [&contents](auto, auto, const auto& column) { contents.push_back(bytes_of(column)); });
  const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return write_error(path, errno);
  errno = 0;
  bool written = put_all(file, contents);
  int code = errno;
  if (std::fclose(file) != 0 && written) {
    written = false;
    code = errno;
  }
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return Ok{};
  if (written) code = errno;
  std::remove(temporary.c_str());
  return write_error(path, code);
}

}  // namespace assay
