#include "base/export_folder.h"

#include "base/files.h"

namespace assay {

Result<ExportFolder> ExportFolder::open(const std::string& path) {
  if (file_exists(path) && !is_empty_folder(path)) {
    return Error{ErrorCode::kInvalidArgument,
                 "exists and is not an empty folder: an export needs a new or empty one", path, -1};
  }
  std::string target = path;
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  ASSAY_TRY_ASSIGN(Temporary temporary, temporary_folder_beside(target));
  return ExportFolder(target, std::move(temporary));
}

Status ExportFolder::finish() {
  ASSAY_TRY(rename_file(temporary_.path(), path_));
  temporary_.keep();
  return Ok{};
}

}  // namespace assay
