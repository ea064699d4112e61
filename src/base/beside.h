#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/try_thread.h"

namespace assay {

// Work whose result is wanted later: in a thread beside its maker where asked for and where the
// system grants one, else done by whoever takes the result, at that moment. What it reads must
// outlive it, and nobody may change that until take().
template <typename T>
class Beside {
 public:
  // stop: set when nobody wants the result any more. Work may look at it, or go on to its end.
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
