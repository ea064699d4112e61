#include "trace/api_names.h"

#include <algorithm>
#include <array>

namespace assay {

namespace {

// Names are matched by parts, not one by one: every release of CUDA, HIP and Level Zero adds
// variants (ExC, _ptsz, _spt, _v2, Exp, MultiDevice) that keep the verb.
bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

template <size_t N>
bool starts_with_any(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The call's name after the vendor's prefix. All vendors use a short lower-case prefix (cuda, cu,
// hip, ur, pi, ze, musa, mu, cnrt, cn, aclrt), followed by capitalised words. Empty for other
// names.
std::string_view behind_vendor(std::string_view name) {
  constexpr size_t kShortest = 2;
  constexpr size_t kLongest = 6;
  size_t end = 0;
  while (end < name.size() && name[end] >= 'a' && name[end] <= 'z') ++end;
  const bool word = end < name.size() && name[end] >= 'A' && name[end] <= 'Z';
  return word && end >= kShortest && end <= kLongest ? name.substr(end) : std::string_view();
}

constexpr std::array<std::string_view, 2> kCopyVerbs = {"Memcpy", "DrvMemcpy"};
constexpr std::array<std::string_view, 2> kFillVerbs = {"Memset", "DrvMemset"};

// "LaunchKernel" also matches ...LaunchKernelExC and hipModuleLaunchKernel. It matches neither
// cudaLaunchHostFunc, which runs on the host, nor cudaGraphAddKernelNode, which launches nothing.
constexpr std::array<std::string_view, 7> kLaunchParts = {
    "LaunchKernel",         "KernelLaunch",      "LaunchCooperativeKernel",
    "LaunchMultipleKernel", "LaunchMultiKernel", "LaunchGrid",
    "InvokeKernel"};
// Old CUDA and HIP entry points, too short for a match by parts.
constexpr std::array<std::string_view, 3> kLaunchNames = {"cudaLaunch", "cuLaunch",
                                                          "hipLaunchByPtr"};
// MTIA's runtime rows are named after their action; this one submits a job to the device.
constexpr std::string_view kMtiaSubmit = "job_prep_and_submit_for_execution";
// CANN's launch, and the call that enqueues an operator for the launching thread.
constexpr std::string_view kCannLaunch = "Node@launch";
constexpr std::string_view kCannEnqueue = "Enqueue";

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

// Every call of a run-time compiler is a kLoad.
constexpr std::array<std::string_view, 5> kCompilerPrefixes = {"nvrtc", "hiprtc", "cuLink",
                                                               "hipLink", "nvJitLink"};

struct PartRole {
  std::string_view part;
  ApiRole role;
};
// The first matching part determines the role; queries about an allocation have no role.
constexpr std::array<PartRole, 40> kPartRoles = {{
    {"GetAlloc", ApiRole::kOther},
    {"RetainAlloc", ApiRole::kOther},
    {"Malloc", ApiRole::kAllocate},
    {"MemAlloc", ApiRole::kAllocate},
    {"HostAlloc", ApiRole::kAllocate},
    {"DeviceAlloc", ApiRole::kAllocate},
    {"SharedAlloc", ApiRole::kAllocate},
    {"BufferCreate", ApiRole::kAllocate},
    {"HostRegister", ApiRole::kAllocate},
    {"MemCreate", ApiRole::kAllocate},
    {"MemMap", ApiRole::kAllocate},
    {"MemSetAccess", ApiRole::kAllocate},
    {"AddressReserve", ApiRole::kAllocate},
    {"ArrayCreate", ApiRole::kAllocate},
    {"Free", ApiRole::kFree},
    {"HostUnregister", ApiRole::kFree},
    {"MemRelease", ApiRole::kFree},
    {"MemUnmap", ApiRole::kFree},
    {"ArrayDestroy", ApiRole::kFree},
    {"PoolTrimTo", ApiRole::kFree},
    {"ModuleLoad", ApiRole::kLoad},
    {"ModuleUnload", ApiRole::kLoad},
    {"ModuleGetFunction", ApiRole::kLoad},
    {"ModuleCreate", ApiRole::kLoad},
    {"LibraryLoad", ApiRole::kLoad},
    {"LibraryUnload", ApiRole::kLoad},
    {"LibraryGet", ApiRole::kLoad},
    {"ProgramBuild", ApiRole::kLoad},
    {"ProgramCompile", ApiRole::kLoad},
    {"ProgramCreate", ApiRole::kLoad},
    {"CtxCreate", ApiRole::kLoad},
    {"PrimaryCtx", ApiRole::kLoad},
    {"ContextCreate", ApiRole::kLoad},
    {"InitDevice", ApiRole::kLoad},
    {"GraphInstantiate", ApiRole::kCreate},
    {"GraphExecUpdate", ApiRole::kCreate},
    {"GraphUpload", ApiRole::kCreate},
    {"StreamCreate", ApiRole::kCreate},
    {"QueueCreate", ApiRole::kCreate},
    {"EventRecord", ApiRole::kEventRecord},
}};
constexpr std::array<std::string_view, 4> kStreamWaits = {
    "StreamWaitEvent", "StreamWaitValue", "urEnqueueEventsWait", "piEnqueueEventsWait"};

ApiRole role_by_part(std::string_view name) {
  if (name == "cuInit" || name == "hipInit" || name == "zeInit") return ApiRole::kLoad;
  if (std::any_of(kStreamWaits.begin(), kStreamWaits.end(),
                  [name](std::string_view part) { return has(name, part); })) {
    return ApiRole::kStreamWait;
  }
  if (has(name, "EventQuery") || has(name, "StreamQuery")) return ApiRole::kEventQuery;
  for (const PartRole& entry : kPartRoles) {
    if (has(name, entry.part)) return entry.role;
  }
  return ApiRole::kOther;
}

}  // namespace

ApiRole classify_api(std::string_view name) {
  if (name.ends_with(kMtiaSubmit) || name == kCannLaunch || name.starts_with(kCannEnqueue)) {
    return ApiRole::kKernelLaunch;
  }
  if (starts_with_any(name, kCompilerPrefixes) || has(name, "RegisterFatBinary")) {
    return ApiRole::kLoad;
  }
  const std::string_view verb = behind_vendor(name);
  if (verb.empty() && !starts_with_any(name, kLaunchNames)) return ApiRole::kOther;
  const auto contained = [&](std::string_view part) { return has(name, part); };

  if (std::any_of(kGraphParts.begin(), kGraphParts.end(), contained)) return ApiRole::kGraphLaunch;
  if (std::any_of(kLaunchParts.begin(), kLaunchParts.end(), contained) ||
      std::find(kLaunchNames.begin(), kLaunchNames.end(), name) != kLaunchNames.end()) {
    return ApiRole::kKernelLaunch;
  }
  if (starts_with_any(verb, kCopyVerbs)) {
    return has(name, "Async") ? ApiRole::kMemcpyAsync : ApiRole::kMemcpySync;
  }
  if (starts_with_any(verb, kFillVerbs) || starts_with_any(name, kSyclFillPrefixes)) {
    return ApiRole::kMemset;
  }
  if (starts_with_any(name, kSyclCopyPrefixes)) return ApiRole::kMemcpyAsync;
  // cnrtQueueSync, cnrtSyncDevice. Does not match "Async", which has no capital S.
  if (has(verb, "Sync") || starts_with_any(name, kSyclWaits)) return ApiRole::kSynchronize;
  return role_by_part(name);
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
