#pragma once

// Transfer direction of a copy, from its name: most formats have no other record of it.

#include <cstdint>
#include <string_view>

namespace assay {

enum class CopyWay : uint8_t {
  kUnknown,
  kToDevice,  // from the host
  kToHost,
  kOnDevice,
  kBetweenDevices,
};

// Parses "Memcpy HtoD (Pinned -> Device)", "CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_DEVICE",
// "[CUDA memcpy Host-to-Device]", "Memcpy PtoP". Arrays count as device memory.
CopyWay copy_way(std::string_view name);
// True for copies from or to page-locked host memory.
bool is_pinned_copy(std::string_view name);
// True for copies from or to pageable host memory, according to the name. The driver copies such
// bytes within the call, and a graph cannot contain the copy.
bool is_pageable_copy(std::string_view name);

// True for copies of managed memory. A copy without a launch call is a page migration: the driver
// moves pages while a kernel waits for them.
bool is_managed_copy(std::string_view name);

}  // namespace assay
