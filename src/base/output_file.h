#pragma once

// Standard output, or a file that appears under its name only when it is whole.

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/temporaries.h"

namespace assay {

class OutputFile {
 public:
  // path: "-" is standard output. A file is written under a temporary name in the same folder, then
  // renamed: a reader sees the old file or the whole new one. Pipes and devices are written to
  // directly, because a rename would put a file in their place.
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without finish(), or where a signal ends the process, nothing is left

  // A closed pipe is not a failure, but no further output is needed.
  Status write(std::string_view text);
  bool reader_gone() const { return reader_gone_; }
  Status finish();
  // Temporary name of the file until then, for code that must write it by name; empty if there is
  // none.
  const std::string& temporary() const { return temporary_.path(); }

 private:
  OutputFile(std::FILE* file, std::string path, std::string target, Temporary temporary)
      : file_(file),
        path_(std::move(path)),
        target_(std::move(target)),
        temporary_(std::move(temporary)) {}
  Error failed(int code) const;
  Status failed_or_gone();
  bool is_direct() const { return temporary_.path().empty(); }
  int close();

  std::FILE* file_;
  std::string path_;
  std::string target_;   // what a symbolic link leads to
  Temporary temporary_;  // none: written to directly
  bool reader_gone_ = false;
};

}  // namespace assay
