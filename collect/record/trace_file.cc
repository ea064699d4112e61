#include "collect/record/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "collect/record/clocks.h"

namespace assay::record {
namespace {

std::string with_process(const std::string& path, int again) {
  const size_t slash = path.rfind('/');
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) dot = path.size();
  std::string mark = "." + std::to_string(::getpid());
  if (again > 0) mark += "-" + std::to_string(again + 1);
  return path.substr(0, dot) + mark + path.substr(dot);
}

}  // namespace

TraceFile::~TraceFile() {
  if (fd_ >= 0) ::close(fd_);
}

void TraceFile::abandon() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  broken_ = true;
}

bool TraceFile::open(const Settings& settings) {
  constexpr int kMostFiles = 1000;  // for programs that exec under one process id
  for (int again = 0; again < kMostFiles && fd_ < 0; ++again) {
    path_ = with_process(settings.path, again);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) {
    error_ = errno;
    broken_ = true;
    return false;
  }
  limit(settings.session, settings.max_bytes);
  return true;
}

void TraceFile::limit(uint64_t session, uint64_t max_bytes) {
  session_ = session;
  max_bytes_ = max_bytes;
  block_bytes_ = std::clamp<size_t>(static_cast<size_t>(max_bytes_ / 8), kReserved, kBlockBytes);
  block_.reserve(block_bytes_ + sizeof(wire::BlockHeader));
  block_.resize(sizeof(wire::BlockHeader));
}

bool TraceFile::resume(const std::string& path, uint64_t session, uint64_t max_bytes,
                       const End& end) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  const auto at = static_cast<off_t>(end.bytes);
  const bool whole = fd_ >= 0 && ::lseek(fd_, 0, SEEK_END) >= at;
  if (!whole || ::ftruncate(fd_, at) != 0 || ::lseek(fd_, at, SEEK_SET) != at) {
    error_ = fd_ >= 0 && !whole ? EIO : errno;
    broken_ = true;
    return false;
  }
  limit(session, max_bytes);
  bytes_ = end.bytes;
  sequence_ = end.sequence;
  next_text_ = end.next_text;
  records_ = end.records;
  return true;
}

void TraceFile::begin(uint32_t pid) {
  wire::FileHeader header = {};
  std::memcpy(header.magic, wire::kMagic, sizeof(header.magic));
  header.version = wire::kVersion;
  header.header_bytes = sizeof(header);
  header.byte_order = wire::kByteOrder;
  header.pid = pid != 0 ? pid : static_cast<uint32_t>(::getpid());
  header.session = session_;
  header.monotonic_ns = monotonic_ns();
  header.realtime_ns = realtime_ns();
  header.checksum = wire::file_checksum(header);
  write_all(&header, sizeof(header));
}

uint32_t TraceFile::text(std::string_view value) {
  if (value.empty()) return wire::kNoString;
  const auto [found, added] = texts_.try_emplace(std::string(value), next_text_);
  if (added) define(next_text_++, value);
  return found->second;
}

void TraceFile::define(uint32_t id, std::string_view value) {
  value = value.substr(0, wire::kMaxText);
  const wire::String record = wire::string_record(id, value.size());
  append(&record, sizeof(record), value.data(), value.size());
}

void TraceFile::append(const void* record, size_t bytes, const void* tail, size_t tail_bytes) {
  wire::RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  const uint32_t events = wire::is_event(header.kind) ? 1 : 0;
  // Flush before, not after, the record: no block may end between a record and its progress note.
  if (block_.size() >= block_bytes_) flush();
  if (broken_) return count_lost(wire::LostReason::kWrite, events);
  if (full_) return count_lost(wire::LostReason::kByteLimit, events);
  const auto* first = static_cast<const unsigned char*>(record);
  block_.insert(block_.end(), first, first + bytes);
  if (tail_bytes > 0) {
    const auto* rest = static_cast<const unsigned char*>(tail);
    block_.insert(block_.end(), rest, rest + tail_bytes);
    block_.resize(block_.size() + wire::padded(tail_bytes) - tail_bytes);
  }
  ++block_records_;
  block_events_ += events;
}

void TraceFile::flush() {
  if (block_records_ == 0 || broken_ || full_) return;
  if (bytes_ + block_.size() + kReserved > max_bytes_) {
    full_ = true;
    drop_block(wire::LostReason::kByteLimit);
    return;
  }
  write_block();
}

void TraceFile::drop_block(wire::LostReason reason) {
  count_lost(reason, block_events_);
  block_.resize(sizeof(wire::BlockHeader));
  block_records_ = 0;
  block_events_ = 0;
}

void TraceFile::write_block() {
  wire::BlockHeader header = {};
  header.magic = wire::kBlockMagic;
  header.payload_bytes = static_cast<uint32_t>(block_.size() - sizeof(header));
  header.records = block_records_;
  header.sequence = sequence_;
  header.session = session_;
  header.checksum = wire::block_checksum(header, block_.data() + sizeof(header));
  std::memcpy(block_.data(), &header, sizeof(header));
  if (progress_ != nullptr) {
    progress_->before_block(bytes_, sequence_, records_ + block_records_, next_text_);
  }
  if (!write_all(block_.data(), block_.size())) return drop_block(wire::LostReason::kWrite);
  ++sequence_;
  records_ += block_records_;
  events_ += block_events_;
  block_.resize(sizeof(header));
  block_records_ = 0;
  block_events_ = 0;
}

// On failure the file ends with its last complete block.
bool TraceFile::write_all(const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  size_t written = 0;
  while (written < bytes) {
    const ssize_t got = ::write(fd_, at + written, bytes - written);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      error_ = got < 0 ? errno : EIO;
      broken_ = true;
      const auto end = static_cast<off_t>(bytes_);
      // If truncation fails, stop writing: a further block would follow half a block.
      cut_ = ::ftruncate(fd_, end) == 0 && ::lseek(fd_, end, SEEK_SET) == end;
      return false;
    }
    written += static_cast<size_t>(got);
  }
  bytes_ += bytes;
  return true;
}

uint64_t TraceFile::lost() const {
  uint64_t sum = 0;
  for (const uint64_t count : lost_) sum += count;
  return sum;
}

void TraceFile::take_last() {
  flush();
  full_ = false;
}

void TraceFile::tell_of_failure(uint64_t monotonic_now_ns) {
  wire::Note note = {};
  note.code = wire::NoteCode::kWriteFailed;
  note.monotonic = monotonic_now_ns;
  note.value = error_;
  note.text = next_text_++;
  define(note.text, "cannot write " + path_ + ": " + std::strerror(error_) +
                        "; the recording ended there, and what came after is missing");
  add(wire::Kind::kNote, note);
}

void TraceFile::close(uint64_t monotonic_now_ns) {
  // The records without space are lost; the loss records may still fit where a block did not.
  if (fd_ >= 0 && bytes_ > 0 && cut_) broken_ = false;
  take_last();
  if (error_ != 0) tell_of_failure(monotonic_now_ns);
  for (size_t reason = 0; reason < kReasons; ++reason) {
    if (lost_[reason] == 0) continue;
    wire::Lost lost = {};
    lost.reason = static_cast<wire::LostReason>(reason);
    lost.count = lost_[reason];
    lost.monotonic = monotonic_now_ns;
    add(wire::Kind::kLost, lost);
  }
  wire::Footer footer = {};
  footer.records = records_ + block_records_;
  footer.lost = lost();
  footer.monotonic = monotonic_now_ns;
  add(wire::Kind::kFooter, footer);
  if (!broken_) write_block();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  broken_ = true;
}

}  // namespace assay::record
