#include "base/real_path.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace assay {

Result<std::string> real_path(const std::string& path) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  if (real) return std::string(real.get());
  return Error{ErrorCode::kIo, std::string("cannot be looked at: ") + std::strerror(errno), path,
               -1};
}

bool lies_in(const std::string& path, const std::string& folder) {
  if (folder == "/" || path == folder) return true;
  return path.starts_with(folder) && path[folder.size()] == '/';
}

}  // namespace assay
