#pragma once

// AMD GPUs: HIP, the energy accumulator of AMD SMI or ROCm-SMI for power, rocBLAS, RCCL and hiprtc,
// all opened at run time. Reads only; no clock, limit or mode is ever set.

#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"

namespace assay {

struct AmdLibraries {
  std::vector<std::string> hip = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                  "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"};
  std::vector<std::string> amd_smi = {"libamd_smi.so.27", "libamd_smi.so.26",
                                      "libamd_smi.so.25", "libamd_smi.so.24",
                                      "libamd_smi.so",    "/opt/rocm/lib/libamd_smi.so"};
  // The kernel drivers amd_hsmp and hsmp_acpi create it.
  std::string hsmp_device = "/dev/hsmp";
  std::vector<std::string> smi = {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
                                  "librocm_smi64.so.1", "librocm_smi64.so"};
  std::vector<std::string> blas = {"librocblas.so.5", "librocblas.so.4", "librocblas.so.3",
                                   "librocblas.so.0", "librocblas.so"};
  std::vector<std::string> collectives = {"librccl.so.1", "librccl.so",
                                          "/opt/rocm/lib/librccl.so.1"};
  std::vector<std::string> compiler = {"libhiprtc.so.7",
                                       "libhiprtc.so.6",
                                       "libhiprtc.so.5",
                                       "libhiprtc.so",
                                       "libamdhip64.so.5",
                                       "libamdhip64.so",
                                       "/opt/rocm/lib/libhiprtc.so"};
};
// Fails if HIP, hiprtc, the GPU or its energy accumulator is missing.
Result<std::unique_ptr<PowerDevice>> open_amd_device(int ordinal,
                                                     const AmdLibraries& libraries = {});

}  // namespace assay
