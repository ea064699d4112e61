#include "collect/record/decoder.h"

#include <algorithm>
#include <cstring>

namespace assay::record {
namespace {

// Copied out: records are aligned to 8 in CUPTI's buffers, and packed.
template <typename Record>
Record read(const void* record) {
  Record copy;
  std::memcpy(&copy, record, sizeof(copy));
  return copy;
}

// What copies within a device and between two have in common.
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

}  // namespace

void Decoder::decode(uint8_t* buffer, size_t valid) {
  void* record = nullptr;
  int result = cupti::kSuccess;
  while (valid > 0) {
    result = functions_.next_record(buffer, valid, &record);
    if (result != cupti::kSuccess || record == nullptr) break;
    add(record);
  }
  // The end of a buffer is told by kMaxLimitReached; anything else leaves records unread.
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
  to.name = function_name(domain, from.function);
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
  to.name = kernel_name(from.name);
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

uint32_t Decoder::function_name(wire::Domain domain, uint32_t function) {
  constexpr uint32_t kMostFunctions = 1 << 16;
  if (function >= kMostFunctions) return wire::kNoString;
  std::vector<uint32_t>& names = function_names_[static_cast<size_t>(domain)];
  if (function >= names.size()) names.resize(function + 1);
  if (names[function] != wire::kNoString) return names[function];
  const int callback_domain =
      domain == wire::Domain::kDriver ? cupti::kCallbackDriverApi : cupti::kCallbackRuntimeApi;
  const char* name = nullptr;
  const bool named = functions_.callback_name(callback_domain, function, &name) == 0;
  names[function] = file_.text(named && name != nullptr ? name : "unknown call");
  return names[function];
}

uint32_t Decoder::kernel_name(const char* name) {
  if (name == nullptr) return wire::kNoString;
  Name& known = kernel_names_[name];
  if (known.id == wire::kNoString || known.text != name) {
    known.text = name;
    known.id = file_.text(name);
  }
  return known.id;
}

}  // namespace assay::record
