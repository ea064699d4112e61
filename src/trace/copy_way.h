#pragma once

// From where to where a copy goes, as its name says; no table of a trace has it as a column of its
// own in all formats.

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

// "Memcpy HtoD (Pinned -> Device)", "CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_DEVICE", "[CUDA
// memcpy Host-to-Device]", "Memcpy PtoP"; arrays count as device memory.
CopyWay copy_way(std::string_view name);
// From page-locked host memory or to it.
bool is_pinned_copy(std::string_view name);
// From pageable host memory or to it, as the name itself says: the driver moves such bytes within
// the call, and no graph can hold the copy.
bool is_pageable_copy(std::string_view name);

// True for copies of managed memory. If no call launches one, pages migrate: the driver moves them
// while a kernel waits for them.
bool is_managed_copy(std::string_view name);

}  // namespace assay
