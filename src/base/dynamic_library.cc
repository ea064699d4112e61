#include "base/dynamic_library.h"

#include <dlfcn.h>

namespace assay {

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names,
                                            const std::string& what) {
  std::string reasons;
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return DynamicLibrary(handle, name);
    }
    const char* reason = ::dlerror();
    if (reasons.empty() && reason != nullptr) reasons = reason;
  }
  return Error{ErrorCode::kUnsupported, what + " (" + reasons + ")", "", -1};
}

Result<void*> DynamicLibrary::find(const char* symbol) const {
  if (void* address = ::dlsym(handle_, symbol)) return address;
  return Error{ErrorCode::kUnsupported,
               name_ + " has no function " + symbol +
                   ": its version is older or newer than what "
                   "Assay knows",
               "", -1};
}

}  // namespace assay
