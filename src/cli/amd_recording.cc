#include "cli/amd_recording.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "devices/amd.h"

namespace assay {
namespace {

// Colon-separated names (README of rocprofiler-sdk).
constexpr const char* kTools = "ROCP_TOOL_LIBRARIES";
// Without the first variable, some versions of rocprofiler-register search for tools only among the
// loaded libraries. The second makes them load the given rocprofiler-sdk; if they search and find
// none, they end the program.
constexpr const char* kForce = "ROCPROFILER_REGISTER_FORCE_LOAD";
constexpr const char* kSdk = "ROCPROFILER_REGISTER_LIBRARY";

bool can_be_loaded(const std::string& library) {
  return ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr;
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

std::string find_rocprofiler() {
  if (const std::string named = variable(kSdk); !named.empty()) return named;
  std::vector<std::string> places;
  constexpr const char* kNames[] = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0",
                                    "librocprofiler-sdk.so"};
  for (const char* name : kNames) places.emplace_back(name);
  for (const std::string& home : {variable("ROCM_PATH"), std::string("/opt/rocm")}) {
    for (const char* name : kNames) {
      if (!home.empty()) places.push_back(joined(joined(home, "lib"), name));
    }
  }
  const auto found = std::find_if(places.begin(), places.end(), can_be_loaded);
  return found != places.end() ? *found : "";
}

std::string other_amd_tools() { return variable(kTools); }

std::vector<std::pair<std::string, std::string>> amd_environment(const std::string& library,
                                                                 const std::string& rocprofiler) {
  const std::string others = other_amd_tools();
  std::vector<std::pair<std::string, std::string>> variables = {
      {kTools, others.empty() ? library : library + ":" + others}};
  if (variable(kForce).empty()) variables.emplace_back(kForce, "1");
  if (variable(kSdk).empty()) variables.emplace_back(kSdk, rocprofiler);
  return variables;
}

}  // namespace assay
