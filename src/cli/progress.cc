#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/platform/platform.h"
#include "base/try_thread.h"
#include "text/plain_text.h"

namespace assay {

std::string progress_words(uint64_t read, uint64_t total) {
  // A growing file, or one that is partly read twice, exceeds its initial size.
  if (total == 0 || read > total) return fmt::format("{} MB", read / 1000000);
  return fmt::format("{:3.0f} %", 100.0 * static_cast<double>(read) / static_cast<double>(total));
}

std::string progress_line(uint64_t read, uint64_t total, const std::string& name) {
  return fmt::format("progress {} {} {}\n", total > 0 && read > total ? total : read, total,
                     clean_text(name));
}

ProgressBar::ProgressBar(std::string name, const ReadProgress& progress)
    : name_(std::move(name)), progress_(progress) {
  const char* asked = std::getenv("ASSAY_PROGRESS");
  lines_ = asked != nullptr && std::string_view(asked) == "lines";
  if (lines_ || platform::is_terminal(STDERR_FILENO)) {
    painter_ = try_thread([this] { draw_until_stopped(); });
  }
}

ProgressBar::~ProgressBar() {
  if (!painter_) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  painter_->join();
}

void ProgressBar::draw(bool at_end) {
  const uint64_t read = progress_.stored_bytes_read.load(std::memory_order_relaxed);
  const uint64_t total = progress_.stored_bytes.load(std::memory_order_relaxed);
  if (lines_) {
    fmt::print(stderr, "{}", progress_line(at_end && total > 0 ? total : read, total, name_));
  } else if (at_end) {
    fmt::print(stderr, "\r\x1b[K");
  } else {
    fmt::print(stderr, "\rreading {} {}\x1b[K", clean_text(name_), progress_words(read, total));
  }
  std::fflush(stderr);
}

void ProgressBar::draw_until_stopped() {
  std::unique_lock lock(mutex_);
  const auto stopped = [this] { return stop_; };
  const bool done = !lines_ && stopping_.wait_for(lock, std::chrono::seconds(1), stopped);
  if (done) return;
  do {
    draw(false);
  } while (!stopping_.wait_for(lock, std::chrono::milliseconds(200), stopped));
  draw(true);
}

}  // namespace assay
