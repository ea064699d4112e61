#pragma once

// Rows of another format as the text of a Chrome trace, so that the rules for that format
// (docs/formats/kineto.md) are in one place.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Writes the text a chunk at a time while it is read.
class GeneratedChromeText {
 public:
  virtual ~GeneratedChromeText() = default;

  // Reads the text. Offsets in the log are dropped: they refer to the text and not to the file.
  // Errors: those of read_chrome_stream.
  Result<Trace> read_trace(const ReadOptions& options);

 protected:
  // Writes some of the remaining rows; false if there are none.
  virtual bool write_next() = 0;

  // Begins a row, which the caller continues after the thread and ends with "}".
  void begin_row(std::string_view phase, int64_t pid, std::string_view tid);
  // Metadata of a process or thread: what = "process_name" or "thread_name".
  void write_name(std::string_view what, std::string_view name, int64_t pid, std::string_view tid);
  // `key`, then ns as microseconds with three decimals.
  void write_us(std::string_view key, int64_t ns);

  std::string text_;

 private:
  size_t read(char* dst, size_t n);

  size_t taken_ = 0;
  bool begun_ = false;
  bool done_ = false;
};

}  // namespace assay
