#pragma once

// The output file of samples. Contains complete lines only.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace assay::sample {

class Output {
 public:
  // "-" is standard output. Overwrites an existing file.
  static Result<Output> open(const std::string& path);
  Output(Output&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        owned_(other.owned_),
        path_(std::move(other.path_)),
        bytes_(other.bytes_) {}
  Output& operator=(Output&&) = delete;
  ~Output();

  // Appends complete lines. If that fails, truncates a file to the lines before.
  Status write(std::string_view lines);
  Status close();
  bool reader_gone() const { return reader_gone_; }

 private:
  Output(int fd, bool owned, std::string path) : fd_(fd), owned_(owned), path_(std::move(path)) {}
  Error failed(int code) const;

  int fd_;
  bool owned_;
  std::string path_;
  int64_t bytes_ = 0;
  bool reader_gone_ = false;
};

}  // namespace assay::sample
