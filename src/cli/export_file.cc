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

}  // namespace

Status check_export(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code failed;
    if (std::filesystem::equivalent(input, path, failed)) {
      return Error{ErrorCode::kInvalidArgument, "is an input: it would be overwritten", path, -1};
    }
  }
  if (std::filesystem::is_directory(path)) return write_error(path, EISDIR);
  const std::string temporary = temporary_name(path);
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return write_error(path, errno);
  std::fclose(file);
  std::remove(temporary.c_str());
  return Ok{};
}

Status export_file(const std::string& path, const std::string& text) {
  const std::string temporary = temporary_name(path);
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return write_error(path, errno);
  errno = 0;
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written = std::fflush(file) == 0 && written;
  written = ::fsync(::fileno(file)) == 0 && written;
  int code = errno;
  if (std::fclose(file) != 0 && written) {
    written = false;
    code = errno;
  }
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return Ok{};
  if (written) code = errno;
  std::remove(temporary.c_str());
  return write_error(path, code);
}

}  // namespace assay
