#include "collect/record/host_log.h"

#include <cstring>

namespace assay::record {
namespace {

constexpr size_t kMostEarly = 1 << 20;

}  // namespace

void HostLog::use(Area& area) {
  area_ = &area;
  area.place().banks[filling_].number = ++numbers_;
  if (!early_.empty()) add(early_.data(), early_.size());
  early_ = {};
}

size_t HostLog::room() const {
  if (area_ == nullptr) return kMostEarly - early_.size();
  const SharedBank& bank = area_->place().banks[filling_];
  return area_->layout().bank_bytes - bank.used.load(std::memory_order_relaxed);
}

void HostLog::add(const void* record, size_t bytes, const void* tail, size_t tail_bytes) {
  if (area_ == nullptr) {
    const auto* first = static_cast<const uint8_t*>(record);
    early_.insert(early_.end(), first, first + bytes);
    const auto* rest = static_cast<const uint8_t*>(tail);
    if (tail_bytes > 0) early_.insert(early_.end(), rest, rest + tail_bytes);
    early_.resize(wire::padded(early_.size()));
    return;
  }
  SharedBank& bank = area_->place().banks[filling_];
  const uint64_t used = bank.used.load(std::memory_order_relaxed);
  uint8_t* at = area_->bank(filling_) + used;
  std::memcpy(at, record, bytes);
  if (tail_bytes > 0) {
    std::memset(at + bytes + tail_bytes, 0, wire::padded(tail_bytes) - tail_bytes);
    std::memcpy(at + bytes, tail, tail_bytes);
  }
  // A record counts only when it is complete, whenever the process ends.
  bank.used.store(used + bytes + wire::padded(tail_bytes), std::memory_order_release);
}

bool HostLog::swap() {
  if (area_ == nullptr) return false;
  auto& banks = area_->place().banks;
  if (banks[filling_].used.load(std::memory_order_relaxed) == 0) return false;
  filling_ = 1 - filling_;
  banks[filling_].number = ++numbers_;
  return true;
}

void HostLog::write_full(TraceFile& file, SourceProgress& progress) const {
  const size_t full = 1 - filling_;
  const SharedBank& bank = area_->place().banks[full];
  progress.bank_bytes = 0;
  progress.bank = bank.number;
  write(area_->bank(full), 0, bank.used.load(std::memory_order_acquire), file, progress.bank_bytes);
}

void HostLog::give_back() {
  area_->place().banks[1 - filling_].used.store(0, std::memory_order_release);
}

namespace {

bool is_of_the_host(wire::Kind kind) {
  switch (kind) {
    case wire::Kind::kString:
    case wire::Kind::kRange:
    case wire::Kind::kMark:
    case wire::Kind::kThread:
    case wire::Kind::kOperator:
    case wire::Kind::kWindow:
      return true;
    default:
      return false;
  }
}

}  // namespace

void HostLog::write(const uint8_t* bytes, uint64_t from, uint64_t used, TraceFile& file,
                    uint64_t& progress) {
  // The program may have overwritten it before it died: only complete records may reach a block.
  if (from > used || from % 8 != 0) return;
  uint64_t at = from;
  while (used - at >= sizeof(wire::RecordHeader)) {
    wire::RecordHeader header;
    std::memcpy(&header, bytes + at, sizeof(header));
    if (header.bytes < sizeof(header) || header.bytes % 8 != 0 || header.bytes > used - at) return;
    if (!is_of_the_host(header.kind)) return;
    file.copy(bytes + at, header.bytes);
    at += header.bytes;
    progress = at;
  }
}

}  // namespace assay::record
