#pragma once

// A progress line on stderr while a file is read: only on a terminal, only after a second.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "ingest/chrome/reader.h"

namespace assay {

// " 42 %" of what is stored, "123 MB" where that is not known or more was read.
std::string progress_words(uint64_t read, uint64_t total);

class ProgressBar {
 public:
  // progress must outlive the bar. Draws nothing unless stderr is a terminal.
  ProgressBar(std::string name, const ReadProgress& progress);
  // Takes the line away again.
  ~ProgressBar();

 private:
  void draw_until_stopped();

  std::string name_;
  const ReadProgress& progress_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::optional<std::thread> painter_;
};

}  // namespace assay
