#include "collect/record/decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace assay::record {
namespace {

// Copies a record: CUPTI aligns records to 8, the packed structs need not be.
template <typename Record>
Record read(const void* record) {
  Record copy;
  std::memcpy(&copy, record, sizeof(copy));
  return copy;
}

// The common fields of copies within a device and between devices.
template <typename From>
wire::Copy copy_of(const From& from) {
  wire::Copy to = {};
  to.correlation = from.correlation;
  to.start = from.start;
  to.end = from.end;
  to.bytes = from.bytes;
  to.device = from.device;
  to.context = from.context;
  to.stream = from.stream;
  to.direction = from.direction;
  to.from = from.from;
  to.to = from.to;
  to.is_async = (from.flags & cupti::kMemcpyIsAsync) != 0 ? 1 : 0;
  to.graph_id = from.graph_id;
  to.graph_node = from.graph_node;
  return to;
}

// A record without its times or correlation is not written.
template <typename Record>
bool has_times(const void* record) {
  const auto from = read<Record>(record);
  return from.start != 0 && from.end >= from.start;
}
template <typename Record>
bool is_whole_work(const void* record) {
  return has_times<Record>(record) && read<Record>(record).correlation != 0;
}

// Another library may be writing there.
__attribute__((no_sanitize("thread", "address"))) uint64_t look(const uint8_t* at) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(at), __ATOMIC_RELAXED);
}

// The bytes read of each recorded kind: no record is shorter.
struct LeastBytes {
  uint32_t kind;
  size_t bytes;
};
constexpr LeastBytes kLeastBytes[] = {{cupti::kMemcpy, sizeof(cupti::Memcpy)},
                                      {cupti::kMemset, sizeof(cupti::Memset)},
                                      {cupti::kKernel, sizeof(cupti::Kernel)},
                                      {cupti::kDriver, sizeof(cupti::Api)},
                                      {cupti::kRuntime, sizeof(cupti::Api)},
                                      {cupti::kContext, sizeof(cupti::ContextRecord)},
                                      {cupti::kConcurrentKernel, sizeof(cupti::Kernel)},
                                      {cupti::kOverhead, sizeof(cupti::Overhead)},
                                      {cupti::kMemcpy2, sizeof(cupti::MemcpyPeer)},
                                      {cupti::kSynchronization, sizeof(cupti::Synchronization)},
                                      {cupti::kExternalCorrelation, sizeof(cupti::External)},
                                      {cupti::kGraphTrace, sizeof(cupti::GraphTrace)}};

// 0 = not a recorded kind.
size_t least_bytes(uint32_t kind) {
  for (const LeastBytes& least : kLeastBytes) {
    if (least.kind == kind) return least.bytes;
  }
  return 0;
}

}  // namespace

void learn_record_bytes(const cupti::Functions& functions, RecordBytes& bytes) {
  constexpr size_t kBytes = 4096;
  constexpr ptrdiff_t kLongest = kBytes / 4;
  alignas(8) std::array<uint32_t, kBytes / 4> buffer;
  for (const auto& [kind, least] : kLeastBytes) {
    buffer.fill(kind);
    auto* data = reinterpret_cast<uint8_t*>(buffer.data());
    void* first = nullptr;
    if (functions.next_record(data, kBytes, &first) != cupti::kSuccess || first == nullptr)
      continue;
    void* second = first;
    if (functions.next_record(data, kBytes, &second) != cupti::kSuccess) continue;
    const ptrdiff_t length = static_cast<uint8_t*>(second) - static_cast<uint8_t*>(first);
    if (length > kLongest || length % 8 != 0) continue;
    if (length <= 0 || static_cast<size_t>(length) < least) continue;
    bytes[kind].store(static_cast<uint16_t>(length), std::memory_order_relaxed);
  }
}

const uint8_t* RecordWalk::next() {
  if (at_ + sizeof(uint64_t) > size_) return nullptr;
  const auto kind = static_cast<uint32_t>(look(buffer_ + at_));
  if (kind == 0) return nullptr;
  const uint16_t length = kind < bytes_.size() ? bytes_[kind].load(std::memory_order_relaxed) : 0;
  // The program may have overwritten the shared memory before it crashed.
  const size_t least = least_bytes(kind);
  if (least == 0 || length < least || length % 8 != 0 || at_ + length > size_) {
    lost_ = true;
    return nullptr;
  }
  const uint8_t* record = buffer_ + at_;
  at_ += length;
  return record;
}

bool is_whole(const void* record) {
  switch (read<uint32_t>(record)) {
    case cupti::kRuntime:
    case cupti::kDriver:
      return is_whole_work<cupti::Api>(record) && read<cupti::Api>(record).thread != 0;
    case cupti::kKernel:
    case cupti::kConcurrentKernel:
      return is_whole_work<cupti::Kernel>(record) && read<cupti::Kernel>(record).name != nullptr;
    case cupti::kMemcpy:
      return is_whole_work<cupti::Memcpy>(record);
    case cupti::kMemcpy2:
      return is_whole_work<cupti::MemcpyPeer>(record);
    case cupti::kMemset:
      return is_whole_work<cupti::Memset>(record);
    case cupti::kGraphTrace:
      return is_whole_work<cupti::GraphTrace>(record);
    case cupti::kSynchronization:
      return has_times<cupti::Synchronization>(record);
    case cupti::kOverhead:
      return has_times<cupti::Overhead>(record);
    case cupti::kExternalCorrelation:
      return read<cupti::External>(record).correlation != 0;
    default:
      return true;
  }
}

KernelName name_in(const uint8_t* record) {
  const auto kind = static_cast<uint32_t>(look(record));
  if (kind != cupti::kKernel && kind != cupti::kConcurrentKernel) return {};
  static_assert(offsetof(cupti::Kernel, name) % 8 == 0);
  const uint64_t name = look(record + offsetof(cupti::Kernel, name));
  return {reinterpret_cast<const char*>(name), name != 0};
}

void Decoder::decode_left(const RecordBytes& bytes, const uint8_t* buffer, size_t size,
                          uint64_t done) {
  RecordWalk walk(bytes, buffer, size);
  while (const uint8_t* record = walk.next()) {
    if (done > 0) {
      --done;
    } else if (is_whole(record)) {
      add(record);
    } else {
      file_.count_lost(wire::LostReason::kUnfinished, 1);
    }
  }
  if (walk.is_lost()) file_.count_lost(wire::LostReason::kUnknown, 1);
}

void Decoder::decode(const cupti::Functions& functions, uint8_t* buffer, size_t valid,
                     uint64_t& progress) {
  void* record = nullptr;
  int result = cupti::kSuccess;
  while (valid > 0) {
    result = functions.next_record(buffer, valid, &record);
    if (result != cupti::kSuccess || record == nullptr) break;
    add(record);
    ++progress;
  }
  // kMaxLimitReached marks the end of a buffer; any other result leaves records unread.
  if (valid > 0 && result != cupti::kMaxLimitReached) {
    file_.count_lost(wire::LostReason::kUnknown, 1);
  }
}

void Decoder::add(const void* record) {
  saw_anything_ = true;
  const auto kind = read<uint32_t>(record);
  switch (kind) {
    case cupti::kRuntime:
      return add_call(read<cupti::Api>(record), wire::Domain::kRuntime);
    case cupti::kDriver:
      return add_call(read<cupti::Api>(record), wire::Domain::kDriver);
    case cupti::kKernel:
    case cupti::kConcurrentKernel:
      return add_kernel(read<cupti::Kernel>(record));
    case cupti::kMemcpy:
      return add_copy(read<cupti::Memcpy>(record));
    case cupti::kMemcpy2:
      return add_peer_copy(read<cupti::MemcpyPeer>(record));
    case cupti::kMemset:
      return add_fill(read<cupti::Memset>(record));
    default:
      return add_rest(record, kind);
  }
}

void Decoder::add_call(const cupti::Api& from, wire::Domain domain) {
  if (from.thread == own_thread_) {
    last_own_call_ = std::max(last_own_call_, from.start);
    return;
  }
  wire::ApiCall to = {};
  to.correlation = from.correlation;
  to.start = from.start;
  to.end = from.end;
  to.thread = from.thread;
  to.name = names_.of_call(domain, from.function);
  to.domain = domain;
  to.function = static_cast<uint16_t>(from.function);
  to.result = static_cast<int32_t>(from.result);
  file_.add(wire::Kind::kApiCall, to);
}

void Decoder::add_kernel(const cupti::Kernel& from) {
  saw_device_work_ = true;
  wire::Kernel to = {};
  to.correlation = from.correlation;
  to.start = from.start;
  to.end = from.end;
  to.device = from.device;
  to.context = from.context;
  to.stream = from.stream;
  to.name = names_.of_kernel(from.name);
  for (int i = 0; i < 3; ++i) {
    to.grid[i] = static_cast<uint32_t>(from.grid[i]);
    to.block[i] = static_cast<uint32_t>(from.block[i]);
  }
  to.registers = from.registers;
  to.static_shared = static_cast<uint32_t>(from.static_shared);
  to.dynamic_shared = static_cast<uint32_t>(from.dynamic_shared);
  to.graph_id = from.graph_id;
  to.graph_node = from.graph_node;
  file_.add(wire::Kind::kKernel, to);
}

void Decoder::add_copy(const cupti::Memcpy& from) {
  saw_device_work_ = true;
  wire::Copy to = copy_of(from);
  to.peer_device = UINT32_MAX;
  file_.add(wire::Kind::kCopy, to);
}

void Decoder::add_peer_copy(const cupti::MemcpyPeer& from) {
  saw_device_work_ = true;
  wire::Copy to = copy_of(from);
  to.peer_device = from.device == from.to_device ? from.from_device : from.to_device;
  file_.add(wire::Kind::kCopy, to);
}

void Decoder::add_fill(const cupti::Memset& from) {
  saw_device_work_ = true;
  wire::Fill to = {};
  to.correlation = from.correlation;
  to.start = from.start;
  to.end = from.end;
  to.bytes = from.bytes;
  to.device = from.device;
  to.context = from.context;
  to.stream = from.stream;
  to.memory = from.memory;
  to.value = from.value;
  to.graph_id = from.graph_id;
  to.graph_node = from.graph_node;
  file_.add(wire::Kind::kFill, to);
}

void Decoder::add_rest(const void* record, uint32_t kind) {
  if (kind == cupti::kSynchronization) {
    const auto from = read<cupti::Synchronization>(record);
    wire::Wait to = {};
    to.correlation = from.correlation;
    to.start = from.start;
    to.end = from.end;
    to.type = from.type;
    to.context = from.context;
    to.stream = from.stream;
    to.event = from.event;
    file_.add(wire::Kind::kWait, to);
  } else if (kind == cupti::kOverhead) {
    constexpr uint32_t kObjectThread = 2;
    const auto from = read<cupti::Overhead>(record);
    wire::Overhead to = {};
    to.type = from.type;
    to.start = from.start;
    to.end = from.end;
    to.thread = from.object == kObjectThread ? from.thread : 0;
    file_.add(wire::Kind::kOverhead, to);
  } else if (kind == cupti::kExternalCorrelation) {
    const auto from = read<cupti::External>(record);
    wire::External to = {};
    to.correlation = from.correlation;
    to.type = from.type;
    to.id = from.id;
    file_.add(wire::Kind::kExternal, to);
  } else if (kind == cupti::kGraphTrace) {
    saw_device_work_ = true;
    const auto from = read<cupti::GraphTrace>(record);
    wire::GraphRun to = {};
    to.correlation = from.correlation;
    to.start = from.start;
    to.end = from.end;
    to.device = from.device;
    to.context = from.context;
    to.stream = from.stream;
    to.graph_id = from.graph_id;
    file_.add(wire::Kind::kGraphRun, to);
  } else if (kind == cupti::kContext) {
    const auto from = read<cupti::ContextRecord>(record);
    wire::Context to = {};
    to.id = from.context;
    to.device = from.device;
    to.null_stream = from.null_stream;
    file_.add(wire::Kind::kContext, to);
  }
}

}  // namespace assay::record
