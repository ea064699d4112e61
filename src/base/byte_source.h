#pragma once

// Input bytes. A plain file allows any range, from several threads. A compressed file or a pipe is
// one stream, decoded by a separate thread in parallel with the consumer. Decoding is streaming, so
// memory is bounded for any claimed size.

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
  // Fails where a regular file has another size or time than when it was opened: what was read of
  // it belongs to no one state. Streams and ranges say so themselves when they come to their end.
  Status check_unchanged() const;
  // A writer may add to the file: only one that became shorter fails then.
  void may_grow();

  // Checksum (base/checksum.h) of the bytes as stored. It is free if the whole input was read as a
  // stream or through summed(). Otherwise a regular file is read again, and `stop` ends that early.
  // nullopt for a pipe that was not read to its end. Not while the stream is in use.
  Result<std::optional<uint64_t>> stored_checksum(const std::atomic<bool>* stop = nullptr) const;

  // Adds every stored byte read after this call to *counter, which must outlive the source.
  void count_reads(std::atomic<uint64_t>* counter);

  // The whole input, decoded, once. With `ahead`, decoding runs in its own thread (useless for
  // plain files, where reading is a copy). The source must outlive the function.
  ReadFn stream(bool ahead);
  // Bytes [begin, end) of a seekable source. Independent of other ranges; thread-safe.
  ReadFn range(uint64_t begin, uint64_t end) const;
  // All of a seekable source, once: stored_checksum() costs nothing more where it was read to its
  // end. Not while that runs in another thread.
  ReadFn summed();

 private:
  struct Handle;
  explicit ByteSource(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
  Compression compression_ = Compression::kNone;
  bool seekable_ = false;
};

// Decoders over any stored bytes, several members or frames in a row included. Damage is kFormat, a
// stream that ends early kTruncated: everything before it has been delivered by then. Output that
// dwarfs its input beyond any trace (a decompression bomb) is kUnsupported.
ReadFn gunzip(ReadFn stored);
ReadFn unzstd(ReadFn stored);

// Runs `read` in a separate thread, at most a few MiB ahead of the consumer. The thread ends when
// the returned function is destroyed. If no thread is available, returns `read` itself.
ReadFn read_ahead(ReadFn read);

}  // namespace assay
