#include "collect/record/cupti_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "collect/record/loaded.h"

namespace assay::record {
namespace {

template <typename Function>
bool bind(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

bool bind_all(void* library, cupti::Functions& to) {
  bind(library, "cuptiActivityRegisterTimestampCallback", to.register_timestamp);
  bind(library, "cuptiActivitySetAttribute", to.set_attribute);
  bind(library, "cuptiEnableCallback", to.enable_callback);
  bind(library, "cuptiActivityEnableRuntimeApi", to.enable_runtime_call);
  bind(library, "cuptiActivityEnableDriverApi", to.enable_driver_call);
  return bind(library, "cuptiGetVersion", to.get_version) &&
         bind(library, "cuptiGetResultString", to.get_result_string) &&
         bind(library, "cuptiSubscribe", to.subscribe) &&
         bind(library, "cuptiUnsubscribe", to.unsubscribe) &&
         bind(library, "cuptiActivityRegisterCallbacks", to.register_callbacks) &&
         bind(library, "cuptiActivityEnable", to.enable) &&
         bind(library, "cuptiActivityDisable", to.disable) &&
         bind(library, "cuptiActivityFlushAll", to.flush_all) &&
         bind(library, "cuptiActivityGetNextRecord", to.next_record) &&
         bind(library, "cuptiActivityGetNumDroppedRecords", to.dropped) &&
         bind(library, "cuptiGetTimestamp", to.timestamp) &&
         bind(library, "cuptiGetCallbackName", to.callback_name) &&
         bind(library, "cuptiSetThreadIdType", to.set_thread_id_type);
}

constexpr const char* kSonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                    "libcupti.so.11.7", "libcupti.so"};

// Prefers the CUDA major version of the loaded runtime: the CUPTI of a newer CUDA may reject an
// older driver.
std::vector<std::string> sonames_for(const std::vector<std::string>& loaded) {
  std::vector<std::string> names;
  for (const std::string& path : loaded) {
    const std::string name = base_name(path);
    if (starts_with(name, "libcudart.so.13")) names.emplace_back("libcupti.so.13");
    if (starts_with(name, "libcudart.so.12")) names.emplace_back("libcupti.so.12");
    if (starts_with(name, "libcudart.so.11")) names.emplace_back("libcupti.so.11.8");
  }
  for (const char* name : kSonames) names.emplace_back(name);
  return names;
}

// libcupti.so.13 belongs to CUDA 13, libcupti.so.11.8 to CUDA 11. A name without a version may fit.
bool fits(const std::string& path, uint32_t driver) {
  constexpr std::string_view kStem = "libcupti.so.";
  const std::string name = base_name(path);
  if (driver == 0 || !starts_with(name, kStem.data())) return true;
  const long major = std::strtol(name.c_str() + kStem.size(), nullptr, 10);
  return major <= static_cast<long>(driver / 1000);
}

void add_folder(const std::string& folder, const std::vector<std::string>& names,
                std::vector<std::string>& candidates) {
  for (const std::string& name : names) candidates.push_back(folder + "/" + name);
}

}  // namespace

CuptiLibrary open_cupti(const std::string& path) {
  CuptiLibrary library;
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    library.problem = reason != nullptr ? reason : path + " cannot be loaded";
    return library;
  }
  uint32_t version = 0;
  if (!bind_all(handle, library.functions) || library.functions.get_version(&version) != 0) {
    library.functions = {};
    library.problem = path + " is not a CUPTI that Assay knows";
    return library;
  }
  library.version = version;
  return library;
}

std::vector<std::string> cupti_candidates(uint32_t driver) {
  const std::vector<std::string> loaded = loaded_libraries();
  std::vector<std::string> candidates;
  for (const std::string& path : loaded) {
    if (starts_with(base_name(path), "libcupti.so")) candidates.push_back(path);
  }
  const std::vector<std::string> names = sonames_for(loaded);
  candidates.insert(candidates.end(), names.begin(), names.end());
  for (const std::string& path : loaded) {
    const std::string name = base_name(path);
    const bool cuda = starts_with(name, "libcudart") || starts_with(name, "libcublas") ||
                      starts_with(name, "libtorch_c") || starts_with(name, "libnvrtc") ||
                      starts_with(name, "libc10_cuda");
    const size_t slash = path.rfind('/');
    if (!cuda || slash == std::string::npos) continue;
    const std::string folder = path.substr(0, slash);
    add_folder(folder, names, candidates);
    add_folder(folder + "/../extras/CUPTI/lib64", names, candidates);
    // .../site-packages/nvidia/cuda_runtime/lib, nvidia/cu13/lib, torch/lib
    add_folder(folder + "/../../cuda_cupti/lib", names, candidates);
    add_folder(folder + "/../../nvidia/cuda_cupti/lib", names, candidates);
    add_folder(folder + "/../../nvidia/cu13/lib", names, candidates);
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = std::getenv(variable);
    if (home == nullptr || *home == '\0') continue;
    add_folder(std::string(home) + "/extras/CUPTI/lib64", names, candidates);
    add_folder(std::string(home) + "/lib64", names, candidates);
  }
  for (const char* folder : {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64",
                             "/usr/local/cuda/lib", "/usr/lib/x86_64-linux-gnu"}) {
    add_folder(folder, names, candidates);
  }
  std::stable_partition(candidates.begin(), candidates.end(),
                        [driver](const std::string& path) { return fits(path, driver); });
  return candidates;
}

bool kineto_is_loaded() {
  for (const std::string& path : loaded_libraries()) {
    const std::string name = base_name(path);
    if (!starts_with(name, "libtorch_cpu") && !starts_with(name, "libkineto")) continue;
    void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const bool found = ::dlsym(library, "libkineto_init") != nullptr;
    ::dlclose(library);
    if (found) return true;
  }
  return false;
}

void* driver_function(const char* name) {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return ::dlsym(driver != nullptr ? driver : RTLD_DEFAULT, name);
}

uint32_t driver_version() {
  auto* get = reinterpret_cast<int (*)(int*)>(driver_function("cuDriverGetVersion"));
  int version = 0;
  return get != nullptr && get(&version) == 0 && version > 0 ? static_cast<uint32_t>(version) : 0;
}

}  // namespace assay::record
