#include "cli/export_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace assay {
namespace {

Error write_error(const std::string& path, int code) {
  return {ErrorCode::kIo, fmt::format("cannot write: {}", std::strerror(code)), path, -1};
}

std::string temporary_name(const std::string& path) {
  return fmt::format("{}.tmp-{}", path, ::getpid());
}

// A pipe or a device is written to as it is: a rename would put a file in its place.
bool is_special(const std::string& path) {
  std::error_code failed;
  const auto kind = std::filesystem::status(path, failed).type();
  return kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::socket ||
         kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::block;
}

// Behind a symbolic link the file itself is replaced, not the link.
std::string target_of(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_symlink(path, failed)) return path;
  const auto target = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : target.string();
}

// Everything into the open file, and the file closed; 0 or the error's number.
int write_and_close(std::FILE* file, const std::string& text, bool sync) {
  errno = 0;
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = std::fflush(file) == 0 && written;
  if (sync) written = ::fsync(::fileno(file)) == 0 && written;
  const int code = errno;
  if (std::fclose(file) != 0 && written) return errno;
  return written ? 0 : code;
}

Status write_special(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return write_error(path, errno);
  const int code = write_and_close(file, text, false);
  // The reader of a pipe may stop early, as `head` does: that is no failure.
  return code == 0 || code == EPIPE ? Status(Ok{}) : Status(write_error(path, code));
}

}  // namespace

Status check_export(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code failed;
    if (std::filesystem::equivalent(input, path, failed)) {
      return Error{ErrorCode::kInvalidArgument, "is an input: it would be overwritten", path, -1};
    }
  }
  if (std::filesystem::is_directory(path)) return write_error(path, EISDIR);
  if (is_special(path)) return Ok{};
  const std::string temporary = temporary_name(target_of(path));
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return write_error(path, errno);
  std::fclose(file);
  std::remove(temporary.c_str());
  return Ok{};
}

Status export_file(const std::string& path, const std::string& text) {
  if (is_special(path)) return write_special(path, text);
  const std::string target = target_of(path);
  const std::string temporary = temporary_name(target);
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return write_error(path, errno);
  int code = write_and_close(file, text, true);
  if (code == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code == 0) return Ok{};
  std::remove(temporary.c_str());
  return write_error(path, code);
}

}  // namespace assay
