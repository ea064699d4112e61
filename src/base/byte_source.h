#pragma once

// Input bytes. A plain file supports concurrent reads of any range. A compressed file or a pipe is
// a single stream, decoded in its own thread. Decoding is incremental, so memory use does not
// depend on the decoded size.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace assay {

// Reads the next bytes, 1..n of them, into dst; 0 at the end of the input.
using ReadFn = std::function<Result<size_t>(char* dst, size_t n)>;

enum class Compression : uint8_t { kNone, kGzip, kZstd };

class ByteSource {
 public:
  // path: file name, or "-" for standard input. Compression is detected by content, never by name.
  static Result<ByteSource> open(const std::string& path);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  Compression compression() const { return compression_; }
  // True when range() works: a regular, uncompressed file.
  bool seekable() const { return seekable_; }
  // Bytes as stored; 0 when unknown (pipe).
  uint64_t stored_bytes() const;
  // Fails if the size or modification time of a regular file differs from when it was opened: the
  // bytes read may then mix two versions. Streams and ranges make this check themselves at their
  // end.
  Status check_unchanged() const;
  // Allows another process to append to the file. Afterwards only a file that shrank is an error.
  void may_grow();

  // Checksum (base/checksum.h) of the stored bytes. Costs nothing if the whole input was read as a
  // stream or through summed(). Otherwise it reads a regular file again; `stop` cancels that.
  // nullopt for a pipe that was not read to its end. Do not call it while the stream is in use.
  Result<std::optional<uint64_t>> stored_checksum(const std::atomic<bool>* stop = nullptr) const;

  // Adds every stored byte read after this call to *counter, which must outlive the source.
  void count_reads(std::atomic<uint64_t>* counter);

  // The whole decoded input; call it once. With `ahead`, decoding runs in its own thread (useless
  // for plain files, where reading is a copy). The source must outlive the function.
  ReadFn stream(bool ahead);
  // Bytes [begin, end) of a seekable source. Independent of other ranges; thread-safe.
  ReadFn range(uint64_t begin, uint64_t end) const;
  // Reads a seekable source from start to end; call it once. If it is read to the end,
  // stored_checksum() costs nothing. Do not call stored_checksum() in another thread meanwhile.
  ReadFn summed();

 private:
  struct Handle;
  explicit ByteSource(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
  Compression compression_ = Compression::kNone;
  bool seekable_ = false;
};

// Decoders. Concatenated gzip members or zstd frames are decoded as one stream. Damaged input is
// kFormat, and a stream that ends early kTruncated; both are returned after all decodable bytes. A
// compression ratio far above that of any trace (a decompression bomb) is kUnsupported.
ReadFn gunzip(ReadFn stored);
ReadFn unzstd(ReadFn stored);
// A single zlib stream (RFC 1950). Errors as above, but without the limit of the ratio: the caller
// bounds what it accepts.
ReadFn unzlib(ReadFn stored);

// Runs `read` in its own thread, at most a few MiB ahead of the consumer. The thread ends when the
// returned function is destroyed. If no thread is available, returns `read` itself.
ReadFn read_ahead(ReadFn read);

}  // namespace assay
