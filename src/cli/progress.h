#pragma once

// A progress line on stderr while a file is read: only on a terminal, only after a second. With
// ASSAY_PROGRESS=lines in the environment it is lines for another program, from the start.

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

// "progress 84 200 trace.json.gz\n": bytes read, bytes in all (0 = not known), the file. Never more
// than all, which only the end of the file says.
std::string progress_line(uint64_t read, uint64_t total, const std::string& name);

class ProgressBar {
 public:
  // progress must outlive the bar. Draws nothing unless stderr is a terminal or lines are wanted.
  ProgressBar(std::string name, const ReadProgress& progress);
  // Takes the line away again.
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
