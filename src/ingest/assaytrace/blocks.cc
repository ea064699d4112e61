#include "ingest/assaytrace/blocks.h"

#include <algorithm>

namespace assay {
namespace {

constexpr size_t kReadBytes = 1 << 20;
// Bounds the work for a hostile file of overlapping block headers, each of which claims a large
// payload.
constexpr uint64_t kMostVainBytes = 4ull << 30;

}  // namespace

std::string_view text_of_record(std::string_view bytes) {
  const auto record = record_from<wire::String>(bytes);
  if (bytes.size() < sizeof(record) || record.length > bytes.size() - sizeof(record)) return {};
  return bytes.substr(sizeof(record), record.length);
}

Result<AssayTraceBlocks> AssayTraceBlocks::open(ReadFn read) {
  AssayTraceBlocks blocks(std::move(read));
  ASSAY_TRY(blocks.read_header());
  return blocks;
}

Result<bool> AssayTraceBlocks::ensure(size_t bytes) {
  while (window_.size() - at_ < bytes && !ended_) {
    if (at_ >= kReadBytes) {
      window_.erase(0, at_);
      base_ += at_;
      at_ = 0;
    }
    const size_t before = window_.size();
    window_.resize(before + kReadBytes);
    const Result<size_t> got = read_(window_.data() + before, kReadBytes);
    window_.resize(before + (got ? *got : 0));
    if (!got && got.error().code != ErrorCode::kTruncated) return got.error();
    ended_ = !got || *got == 0;
  }
  return window_.size() - at_ >= bytes;
}

Status AssayTraceBlocks::read_header() {
  ASSAY_TRY_ASSIGN(const bool there, ensure(sizeof(header_)));
  if (!there) {
    cut_ = true;
    header_damaged_ = true;
    at_ = window_.size();
    return Ok{};
  }
  std::memcpy(&header_, window_.data(), sizeof(header_));
  header_damaged_ = header_.checksum != wire::file_checksum(header_);
  if (!header_damaged_ && header_.version > wire::kVersion) {
    return Error{ErrorCode::kUnsupported,
                 "unsupported: a recording of a newer Assay (format " +
                     std::to_string(header_.version) + ", this one reads " +
                     std::to_string(wire::kVersion) + "); read it with that version",
                 "", -1};
  }
  session_known_ = !header_damaged_;
  const size_t bytes = header_damaged_ ? sizeof(header_) : header_.header_bytes;
  ASSAY_TRY_ASSIGN(const bool skipped, ensure(bytes));
  at_ = skipped ? bytes : window_.size();
  return Ok{};
}

Result<bool> AssayTraceBlocks::whole_block_ahead(wire::BlockHeader& header) {
  ASSAY_TRY_ASSIGN(const bool head_there, ensure(sizeof(header)));
  if (!head_there) return false;
  std::memcpy(&header, window_.data() + at_, sizeof(header));
  const bool shaped = header.magic == wire::kBlockMagic &&
                      header.payload_bytes <= wire::kMaxPayload && header.payload_bytes % 8 == 0;
  if (!shaped || (session_known_ && header.session != header_.session)) return false;
  ASSAY_TRY_ASSIGN(const bool all_there, ensure(sizeof(header) + header.payload_bytes));
  if (!all_there || vain_bytes_ > kMostVainBytes) return false;
  const bool whole =
      header.checksum == wire::block_checksum(header, window_.data() + at_ + sizeof(header));
  if (!whole) vain_bytes_ += header.payload_bytes;
  return whole;
}

void AssayTraceBlocks::note_damage() {
  if (first_damage_ < 0) first_damage_ = static_cast<int64_t>(base_ + at_);
}

void AssayTraceBlocks::note_sequence(uint32_t sequence) {
  if (sequence > next_sequence_) {
    damaged_ += sequence - next_sequence_;
    note_damage();
  }
  next_sequence_ = std::max<uint64_t>(next_sequence_, uint64_t{sequence} + 1);
}

Result<bool> AssayTraceBlocks::next(std::string_view& payload) {
  constexpr size_t kStep = 8;  // blocks start at multiples of 8
  wire::BlockHeader header = {};
  bool passed_over = false;
  for (;;) {
    ASSAY_TRY_ASSIGN(const bool more, ensure(1));
    if (!more) {
      cut_ = cut_ || passed_over;
      return false;
    }
    ASSAY_TRY_ASSIGN(const bool whole, whole_block_ahead(header));
    if (whole) break;
    note_damage();
    passed_over = true;
    at_ = std::min(at_ + kStep, window_.size());
  }
  note_sequence(header.sequence);
  header_.session = header.session;
  session_known_ = true;
  payload = std::string_view(window_).substr(at_ + sizeof(header), header.payload_bytes);
  at_ += sizeof(header) + header.payload_bytes;
  return true;
}

}  // namespace assay
