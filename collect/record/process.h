#pragma once

// What a recorder says on stderr, and what the program is called that it is in.

#include <unistd.h>

#include <string>

namespace assay::record {

inline void say_line(const std::string& text) {
  const std::string line = "assay record: " + text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

// Without folders; "unknown" where /proc does not tell.
inline std::string running_program() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return "unknown";
  const std::string text(path, static_cast<size_t>(length));
  return text.substr(text.rfind('/') + 1);
}

}  // namespace assay::record
