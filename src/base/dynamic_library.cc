#include "base/dynamic_library.h"

#include "base/files.h"
#include "base/platform/platform.h"

namespace assay {

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names,
                                            const std::string& what) {
  std::string reasons;
  for (const std::string& name : names) {
    if (void* handle = platform::open_library(name.c_str())) {
      return DynamicLibrary(handle, name);
    }
    const std::string reason = platform::library_error();
    if (reasons.empty()) reasons = reason;
  }
  return Error{ErrorCode::kUnsupported, what + " (" + reasons + ")", "", -1};
}

std::vector<std::string> libraries_beside_program(const std::string& file_name) {
  std::vector<std::string> names;
  for (const char* beside : {"", "lib/assay", "../lib/assay", "../lib"}) {
    const std::string name = normal_path(joined(joined(program_folder(), beside), file_name));
    if (file_exists(name) && check_trusted(name)) names.push_back(name);
  }
  names.push_back(file_name);
  return names;
}

std::string DynamicLibrary::path() const { return platform::library_path(handle_); }

Result<void*> DynamicLibrary::find(const char* symbol) const {
  if (void* address = platform::library_symbol(handle_, symbol)) return address;
  return Error{ErrorCode::kUnsupported,
               name_ + " has no function " + symbol +
                   ": its version is older or newer than what "
                   "Assay knows",
               "", -1};
}

}  // namespace assay
