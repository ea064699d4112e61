#pragma once

// A progress line on stderr while a file is read: only on a terminal, after one second. With
// ASSAY_PROGRESS=lines in the environment, prints lines for another program from the start.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "ingest/chrome/reader.h"

namespace assay {

// " 42 %" of the stored bytes; "123 MB" if the total is unknown or exceeded.
std::string progress_words(uint64_t read, uint64_t total);

// "progress 84 200 trace.json.gz
// ": bytes read, total bytes (0 = unknown), file. The first number never exceeds the total, because
// the size of a growing file is known only at its end.
std::string progress_line(uint64_t read, uint64_t total, const std::string& name);

class ProgressBar {
 public:
  // progress must outlive the bar. Draws nothing unless stderr is a terminal or
  // ASSAY_PROGRESS=lines.
  ProgressBar(std::string name, const ReadProgress& progress);
  // Erases the line.
  ~ProgressBar();

 private:
  void draw(bool at_end);
  void draw_until_stopped();

  std::string name_;
  const ReadProgress& progress_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  bool lines_ = false;
  std::optional<std::thread> painter_;
};

}  // namespace assay
