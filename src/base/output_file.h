#pragma once

// Standard output, or a file that appears under its name only when complete.

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/temporaries.h"

namespace assay {

class OutputFile {
 public:
  // path: "-" is standard output. A file is written under a temporary name in the same folder, then
  // renamed: readers see the old file or the complete new one. Pipes and devices are written
  // directly, because a rename would replace them by a file.
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without finish(), or if a signal ends the process, nothing is left

  // A closed pipe is not an error; check reader_gone() to stop writing.
  Status write(std::string_view text);
  bool reader_gone() const { return reader_gone_; }
  Status finish();
  // Temporary name of the file until finish(), for code that must write it by name. Empty if there
  // is none.
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
  std::string target_;   // resolved target if path_ is a symbolic link
  Temporary temporary_;  // empty if written directly
  bool reader_gone_ = false;
};

}  // namespace assay
