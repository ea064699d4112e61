#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/beside.h"

namespace assay {

// work(index, worker) for every index below `count`, each once, in up to `threads` threads; worker:
// which of them, the caller's own being 0. Where the system grants fewer, those that there are do
// it all. What work throws is thrown here, after all have stopped.
template <typename Work>
void side_by_side(size_t count, unsigned threads, Work&& work) {
  std::atomic<size_t> next = 0;
  const auto go_on = [&](size_t worker) {
    for (size_t index = next++; index < count; index = next++) work(index, worker);
    return true;
  };
  std::vector<std::unique_ptr<Beside<bool>>> others;
  const size_t most = std::min<size_t>(threads, count);
  for (size_t worker = 1; worker < most; ++worker) {
    others.push_back(std::make_unique<Beside<bool>>(
        [&go_on, worker](const std::atomic<bool>&) { return go_on(worker); }, true));
  }
  go_on(0);
  for (const auto& other : others) other->take();
}

}  // namespace assay
