#include "collect/sample/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace assay::sample {

Result<Output> Output::open(const std::string& path) {
  if (path == "-") return Output(STDOUT_FILENO, false, "standard output");
  constexpr mode_t kReadable = 0644;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadable);
  if (fd < 0) {
    return Error{ErrorCode::kIo, std::string("cannot be written: ") + std::strerror(errno), path,
                 -1};
  }
  return Output(fd, true, path);
}

Output::~Output() {
  if (owned_ && fd_ >= 0) ::close(fd_);
}

Error Output::failed(int code) const {
  return Error{ErrorCode::kIo,
               std::string("writing failed: ") + std::strerror(code) +
                   "; what was written before is complete to its last line",
               path_, -1};
}

Status Output::write(std::string_view lines) {
  size_t done = 0;
  while (done < lines.size()) {
    const ssize_t n = ::write(fd_, lines.data() + done, lines.size() - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    const int code = n < 0 ? errno : ENOSPC;
    if (code == EINTR) continue;
    reader_gone_ = code == EPIPE;
    struct stat info = {};
    const bool file = owned_ && ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
    if (file && ::ftruncate(fd_, bytes_) != 0) {
      return Error{ErrorCode::kIo, "writing failed, and the last line may be cut short", path_, -1};
    }
    return failed(code);
  }
  bytes_ += static_cast<int64_t>(done);
  return Ok{};
}

Status Output::close() {
  if (!owned_ || fd_ < 0) return Ok{};
  const int code = ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
  return code == 0 ? Status(Ok{}) : Status(failed(code));
}

}  // namespace assay::sample
