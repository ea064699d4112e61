// Streaming decoders: gzip and zlib by ISA-L, Zstandard by libzstd (docs/decisions/0004-gzip.md).

#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_source.h"

namespace assay {
namespace {

constexpr size_t kStoredBlock = 256 << 10;

// Traces compress 10 to 60 times; deflate can reach 1,000. Large output far beyond the ratio of
// traces is a decompression bomb.
constexpr uint64_t kBombBytes = 2ull << 30;
constexpr uint64_t kBombRatio = 200;

bool looks_like_bomb(uint64_t stored, uint64_t decoded) {
  return decoded > kBombBytes && decoded / kBombRatio > stored;
}

Error bomb_error() {
  return Error{ErrorCode::kUnsupported,
               "expands more than 200-fold beyond 2 GiB: refused as a decompression bomb; "
               "decompress it yourself if it is meant",
               "", -1};
}

// Reads stored bytes in blocks, for both decoders.
struct StoredInput {
  ReadFn read;
  std::vector<char> block = std::vector<char>(kStoredBlock);
  uint64_t total = 0;

  // The next block; 0 bytes at the end.
  Result<size_t> next() {
    auto got = read(block.data(), block.size());
    if (got) total += *got;
    return got;
  }
};

const char* gzip_error_text(int code) {
  switch (code) {
    case ISAL_INCORRECT_CHECKSUM:
      return "gzip checksum does not match: the file is damaged";
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
      return "not a gzip member where one should begin";
    default:
      return "gzip data is damaged";
  }
}

// Members of gzip, or one zlib stream (RFC 1950), after which all bytes are ignored.
struct InflateDecoder {
  InflateDecoder(ReadFn read, bool gzip) : stored_{std::move(read)}, gzip_(gzip) {
    isal_inflate_init(&state_);
    state_.crc_flag = gzip ? ISAL_GZIP : ISAL_ZLIB;
  }

  Result<size_t> decode(char* dst, size_t n) {
    state_.next_out = reinterpret_cast<uint8_t*>(dst);
    state_.avail_out = static_cast<uint32_t>(n);
    while (state_.avail_out == n) {
      if (state_.block_state == ISAL_BLOCK_FINISH) {
        if (!gzip_) return size_t{0};
        ASSAY_TRY_ASSIGN(const bool more, begin_member());
        if (!more) return size_t{0};
      }
      if (state_.avail_in == 0) {
        ASSAY_TRY_ASSIGN(const bool more, refill());
        if (!more && !holds_output()) return truncated();
      }
      const int code = isal_inflate(&state_);
      if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) {
        return Error{ErrorCode::kFormat, gzip_ ? gzip_error_text(code) : "zlib data is damaged", "",
                     static_cast<int64_t>(decoded_)};
      }
    }
    const size_t produced = n - state_.avail_out;
    decoded_ += produced;
    if (looks_like_bomb(stored_.total, decoded_)) return bomb_error();
    return produced;
  }

 private:
  // ISA-L may keep decoded bytes until the next call, even after all input is consumed.
  bool holds_output() const { return state_.tmp_out_valid > state_.tmp_out_processed; }

  Result<bool> refill() {
    ASSAY_TRY_ASSIGN(const size_t got, stored_.next());
    state_.next_in = reinterpret_cast<uint8_t*>(stored_.block.data());
    state_.avail_in = static_cast<uint32_t>(got);
    return got != 0;
  }

  // After a member: start the next one, or return false at the end. Zero padding after the last
  // member is allowed, as in gzip.
  Result<bool> begin_member() {
    for (;;) {
      if (state_.avail_in == 0) {
        ASSAY_TRY_ASSIGN(const bool more, refill());
        if (!more) return false;
      }
      if (*state_.next_in != 0) break;
      ++state_.next_in;
      --state_.avail_in;
    }
    constexpr uint8_t kFirstByte = 0x1f;
    if (*state_.next_in != kFirstByte) {
      return Error{ErrorCode::kFormat,
                   "bytes that are not gzip follow the end of its data: the file is damaged, or "
                   "two were joined",
                   "", static_cast<int64_t>(decoded_)};
    }
    uint8_t* const next_in = state_.next_in;
    const uint32_t avail_in = state_.avail_in;
    uint8_t* const next_out = state_.next_out;
    const uint32_t avail_out = state_.avail_out;
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP;
    state_.next_in = next_in;
    state_.avail_in = avail_in;
    state_.next_out = next_out;
    state_.avail_out = avail_out;
    return true;
  }

  Error truncated() const {
    return Error{ErrorCode::kTruncated,
                 std::string("the ") + (gzip_ ? "gzip" : "zlib") + " stream ends too early", "",
                 static_cast<int64_t>(decoded_)};
  }

  StoredInput stored_;
  bool gzip_;
  inflate_state state_;
  uint64_t decoded_ = 0;
};

struct ZstdDecoder {
  // Accepts windows up to 512 MiB (zstd --long=29); the frame header sets the memory needed.
  explicit ZstdDecoder(ReadFn read) : stored_{std::move(read)}, stream_(ZSTD_createDStream()) {
    constexpr int kLargestWindowBits = 29;
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kLargestWindowBits);
  }

  Result<size_t> decode(char* dst, size_t n) {
    ZSTD_outBuffer out{dst, n, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        ASSAY_TRY_ASSIGN(const size_t got, stored_.next());
        in_ = {stored_.block.data(), got, 0};
        if (got == 0) return end_of_input();
      }
      const size_t code = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
        return Error{ErrorCode::kUnsupported,
                     "unsupported: zstd data with a window above 512 MiB (--long=30 or 31); "
                     "decompress it first",
                     "", static_cast<int64_t>(decoded_)};
      }
      if (ZSTD_isError(code)) {
        return Error{ErrorCode::kFormat,
                     std::string("zstd data is damaged: ") + ZSTD_getErrorName(code), "",
                     static_cast<int64_t>(decoded_)};
      }
      frame_open_ = code != 0;
    }
    decoded_ += out.pos;
    if (looks_like_bomb(stored_.total, decoded_)) return bomb_error();
    return out.pos;
  }

 private:
  struct FreeStream {
    void operator()(ZSTD_DStream* s) const { ZSTD_freeDStream(s); }
  };

  Result<size_t> end_of_input() const {
    if (!frame_open_) return size_t{0};
    return Error{ErrorCode::kTruncated, "the zstd stream ends too early", "",
                 static_cast<int64_t>(decoded_)};
  }

  StoredInput stored_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool frame_open_ = false;
  uint64_t decoded_ = 0;
};

// Repeats the same error for calls after a failure: a library that continues in damaged data may
// write out of bounds.
template <typename Decoder>
struct UntilFailure {
  template <typename... Options>
  explicit UntilFailure(ReadFn stored, Options... options)
      : decoder(std::move(stored), options...) {}

  Result<size_t> decode(char* dst, size_t n) {
    if (failed) return *failed;
    auto got = decoder.decode(dst, n);
    if (!got) failed = got.error();
    return got;
  }

  Decoder decoder;
  std::optional<Error> failed;
};

}  // namespace

ReadFn gunzip(ReadFn stored) {
  auto decoder = std::make_shared<UntilFailure<InflateDecoder>>(std::move(stored), true);
  return [decoder](char* dst, size_t n) { return decoder->decode(dst, n); };
}

ReadFn unzlib(ReadFn stored) {
  auto decoder = std::make_shared<UntilFailure<InflateDecoder>>(std::move(stored), false);
  return [decoder](char* dst, size_t n) { return decoder->decode(dst, n); };
}

ReadFn unzstd(ReadFn stored) {
  auto decoder = std::make_shared<UntilFailure<ZstdDecoder>>(std::move(stored));
  return [decoder](char* dst, size_t n) { return decoder->decode(dst, n); };
}

}  // namespace assay
