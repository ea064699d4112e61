#include "cli/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace assay {

Result<OutputFile> OutputFile::open(const std::string& path) {
  if (path == "-") return OutputFile(stdout, "standard output", "");
  const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  OutputFile output(file, path, temporary);
  if (file == nullptr) return output.failed(errno);
  return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      reader_gone_(other.reader_gone_) {}

OutputFile::~OutputFile() {
  if (file_ == nullptr || temporary_.empty()) return;
  std::fclose(file_);
  std::remove(temporary_.c_str());
}

Error OutputFile::failed(int code) const {
  return {ErrorCode::kIo, std::string("cannot write: ") + std::strerror(code), path_, -1};
}

Status OutputFile::write(std::string_view text) {
  if (reader_gone_ || std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return Ok{};
  reader_gone_ = temporary_.empty() && errno == EPIPE;
  if (reader_gone_) return Ok{};
  return failed(errno);
}

Status OutputFile::finish() {
  if (reader_gone_) return Ok{};
  if (std::fflush(file_) != 0) {
    reader_gone_ = temporary_.empty() && errno == EPIPE;
    if (reader_gone_) return Ok{};
    return failed(errno);
  }
  if (temporary_.empty()) return Ok{};
  const int closed = std::fclose(std::exchange(file_, nullptr));
  if (closed == 0 && std::rename(temporary_.c_str(), path_.c_str()) == 0) return Ok{};
  const int code = errno;
  std::remove(temporary_.c_str());
  return failed(code);
}

}  // namespace assay
