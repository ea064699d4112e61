// A bounded ring buffer of blocks between one decoding thread and one consumer.

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/byte_source.h"
#include "base/try_thread.h"

namespace assay {
namespace {

constexpr size_t kBlocks = 4;
constexpr size_t kReadBytes = 512 << 10;  // small enough to stay in a shared cache

class ReadAhead {
 public:
  explicit ReadAhead(ReadFn read) : read_(std::move(read)) {
    for (Block& block : blocks_) block.bytes.resize(kReadBytes);
    worker_ = try_thread([this] { produce(); });
  }

  ~ReadAhead() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (worker_) worker_->join();
  }

  bool started() const { return worker_.has_value(); }
  // Returns the original function. Only valid if started() is false.
  ReadFn release() { return std::move(read_); }

  Result<size_t> take(char* dst, size_t n) {
    if (taken_ == available_) {
      std::unique_lock lock(mutex_);
      if (holding_) {
        ++consumed_;
        holding_ = false;
        changed_.notify_all();
      }
      changed_.wait(lock, [this] { return produced_ > consumed_ || finished_; });
      if (produced_ == consumed_) {
        if (error_) return *error_;
        return size_t{0};
      }
      holding_ = true;
      taken_ = 0;
      available_ = blocks_[consumed_ % kBlocks].filled;
    }
    const size_t give = std::min(n, available_ - taken_);
    std::memcpy(dst, blocks_[consumed_ % kBlocks].bytes.data() + taken_, give);
    taken_ += give;
    return give;
  }

 private:
  struct Block {
    std::vector<char> bytes;
    size_t filled = 0;
  };

  void produce() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || produced_ - consumed_ < kBlocks; });
        if (stop_) return;
      }
      Block& block = blocks_[produced_ % kBlocks];
      block.filled = 0;
      std::optional<Error> error;
      bool end = false;
      while (block.filled < kReadBytes && !end) {
        auto got = read_(block.bytes.data() + block.filled, kReadBytes - block.filled);
        if (!got) error = got.take_error();
        end = error || *got == 0;
        if (!end) block.filled += *got;
      }
      std::lock_guard lock(mutex_);
      if (block.filled > 0) ++produced_;
      if (end) {
        error_ = std::move(error);
        finished_ = true;
      }
      changed_.notify_all();
      if (end) return;
    }
  }

  ReadFn read_;
  Block blocks_[kBlocks];
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t produced_ = 0;  // blocks filled so far
  uint64_t consumed_ = 0;  // blocks given back so far
  bool holding_ = false;   // the consumer owns blocks_[consumed_ % kBlocks]
  bool finished_ = false;
  bool stop_ = false;
  std::optional<Error> error_;
  size_t taken_ = 0;      // consumer side only
  size_t available_ = 0;  // consumer side only
  std::optional<std::thread> worker_;
};

}  // namespace

ReadFn read_ahead(ReadFn read) {
  auto ring = std::make_shared<ReadAhead>(std::move(read));
  if (!ring->started()) return ring->release();
  return [ring](char* dst, size_t n) { return ring->take(dst, n); };
}

}  // namespace assay
