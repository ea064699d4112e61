#pragma once

// A folder beside the document: whole or not there, as base/export_file.h does it for files.

#include <string>
#include <utility>

#include "base/result.h"
#include "base/temporaries.h"

namespace assay {

// A folder that gets its name when everything is in it. Without finish() nothing is left.
class ExportFolder {
 public:
  // Errors: something lies there that is no empty folder; nothing can be written beside it.
  static Result<ExportFolder> open(const std::string& path);

  // Where its files go until it is whole.
  const std::string& place() const { return temporary_.path(); }
  Status finish();

 private:
  ExportFolder(std::string path, Temporary temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string path_;
  Temporary temporary_;
};

}  // namespace assay
