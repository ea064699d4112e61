#include "base/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.h"

namespace assay {

Result<OutputFile> OutputFile::open(const std::string& path) {
  if (path == "-") return OutputFile(stdout, "standard output", "", Temporary());
  if (is_special_file(path)) {
    ASSAY_TRY_ASSIGN(FileHandle file, open_file(path, "wb"));
    return OutputFile(file.release(), path, path, Temporary());
  }
  auto target = link_target(path);
  if (!target) return target.take_error();
  int descriptor = -1;
  auto temporary = temporary_beside(*target, descriptor);
  if (!temporary) {
    Error error = temporary.take_error();
    error.file = path;
    return error;
  }
  std::FILE* file = ::fdopen(descriptor, "wb");
  const int code = errno;
  if (file == nullptr) ::close(descriptor);
  OutputFile output(file, path, *std::move(target), *std::move(temporary));
  if (file == nullptr) return output.failed(code);
  return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      reader_gone_(other.reader_gone_) {}

OutputFile::~OutputFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

Error OutputFile::failed(int code) const {
  return {ErrorCode::kIo, std::string("cannot write: ") + std::strerror(code), path_, -1};
}

Status OutputFile::failed_or_gone() {
  reader_gone_ = is_direct() && errno == EPIPE;
  return reader_gone_ ? Status(Ok{}) : Status(failed(errno));
}

Status OutputFile::write(std::string_view text) {
  if (reader_gone_ || std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return Ok{};
  return failed_or_gone();
}

// Returns 0 or an errno value. Standard output stays open.
int OutputFile::close() {
  if (file_ == stdout) return 0;
  const bool synced = is_direct() || ::fsync(::fileno(file_)) == 0;
  const int code = errno;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) return errno;
  return synced ? 0 : code;
}

Status OutputFile::finish() {
  if (reader_gone_) return Ok{};
  if (std::fflush(file_) != 0) return failed_or_gone();
  int code = close();
  if (is_direct()) return code == 0 || code == EPIPE ? Status(Ok{}) : failed(code);
  if (code == 0 && std::rename(temporary_.path().c_str(), target_.c_str()) != 0) code = errno;
  if (code != 0) return failed(code);
  temporary_.keep();
  return Ok{};
}

}  // namespace assay
