#pragma once

// The libraries that the process has loaded.

#include <link.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::record {

inline std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
          static_cast<std::vector<std::string>*>(found)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &paths);
  return paths;
}

inline std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

inline bool starts_with(const std::string& text, const char* start) {
  return text.rfind(start, 0) == 0;
}

inline bool torch_is_loaded() {
  const std::vector<std::string> libraries = loaded_libraries();
  return std::any_of(libraries.begin(), libraries.end(), [](const std::string& path) {
    return starts_with(base_name(path), "libtorch_cpu");
  });
}

}  // namespace assay::record
