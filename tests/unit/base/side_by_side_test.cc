#include "base/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace assay {
namespace {

TEST(SideBySide, DoesEveryPieceOnceWhateverTheThreads) {
  for (const unsigned threads : {0u, 1u, 3u, 64u}) {
    std::vector<int> done(50, 0);
    std::vector<std::atomic<int>> by_worker(64);
    side_by_side(done.size(), threads, [&](size_t index, size_t worker) {
      ++done[index];
      ++by_worker.at(worker);
    });
    EXPECT_EQ(done, std::vector<int>(50, 1)) << threads;
    int all = 0;
    for (size_t w = 0; w < by_worker.size(); ++w) {
      if (w >= std::max(threads, 1u)) {
        EXPECT_EQ(by_worker[w], 0) << threads;
      }
      all += by_worker[w];
    }
    EXPECT_EQ(all, 50);
  }
}

TEST(SideBySide, NothingToDoIsNothingDone) {
  side_by_side(0, 4, [](size_t, size_t) { FAIL(); });
}

TEST(SideBySide, HandsOnWhatWorkThrows) {
  for (const unsigned threads : {1u, 4u}) {
    const auto fails = [](size_t index, size_t) {
      if (index == 7) throw std::runtime_error("seven");
    };
    EXPECT_THROW(side_by_side(20, threads, fails), std::runtime_error) << threads;
  }
}

}  // namespace
}  // namespace assay
