#include "cli/amd_recording.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/files.h"
#include "devices/amd.h"

namespace assay {
namespace {

// rocprofiler-sdk's README: names are separated by colons.
constexpr const char* kTools = "ROCP_TOOL_LIBRARIES";
// Without it some versions of rocprofiler-register look for tools only among what is loaded.
constexpr const char* kForce = "ROCPROFILER_REGISTER_FORCE_LOAD";

bool can_be_loaded(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool amd_is_here() {
  if (file_exists("/dev/kfd")) return true;
  for (const std::string& library : AmdLibraries().hip) {
    if (can_be_loaded(library)) return true;
  }
  return false;
}

bool rocprofiler_is_here() {
  constexpr const char* kNames[] = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0",
                                    "librocprofiler-sdk.so"};
  for (const char* name : kNames) {
    if (can_be_loaded(name)) return true;
    for (const std::string& home : {variable("ROCM_PATH"), std::string("/opt/rocm")}) {
      if (!home.empty() && file_exists(joined(joined(home, "lib"), name))) return true;
    }
  }
  return false;
}

std::string other_amd_tools() { return variable(kTools); }

std::vector<std::pair<std::string, std::string>> amd_environment(const std::string& library) {
  const std::string others = other_amd_tools();
  std::vector<std::pair<std::string, std::string>> variables = {
      {kTools, others.empty() ? library : library + ":" + others}};
  if (variable(kForce).empty()) variables.emplace_back(kForce, "1");
  return variables;
}

}  // namespace assay
