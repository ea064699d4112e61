#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "base/checksum.h"
#include "base/export_file.h"
#include "base/files.h"
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

// The concatenated texts of the pool, and the length of each.
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
  const Error no_file{ErrorCode::kInvalidArgument,
                      "is not a regular file: only those can be cached", path, -1};
  if (path == "-") return no_file;
  ASSAY_TRY_ASSIGN(const FileFacts facts, file_facts(path));
  if (facts.kind != FileKind::kFile) return no_file;
  SourceStamp stamp;
  stamp.path = absolute_path(path);
  stamp.bytes = facts.bytes;
  stamp.mtime_ns = facts.mtime_ns;
  stamp.made_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  return stamp;
}

Status write_columnar(const Trace& trace, const SourceStamp& source, const std::string& path) {
  // Do not write data that the reader would reject.
  ASSAY_TRY(columnar::check_trace(trace));
  const std::string info = columnar::encode_info(trace, source);
  const PoolBytes pool = pool_bytes(trace.strings);
  std::vector<Bytes> contents = {
      {info.data(), info.size()}, bytes_of(pool.lengths), {pool.text.data(), pool.text.size()}};
  columnar::for_each_column(
      trace, [&contents](auto, auto, const auto& column) { contents.push_back(bytes_of(column)); });
  return export_file_with(path, [&contents](const std::string& temporary) -> Status {
    ASSAY_TRY_ASSIGN(const FileHandle file, open_file(temporary, "wb"));
    errno = 0;
    if (put_all(file.get(), contents)) return Ok{};
    return write_error(temporary, errno);
  });
}

}  // namespace assay
