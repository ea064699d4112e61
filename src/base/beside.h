#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/try_thread.h"

namespace assay {

// A result that is needed later. A thread computes it in parallel if requested and available.
// Otherwise the caller of take() computes it then. The inputs must outlive it and stay unchanged
// until take().
template <typename T>
class Beside {
 public:
  // stop: set if the result is not wanted. Work may check it, or run to its end.
  using Work = std::function<T(const std::atomic<bool>& stop)>;

  Beside(Work work, bool in_thread) : work_(std::move(work)) {
    if (in_thread) thread_ = try_thread([this] { keep_result(); });
  }
  ~Beside() {
    stop_ = true;
    if (thread_) thread_->join();
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  // The result, once; what the work threw is thrown here.
  T take() {
    if (!thread_) return work_(stop_);
    thread_->join();
    thread_.reset();
    if (thrown_) std::rethrow_exception(thrown_);
    return *std::move(done_);
  }

 private:
  void keep_result() {
    try {
      done_ = work_(stop_);
    } catch (...) {  // no memory: a thread that throws would end the program
      thrown_ = std::current_exception();
    }
  }

  Work work_;
  std::atomic<bool> stop_ = false;
  std::optional<T> done_;
  std::exception_ptr thrown_;
  std::optional<std::thread> thread_;
};

}  // namespace assay
