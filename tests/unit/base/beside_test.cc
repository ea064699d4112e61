#include "base/beside.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace assay {
namespace {

TEST(Beside, GivesTheResultOfAThread) {
  std::thread::id worker;
  Beside<std::unique_ptr<int>> work(
      [&worker](const std::atomic<bool>&) {
        worker = std::this_thread::get_id();
        return std::make_unique<int>(7);
      },
      true);
  EXPECT_EQ(*work.take(), 7);
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(Beside, ComputesInTakeIfThereIsNoThread) {
  std::string order;
  Beside<int> work(
      [&order](const std::atomic<bool>&) {
        order += "work ";
        return 1;
      },
      false);
  order += "caller ";
  EXPECT_EQ(work.take(), 1);
  EXPECT_EQ(order, "caller work ");
}

TEST(Beside, ThrowsWhereTheResultIsTaken) {
  for (const bool in_thread : {true, false}) {
    Beside<int> work([](const std::atomic<bool>&) -> int { throw std::runtime_error("no room"); },
                     in_thread);
    EXPECT_THROW(work.take(), std::runtime_error) << in_thread;
  }
}

TEST(Beside, StopsAndJoinsItsThreadIfTheResultIsUnused) {
  bool stopped = false;
  {
    const Beside<int> work(
        [&stopped](const std::atomic<bool>& stop) {
          while (!stop) std::this_thread::yield();
          stopped = true;
          return 0;
        },
        true);
  }
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace assay
