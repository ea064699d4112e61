#pragma once

// Standard output, or a file that appears under its name only when it is whole.

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

class OutputFile {
 public:
  // path: "-" is standard output.
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without finish() nothing is left

  // That the reader of a pipe has gone is no failure, but the rest need not be made.
  Status write(std::string_view text);
  bool reader_gone() const { return reader_gone_; }
  Status finish();

 private:
  OutputFile(std::FILE* file, std::string path, std::string temporary)
      : file_(file), path_(std::move(path)), temporary_(std::move(temporary)) {}
  Error failed(int code) const;

  std::FILE* file_;
  std::string path_;
  std::string temporary_;  // empty: standard output
  bool reader_gone_ = false;
};

}  // namespace assay
