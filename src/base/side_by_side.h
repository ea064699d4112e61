#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/beside.h"

namespace assay {

// Number of threads that side_by_side() uses for `count` items, including the caller's.
inline size_t workers_for(size_t count, unsigned threads) {
  return std::clamp<size_t>(threads, 1, std::max<size_t>(count, 1));
}

// Calls work(index, worker) once for every index below `count`, in up to `threads` threads. worker:
// index of the thread; the caller's is 0. If the system grants fewer threads, those process all
// items. Rethrows an exception of `work` after all threads have stopped.
template <typename Work>
void side_by_side(size_t count, unsigned threads, Work&& work) {
  std::atomic<size_t> next = 0;
  const auto go_on = [&](size_t worker) {
    for (size_t index = next++; index < count; index = next++) work(index, worker);
    return true;
  };
  std::vector<std::unique_ptr<Beside<bool>>> others;
  for (size_t worker = 1; worker < workers_for(count, threads); ++worker) {
    others.push_back(std::make_unique<Beside<bool>>(
        [&go_on, worker](const std::atomic<bool>&) { return go_on(worker); }, true));
  }
  go_on(0);
  for (const auto& other : others) other->take();
}

}  // namespace assay
