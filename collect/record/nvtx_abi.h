#pragma once

// The interface of an NVTX 3 injection: function tables to fill, and event attributes. Sources:
// nvtx3/nvtxDetail/nvtxTypes.h, nvtx3/nvToolsExt.h.

#include <cstddef>
#include <cstdint>

namespace assay::nvtx {

using FunctionPointer = void (*)();
using FunctionTable = FunctionPointer**;
using GetExportTable = const void* (*)(uint32_t id);

constexpr uint32_t kExportCallbacks = 1;
constexpr int kModuleCore = 1;
constexpr int kModuleDomains = 5;

struct CallbackTable {
  size_t bytes;
  int (*get_module_functions)(int module, FunctionTable* table, unsigned* size);
};

enum CoreFunction : unsigned {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameOsThreadA = 14,
  kNameOsThreadW,
};

enum DomainFunction : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
};

enum MessageType : int32_t { kMessageAscii = 1, kMessageWide = 2, kMessageRegistered = 3 };

struct Attributes {  // nvtxEventAttributes_v2
  uint16_t version;
  uint16_t bytes;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};

}  // namespace assay::nvtx
