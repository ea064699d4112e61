#include "collect/record_amd/decoder.h"

#include <algorithm>
#include <cstring>

namespace assay::record_amd {
namespace {

namespace wire = assay::wire;
using rocprofiler::RecordStart;

// Lanes of HIP streams, or of queues if the stream is unknown.
constexpr uint32_t kStreams = 0;
constexpr uint32_t kQueues = 1;

// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, used by the file format.
constexpr uint8_t kHostToDevice = 1;
constexpr uint8_t kDeviceToHost = 2;
constexpr uint8_t kDeviceToDevice = 8;
constexpr uint8_t kHostToHost = 9;
constexpr uint8_t kPeerToPeer = 10;
constexpr uint8_t kDeviceMemory = 3;

template <typename Record>
Record read(const uint8_t* from) {
  Record record;
  std::memcpy(&record, from, sizeof(record));
  return record;
}

// Ids count calls from 1. A file holds far fewer than 2^32 records, so 32 bits are unique within
// it.
uint32_t correlation_of(const RecordStart& head) { return static_cast<uint32_t>(head.correlation); }

uint32_t groups(uint32_t items, uint32_t per_group) {
  const uint32_t size = std::max(per_group, 1u);
  return std::max(items, 1u) / size + (std::max(items, 1u) % size != 0 ? 1 : 0);
}

}  // namespace

// ---- symbols ------------------------------------------------------------------------------------

void Symbols::add(const rocprofiler::KernelSymbol& symbol) {
  constexpr std::string_view kDescriptor = ".kd";  // suffix of a kernel descriptor symbol
  std::string_view name = symbol.name != nullptr ? symbol.name : "";
  if (name.size() > kDescriptor.size() &&
      name.substr(name.size() - kDescriptor.size()) == kDescriptor) {
    name.remove_suffix(kDescriptor.size());
  }
  const bool has_registers =
      symbol.size >= offsetof(rocprofiler::KernelSymbol, vector_registers) + sizeof(uint32_t);
  const std::lock_guard lock(mutex_);
  symbols_[symbol.kernel] = {std::string(name), symbol.group_bytes,
                             has_registers ? symbol.vector_registers : 0};
}

Symbol Symbols::find(uint64_t kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = symbols_.find(kernel);
  return found != symbols_.end() ? found->second : Symbol{};
}

// ---- records ------------------------------------------------------------------------------------

void Decoder::learn(int kind, RecordKind meaning, const std::vector<Operation>& operations) {
  Kind& known = kinds_[static_cast<uint32_t>(kind)];
  known.meaning = meaning;
  for (const Operation& operation : operations) known.names[operation.number] = operation.name;
}

void Decoder::decode(const uint8_t* bytes, size_t count) {
  size_t at = 0;
  while (at + sizeof(RecordStart) <= count) {
    const uint64_t size = read<RecordStart>(bytes + at).size;
    if (size < sizeof(RecordStart) || size > count - at) break;
    if (!add(bytes + at, size)) file_.count_lost(wire::LostReason::kUnknown, 1);
    at += (size + 7) & ~uint64_t{7};
  }
}

// False: unknown kind or length.
bool Decoder::add(const uint8_t* record, uint64_t size) {
  const auto kind = kinds_.find(read<RecordStart>(record).kind);
  if (kind == kinds_.end()) return false;
  switch (kind->second.meaning) {
    case RecordKind::kHipCall:
    case RecordKind::kHsaCall:
      return add_call(kind->second, record, size);
    case RecordKind::kDispatch:
      return add_dispatch(record, size);
    case RecordKind::kCopy:
      return add_copy(record, size);
    case RecordKind::kScratch:
      return add_scratch(kind->second, record, size);
  }
  return false;
}

// The size shows whether the record has the ancestor.
bool Decoder::add_call(Kind& kind, const uint8_t* record, uint64_t size) {
  if (size < sizeof(rocprofiler::ApiBefore1)) return false;
  rocprofiler::Api from = {};
  if (size >= sizeof(from)) {
    from = read<rocprofiler::Api>(record);
  } else {
    const auto before = read<rocprofiler::ApiBefore1>(record);
    from = {before.head, 0, before.start, before.end, before.thread};
  }
  const bool of_hsa = kind.meaning == RecordKind::kHsaCall;
  wire::ApiCall to = {};
  to.correlation = correlation_of(from.head);
  to.start = from.start;
  to.end = from.end;
  to.thread = static_cast<uint32_t>(from.thread);
  to.name = name_of(kind, from.head.operation);
  to.domain = of_hsa ? wire::Domain::kHsa : wire::Domain::kRuntime;
  to.function = static_cast<uint16_t>(from.head.operation);
  file_.add(wire::Kind::kApiCall, to);
  if (!of_hsa || from.ancestor == 0) return true;
  wire::Inside inside = {};
  inside.correlation = to.correlation;
  inside.outer = static_cast<uint32_t>(from.ancestor);
  file_.add(wire::Kind::kInside, inside);
  return true;
}

bool Decoder::add_dispatch(const uint8_t* record, uint64_t size) {
  if (size < sizeof(rocprofiler::Dispatch)) return false;
  const auto from = read<rocprofiler::Dispatch>(record);
  const auto gpu = gpus_.find(from.agent.handle);
  if (gpu == gpus_.end()) return false;
  saw_device_work_ = true;
  const Symbol symbol = symbols_.find(from.kernel);
  const Lane lane = lane_of(from.head.external, gpu->second, from.queue.handle);
  wire::Kernel to = {};
  to.correlation = correlation_of(from.head);
  to.start = from.start;
  to.end = from.end;
  to.device = gpu->second;
  to.context = lane.context;
  to.stream = lane.stream;
  to.name = kernel_name(from.kernel, symbol);
  to.grid[0] = groups(from.grid.x, from.workgroup.x);
  to.grid[1] = groups(from.grid.y, from.workgroup.y);
  to.grid[2] = groups(from.grid.z, from.workgroup.z);
  to.block[0] = from.workgroup.x;
  to.block[1] = from.workgroup.y;
  to.block[2] = from.workgroup.z;
  to.registers = symbol.registers;
  to.static_shared = std::min(symbol.static_bytes, from.group_bytes);
  to.dynamic_shared = from.group_bytes - to.static_shared;
  file_.add(wire::Kind::kKernel, to);
  return true;
}

// The lane is that of the source GPU, or of the destination GPU if the source is the host.
bool Decoder::add_copy(const uint8_t* record, uint64_t size) {
  if (size < sizeof(rocprofiler::MemoryCopy)) return false;
  const auto from = read<rocprofiler::MemoryCopy>(record);
  saw_device_work_ = true;
  const auto source = gpus_.find(from.from.handle);
  const auto target = gpus_.find(from.to.handle);
  const bool leaves_gpu = source != gpus_.end();
  const bool reaches_gpu = target != gpus_.end();
  wire::Copy to = {};
  to.correlation = correlation_of(from.head);
  to.start = from.start;
  to.end = from.end;
  to.bytes = from.bytes;
  to.peer_device = UINT32_MAX;
  if (leaves_gpu || reaches_gpu) to.device = leaves_gpu ? source->second : target->second;
  to.direction = kHostToHost;
  if (!leaves_gpu && reaches_gpu) to.direction = kHostToDevice;
  if (leaves_gpu && !reaches_gpu) to.direction = kDeviceToHost;
  if (leaves_gpu && reaches_gpu) {
    const bool peers = source->second != target->second;
    to.direction = peers ? kPeerToPeer : kDeviceToDevice;
    if (peers) to.peer_device = target->second;
  }
  if (leaves_gpu) to.from = kDeviceMemory;
  if (reaches_gpu) to.to = kDeviceMemory;
  const Lane lane = lane_of(from.head.external, to.device, 0);
  to.context = lane.context;
  to.stream = lane.stream;
  file_.add(wire::Kind::kCopy, to);
  return true;
}

bool Decoder::add_scratch(Kind& kind, const uint8_t* record, uint64_t size) {
  if (size < sizeof(rocprofiler::ScratchBefore1)) return false;
  // A flag word of 8 bytes follows, so the shorter layout plus flags is as long as the longer one
  // without.
  rocprofiler::Scratch from = {};
  if (size >= sizeof(from) + 8) {
    from = read<rocprofiler::Scratch>(record);
  } else {
    const auto before = read<rocprofiler::ScratchBefore1>(record);
    from = {before.head, 0, before.agent, before.queue, before.thread, before.start, before.end};
  }
  const std::string& name = kind.names[from.head.operation];
  wire::Overhead to = {};
  to.type = wire::kScratchOther;
  if (name.find("ALLOC") != std::string::npos) to.type = wire::kScratchAllocation;
  if (name.find("FREE") != std::string::npos) to.type = wire::kScratchFree;
  if (name.find("RECLAIM") != std::string::npos) to.type = wire::kScratchReclaim;
  to.start = from.start;
  to.end = from.end;
  to.thread = static_cast<uint32_t>(from.thread);
  file_.add(wire::Kind::kOverhead, to);
  return true;
}

uint32_t Decoder::name_of(Kind& kind, int32_t operation) {
  const auto [text, added] = kind.texts.try_emplace(operation, wire::kNoString);
  if (!added) return text->second;
  const auto name = kind.names.find(operation);
  text->second = file_.text(name != kind.names.end() ? name->second : "unknown call");
  return text->second;
}

uint32_t Decoder::kernel_name(uint64_t kernel, const Symbol& symbol) {
  const auto [text, added] = kernel_texts_.try_emplace(kernel, wire::kNoString);
  if (added) {
    const bool told = !symbol.name.empty();
    text->second = file_.text(told ? symbol.name : "unknown kernel " + std::to_string(kernel));
  }
  return text->second;
}

// queue: 0 = unknown, as for copies. Queues are numbered in order of appearance.
Decoder::Lane Decoder::lane_of(uint64_t external, uint32_t device, uint64_t queue) {
  if (has_streams_ && external != 0) return {kStreams, static_cast<uint32_t>(external - 1)};
  if (queue == 0) return {kQueues, UINT32_MAX};
  const auto [number, added] = queues_.try_emplace({device, queue}, 0);
  if (added) number->second = queues_of_device_[device]++;
  return {kQueues, number->second};
}

}  // namespace assay::record_amd
