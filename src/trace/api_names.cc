#include "trace/api_names.h"

#include <algorithm>
#include <array>

namespace assay {

namespace {

// Names are matched by what they contain, not one by one: every release of CUDA, HIP and Level Zero
// adds variants (ExC, _ptsz, _spt, _v2, Exp, MultiDevice), and they all keep the verb.
bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

template <size_t N>
bool starts_with_any(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// CUDA runtime and driver, HIP, and the three layers below SYCL (unified runtime, its predecessor
// plugin interface, Level Zero).
constexpr std::array<std::string_view, 5> kPrefixes = {"cu", "hip", "ur", "pi", "ze"};

constexpr std::array<std::string_view, 4> kCopyPrefixes = {"cudaMemcpy", "cuMemcpy", "hipMemcpy",
                                                           "hipDrvMemcpy"};
constexpr std::array<std::string_view, 4> kFillPrefixes = {"cudaMemset", "cuMemset", "hipMemset",
                                                           "hipDrvMemset"};

// "LaunchKernel" also finds ...LaunchKernelExC, hipModuleLaunchKernel, zeCommandListAppendLaunch
// Kernel; cudaLaunchHostFunc runs on the host and cudaGraphAddKernelNode launches nothing.
constexpr std::array<std::string_view, 6> kLaunchParts = {
    "LaunchKernel",         "KernelLaunch",      "LaunchCooperativeKernel",
    "LaunchMultipleKernel", "LaunchMultiKernel", "LaunchGrid"};
// The oldest CUDA and HIP entry points, too short to be told by a part.
constexpr std::array<std::string_view, 3> kLaunchNames = {"cudaLaunch", "cuLaunch",
                                                          "hipLaunchByPtr"};
// MTIA names its runtime rows by what they do; this one submits a job to the device.
constexpr std::string_view kMtiaSubmit = "job_prep_and_submit_for_execution";

constexpr std::array<std::string_view, 3> kGraphParts = {"GraphLaunch", "urEnqueueCommandBuffer",
                                                         "urCommandBufferEnqueue"};

// SYCL copies take a blocking flag that the trace does not show; without it they return at once.
constexpr std::array<std::string_view, 8> kSyclCopyPrefixes = {"urEnqueueUSMMemcpy",
                                                               "urEnqueueMemBuffer",
                                                               "urEnqueueMemImage",
                                                               "piextUSMEnqueueMemcpy",
                                                               "piEnqueueMemBuffer",
                                                               "piEnqueueMemImage",
                                                               "zeCommandListAppendMemoryCopy",
                                                               "zeCommandListAppendImageCopy"};
constexpr std::array<std::string_view, 6> kSyclFillPrefixes = {
    "urEnqueueUSMFill",    "urEnqueueMemBufferFill", "piextUSMEnqueueMemset",
    "piextUSMEnqueueFill", "piEnqueueMemBufferFill", "zeCommandListAppendMemoryFill"};
constexpr std::array<std::string_view, 4> kSyclWaits = {"urEventWait", "urQueueFinish",
                                                        "piEventsWait", "piQueueFinish"};

}  // namespace

ApiRole classify_api(std::string_view name) {
  if (name.ends_with(kMtiaSubmit)) return ApiRole::kKernelLaunch;
  if (!starts_with_any(name, kPrefixes)) return ApiRole::kOther;
  const auto contained = [&](std::string_view part) { return has(name, part); };

  if (std::any_of(kGraphParts.begin(), kGraphParts.end(), contained)) return ApiRole::kGraphLaunch;
  if (std::any_of(kLaunchParts.begin(), kLaunchParts.end(), contained) ||
      std::find(kLaunchNames.begin(), kLaunchNames.end(), name) != kLaunchNames.end()) {
    return ApiRole::kKernelLaunch;
  }
  if (starts_with_any(name, kCopyPrefixes)) {
    return has(name, "Async") ? ApiRole::kMemcpyAsync : ApiRole::kMemcpySync;
  }
  if (starts_with_any(name, kFillPrefixes) || starts_with_any(name, kSyclFillPrefixes)) {
    return ApiRole::kMemset;
  }
  if (starts_with_any(name, kSyclCopyPrefixes)) return ApiRole::kMemcpyAsync;
  if (has(name, "Synchronize") || starts_with_any(name, kSyclWaits)) return ApiRole::kSynchronize;
  return ApiRole::kOther;
}

std::string_view without_api_version(std::string_view name) {
  const size_t at = name.rfind("_v");
  if (at == std::string_view::npos || name.size() - at < 6) return name;
  const std::string_view version = name.substr(at + 2);
  const bool digits =
      std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name.substr(0, at) : name;
}

bool is_blocking(ApiRole role) {
  return role == ApiRole::kSynchronize || role == ApiRole::kMemcpySync;
}

std::vector<ApiRole> api_roles(const StringPool& strings) {
  std::vector<ApiRole> roles(strings.size());
  for (size_t i = 0; i < roles.size(); ++i) roles[i] = classify_api(strings.view(StringId(i)));
  return roles;
}

}  // namespace assay
