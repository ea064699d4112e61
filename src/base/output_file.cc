#include "base/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace assay {
namespace {

// Behind a symbolic link the file itself is replaced, not the link.
std::string target_of(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_symlink(path, failed)) return path;
  const auto target = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : target.string();
}

}  // namespace

bool is_special_file(const std::string& path) {
  std::error_code failed;
  const auto kind = std::filesystem::status(path, failed).type();
  return kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::socket ||
         kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::block;
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  if (path == "-") return OutputFile(stdout, "standard output", "", "");
  const bool direct = is_special_file(path);
  const std::string target = direct ? path : target_of(path);
  const std::string temporary = direct ? "" : target + ".tmp-" + std::to_string(::getpid());
  std::FILE* file = std::fopen(direct ? path.c_str() : temporary.c_str(), "wb");
  const int code = errno;
  OutputFile output(file, path, target, temporary);
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
  if (file_ == nullptr || file_ == stdout) return;
  std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

Error OutputFile::failed(int code) const {
  return {ErrorCode::kIo, std::string("cannot write: ") + std::strerror(code), path_, -1};
}

Status OutputFile::failed_or_gone() {
  reader_gone_ = temporary_.empty() && errno == EPIPE;
  return reader_gone_ ? Status(Ok{}) : Status(failed(errno));
}

Status OutputFile::write(std::string_view text) {
  if (reader_gone_ || std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return Ok{};
  return failed_or_gone();
}

// 0, or the error's number. Standard output stays open.
int OutputFile::close() {
  if (file_ == stdout) return 0;
  const bool synced = temporary_.empty() || ::fsync(::fileno(file_)) == 0;
  const int code = errno;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) return errno;
  return synced ? 0 : code;
}

Status OutputFile::finish() {
  if (reader_gone_) return Ok{};
  if (std::fflush(file_) != 0) return failed_or_gone();
  int code = close();
  if (temporary_.empty()) return code == 0 || code == EPIPE ? Status(Ok{}) : failed(code);
  if (code == 0 && std::rename(temporary_.c_str(), target_.c_str()) != 0) code = errno;
  if (code == 0) return Ok{};
  std::remove(temporary_.c_str());
  return failed(code);
}

}  // namespace assay
