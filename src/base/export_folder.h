#pragma once

// A folder written in addition to the main output. It is complete or absent, as in
// base/export_file.h.

#include <string>
#include <utility>

#include "base/result.h"
#include "base/temporaries.h"

namespace assay {

// A folder that is renamed to its final name by finish(). Without finish(), nothing is left.
class ExportFolder {
 public:
  // Fails if `path` exists and is not an empty folder, or if its parent is not writable.
  static Result<ExportFolder> open(const std::string& path);

  // Temporary folder to write the files to, until finish().
  const std::string& place() const { return temporary_.path(); }
  Status finish();

 private:
  ExportFolder(std::string path, Temporary temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string path_;
  Temporary temporary_;
};

}  // namespace assay
