#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/try_thread.h"

namespace assay {

// A deferred result. If `in_thread` is set and a thread is available, it is computed in parallel.
// Otherwise take() computes it in the calling thread. The inputs must outlive the object and stay
// unchanged until take().
template <typename T>
class Beside {
 public:
  // stop: set when the result is not needed. The function may check it and return early.
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

  // Returns the result. Call it once. Rethrows an exception of the work function.
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
    } catch (...) {  // usually bad_alloc; an exception that escapes a thread would end the program
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
