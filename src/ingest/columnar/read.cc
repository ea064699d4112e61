#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/checksum.h"
#include "base/files.h"
#include "base/platform/platform.h"
#include "ingest/columnar/layout.h"
#include "trace/unrecorded.h"

namespace assay {
namespace {

using columnar::Block;
using columnar::Head;

constexpr const char* kMakeAgain = "; make it again: assay cache SOURCE -o FILE.assay";

Error damaged(const std::string& what) {
  return Error{ErrorCode::kFormat, "damaged: " + what + kMakeAgain, "", -1};
}

Error foreign(const std::string& what) {
  return Error{ErrorCode::kUnsupported, "unsupported: " + what + kMakeAgain, "", -1};
}

class OpenFile {
 public:
  static Result<OpenFile> open(const std::string& path) {
    ASSAY_TRY_ASSIGN(const int descriptor, open_descriptor(path));
    OpenFile file(descriptor);
    ASSAY_TRY_ASSIGN(const FileFacts facts, file_facts(descriptor));
    file.bytes_ = facts.bytes;
    return file;
  }
  OpenFile(OpenFile&& other) noexcept : fd_(other.fd_), bytes_(other.bytes_) { other.fd_ = -1; }
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  uint64_t bytes() const { return bytes_; }

  Status read(void* to, uint64_t size, uint64_t offset) const {
    char* at = static_cast<char*>(to);
    while (size > 0) {
      const int64_t got = platform::read_at(fd_, at, size, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return Error{ErrorCode::kIo, std::string("cannot read: ") + std::strerror(errno), "", -1};
      }
      if (got == 0) return damaged("the file ends early");
      at += got;
      offset += static_cast<uint64_t>(got);
      size -= static_cast<uint64_t>(got);
    }
    return Ok{};
  }

 private:
  explicit OpenFile(int fd) : fd_(fd) {}
  int fd_;
  uint64_t bytes_ = 0;
};

// Checks byte order and version first: the other fields are known only for this version.
Status check_head(const Head& head, uint64_t file_bytes) {
  if (std::memcmp(head.magic, kColumnarMagic.data(), sizeof(head.magic)) != 0) {
    return Error{ErrorCode::kFormat, "is no .assay file", "", 0};
  }
  constexpr uint32_t kSwapped = 0x04030201;
  if (head.byte_order == kSwapped) {
    return foreign("written on a machine of the other byte order");
  }
  if (head.byte_order != columnar::kByteOrder) return damaged("the mark of the byte order");
  if (head.version != columnar::kVersion) {
    return foreign("format version " + std::to_string(head.version) +
                   ", this Assay reads version " + std::to_string(columnar::kVersion));
  }
  if (head.head_hash != checksum(&head, offsetof(Head, head_hash))) {
    return damaged("the checksum of the head does not match");
  }
  if (head.file_bytes != file_bytes) {
    return damaged("the file has " + std::to_string(file_bytes) + " bytes instead of " +
                   std::to_string(head.file_bytes) + " (cut short?)");
  }
  if (head.schema_hash != columnar::schema_hash()) {
    return foreign("made by an Assay with other tables");
  }
  if (head.reader_stamp != columnar::reader_stamp()) {
    return foreign(
        "made by an Assay with other readers, which may have read the source differently");
  }
  return Ok{};
}

class Reader {
 public:
  static Result<Reader> open(const std::string& path) {
    ASSAY_TRY_ASSIGN(OpenFile file, OpenFile::open(path));
    Reader reader(std::move(file));
    ASSAY_TRY(reader.read_directory());
    return reader;
  }
  size_t blocks() const { return directory_.size(); }

  // Reads block `number` as elements of T. Nonzero padding counts as damage.
  template <typename Container>
  Status read(size_t number, const std::string& name, Container& out) const {
    using T = typename Container::value_type;
    const Block& block = directory_[number];
    if (block.bytes % sizeof(T) != 0) return damaged("the size of block " + name);
    out.resize(block.bytes / sizeof(T));
    ASSAY_TRY(file_.read(out.data(), block.bytes, block.offset));
    if (checksum(out.data(), block.bytes) != block.hash) {
      return damaged("the checksum of block " + name + " does not match");
    }
    return check_zeros(block.offset + block.bytes, columnar::padded(block.bytes) - block.bytes,
                       name);
  }

 private:
  explicit Reader(OpenFile file) : file_(std::move(file)) {}

  Status check_zeros(uint64_t offset, uint64_t size, const std::string& name) const {
    char zeros[columnar::kAlignment] = {};
    ASSAY_TRY(file_.read(zeros, size, offset));
    const bool clean = std::all_of(zeros, zeros + size, [](char c) { return c == 0; });
    if (!clean) return damaged("bytes after block " + name);
    return Ok{};
  }

  Status read_directory() {
    Head head{};
    if (file_.bytes() < sizeof(head)) return damaged("the file ends within its head");
    ASSAY_TRY(file_.read(&head, sizeof(head), 0));
    ASSAY_TRY(check_head(head, file_.bytes()));
    if (head.blocks > file_.bytes() / sizeof(Block)) return damaged("the number of blocks");
    const uint64_t bytes = head.blocks * sizeof(Block);
    if (sizeof(head) + bytes > file_.bytes()) return damaged("the number of blocks");
    directory_.resize(head.blocks);
    ASSAY_TRY(file_.read(directory_.data(), bytes, sizeof(head)));
    if (checksum(directory_.data(), bytes) != head.directory_hash) {
      return damaged("the checksum of the directory does not match");
    }
    uint64_t offset = columnar::padded(sizeof(head) + bytes);
    ASSAY_TRY(check_zeros(sizeof(head) + bytes, offset - sizeof(head) - bytes, "directory"));
    for (const Block& block : directory_) {
      if (block.offset != offset || block.bytes > file_.bytes() - offset) {
        return damaged("the directory of blocks");
      }
      offset += columnar::padded(block.bytes);
      if (offset > file_.bytes()) return damaged("the directory of blocks");
    }
    if (offset != file_.bytes()) return damaged("the directory of blocks");
    return Ok{};
  }

  OpenFile file_;
  std::vector<Block> directory_;
};

Status read_strings(const Reader& reader, StringPool& pool) {
  std::vector<uint32_t> lengths;
  std::string text;
  ASSAY_TRY(reader.read(columnar::kStringLengths, "string lengths", lengths));
  ASSAY_TRY(reader.read(columnar::kStringBytes, "strings", text));
  size_t at = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > text.size() - at) return damaged("the lengths of strings");
    // A repeated text would shift the ids of all later ones.
    if (pool.intern(std::string_view(text).substr(at, lengths[i])).index() != i) {
      return damaged("a string occurs twice");
    }
    at += lengths[i];
  }
  if (at != text.size()) return damaged("the lengths of strings");
  return Ok{};
}

Status read_info(const Reader& reader, Trace& trace, SourceStamp& source) {
  if (reader.blocks() < columnar::kFirstColumn) return damaged("blocks are missing");
  std::string info;
  ASSAY_TRY(reader.read(columnar::kInfoBlock, "info", info));
  if (!columnar::decode_info(info, trace, source)) return damaged("block info");
  return Ok{};
}

}  // namespace

Result<Trace> read_columnar(const std::string& path) {
  ASSAY_TRY_ASSIGN(const Reader reader, Reader::open(path));
  Trace trace;
  SourceStamp source;
  ASSAY_TRY(read_info(reader, trace, source));
  trace.source_checksum = source.hash;
  ASSAY_TRY(read_strings(reader, trace.strings));
  Status status = Ok{};
  size_t number = columnar::kFirstColumn;
  columnar::for_each_column(
      trace, [&](std::string_view table, std::string_view name, auto& column) {
        if (!status) return;
        if (number >= reader.blocks()) {
          status = damaged("blocks are missing");
          return;
        }
        status = reader.read(number++, std::string(table) + "." + std::string(name), column);
      });
  ASSAY_TRY(status);
  if (number != reader.blocks()) return damaged("more blocks than columns");
  ASSAY_TRY(columnar::check_trace(trace));
  trace.unrecorded = unrecorded_spans(trace);
  return trace;
}

Result<SourceStamp> read_columnar_stamp(const std::string& path) {
  ASSAY_TRY_ASSIGN(const Reader reader, Reader::open(path));
  Trace trace;
  SourceStamp source;
  ASSAY_TRY(read_info(reader, trace, source));
  return source;
}

}  // namespace assay
