#include "base/export_file.h"

#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "base/output_file.h"

namespace assay {

Status check_export(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (is_same_file(input, path)) {
      return Error{ErrorCode::kInvalidArgument, "is an input: it would be overwritten", path, -1};
    }
  }
  if (is_folder(path)) {
    return Error{ErrorCode::kIo, std::string("cannot write: ") + std::strerror(EISDIR), path, -1};
  }
  if (is_special_file(path)) return Ok{};
  ASSAY_TRY(OutputFile::open(path));  // a temporary file that is discarded
  return Ok{};
}

Status export_file(const std::string& path, const std::string& text) {
  ASSAY_TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  ASSAY_TRY(file.write(text));
  return file.finish();
}

Status export_file_with(const std::string& path,
                        const std::function<Status(const std::string&)>& write) {
  ASSAY_TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  if (file.temporary().empty()) {
    return Error{ErrorCode::kInvalidArgument, "not a file: this format cannot be streamed", path,
                 -1};
  }
  if (Status status = write(file.temporary()); !status) {
    Error error = status.take_error();
    error.file = path;
    return error;
  }
  return file.finish();
}

}  // namespace assay
