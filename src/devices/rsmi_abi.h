#pragma once

// The part of ROCm-SMI's binary interface that Assay uses (rocm_smi.h, stable since ROCm 4); held
// against the header by tests/abi/amd_headers.cc where that is installed.

#include <cstdint>

namespace assay::rsmi {

constexpr int kNotSupported = 2;     // RSMI_STATUS_NOT_SUPPORTED
constexpr int kPermission = 4;       // RSMI_STATUS_PERMISSION
constexpr int kDriverComponent = 0;  // RSMI_SW_COMP_DRIVER

struct Api {
  int (*init)(uint64_t flags);
  int (*error_text)(int code, const char** text);
  int (*device_count)(uint32_t* count);
  int (*pci_id)(uint32_t device, uint64_t* bdf);
  int (*unique_id)(uint32_t device, uint64_t* id);
  int (*energy)(uint32_t device, uint64_t* count, float* microjoules_each, uint64_t* t_ns);
  int (*power_cap)(uint32_t device, uint32_t sensor, uint64_t* microwatts);
  int (*driver_version)(int component, char* text, uint32_t length);
};

}  // namespace assay::rsmi
