#include "trace/hip_kernels.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

// Names of queue rows other than kernels in the runtime's tracer: the command kinds of ROCclr
// (getOclCommandKindString in platform/activity.cpp). Kernels have their own names, so a row with
// the name of an unknown kind is not a kernel either.
constexpr std::array<std::string_view, 19> kCopyCommands = {
    "CopyDeviceToHost",   "CopyHostToDevice",     "CopyDeviceToDevice", "CopyDeviceToHost2D",
    "CopyHostToDevice2D", "CopyDeviceToDevice2D", "CopyImage",          "CopyImageToBuffer",
    "CopyBufferToImage",  "ReadImage",            "WriteImage",         "MapBuffer",
    "MapImage",           "UnmapMemObject",       "MigrateMemObjects",  "SvmMemcpy",
    "SvmMap",             "SvmUnmap",             "CopyHostToHost"};
constexpr std::array<std::string_view, 3> kFillCommands = {"FillBuffer", "FillImage", "SvmMemFill"};
constexpr std::array<std::string_view, 7> kControlCommands = {
    "Barrier",          "Marker",           "InternalMarker", "User",
    "AcquireGLObjects", "ReleaseGLObjects", "SvmFree"};

template <size_t kSize>
bool is_one_of(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

ActivityKind kind_of_hip_command(std::string_view name) {
  if (is_one_of(kCopyCommands, name)) return ActivityKind::kMemcpy;
  if (is_one_of(kFillCommands, name)) return ActivityKind::kMemset;
  if (is_one_of(kControlCommands, name) || name.starts_with("Unknown command type")) {
    return ActivityKind::kSync;
  }
  return kind_of_hip_kernel(name);
}

}  // namespace assay
