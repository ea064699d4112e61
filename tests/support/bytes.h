#pragma once

// Input bytes for tests: from memory in pieces of any size, and through files on disk.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "base/byte_source.h"

namespace assay::testing {

// Delivers at most `crumb` bytes at a time.
inline ReadFn bytes_of(std::string text, size_t crumb = SIZE_MAX) {
  return [text = std::move(text), crumb, at = size_t{0}](char* dst,
                                                         size_t n) mutable -> Result<size_t> {
    const size_t give = std::min({n, crumb, text.size() - at});
    std::memcpy(dst, text.data() + at, give);
    at += give;
    return give;
  };
}

// A file that goes away with the object.
class TempFile {
 public:
  explicit TempFile(const std::string& content, const std::string& suffix = ".json") {
    std::string name = "/tmp/assay-test-XXXXXX" + suffix;
    const int fd = ::mkstemps(name.data(), static_cast<int>(suffix.size()));
    path_ = name;
    size_t written = 0;
    while (written < content.size()) {
      const ssize_t n = ::write(fd, content.data() + written, content.size() - written);
      if (n <= 0) std::abort();
      written += static_cast<size_t>(n);
    }
    ::close(fd);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Everything a source delivers; the error when there is one.
inline Result<std::string> read_all(const ReadFn& read, size_t block = 1000) {
  std::string text;
  std::string buffer(block, '\0');
  for (;;) {
    auto got = read(buffer.data(), buffer.size());
    if (!got) return got.take_error();
    if (*got == 0) return text;
    text.append(buffer, 0, *got);
  }
}

}  // namespace assay::testing
