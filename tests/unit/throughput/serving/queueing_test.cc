#include "throughput/serving/queueing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

namespace assay {
namespace {

// TTFT 100 + 20 k ms and TPOT 10 + k ms with k in flight, 101 tokens: E2E is 1.1 + 0.12 k s.
ClosedLoop linear(size_t seats) {
  ClosedLoop loop;
  loop.out_len = 101;
  for (size_t k = 1; k <= seats; ++k) {
    loop.ttft_ms.push_back(100 + 20 * static_cast<double>(k));
    loop.tpot_ms.push_back(10 + static_cast<double>(k));
  }
  return loop;
}

// 32 / 4.94 s. The figures at 6 a second: a program in Python, to three decimals.
TEST(Queueing, IsExactOnAWorkedExample) {
  const ClosedLoop loop = linear(32);
  EXPECT_NEAR(capacity_per_s(loop), 32 / 4.94, 1e-12);
  const auto at = at_rate(loop, 6, 0.9);
  ASSERT_TRUE(at);
  EXPECT_NEAR(at->in_flight, 29.635, 5e-4);
  EXPECT_EQ(at->in_flight_percentile, 48);
  EXPECT_NEAR(at->ttft_ms, 1349.708, 5e-4);
  EXPECT_NEAR(at->ttft_percentile_ms, 3364.375, 5e-4);
  EXPECT_NEAR(at->tpot_ms, 37.109, 5e-4);
  EXPECT_EQ(at->tpot_percentile_ms, 42);
}

TEST(Queueing, RefusesWhatCannotKeepUp) {
  EXPECT_FALSE(at_rate(linear(32), 10, 0.9));
  EXPECT_FALSE(at_rate(linear(4), 6, 0.9));
}

TEST(Queueing, OfHardlyAnyRequestsIsOneAlone) {
  const auto at = at_rate(linear(32), 1e-6, 0.9);
  ASSERT_TRUE(at);
  EXPECT_NEAR(at->ttft_ms, 120, 1e-2);
  EXPECT_NEAR(at->tpot_ms, 11, 1e-2);
}

// Rates and speeds twice as high: the same queue in half of the time.
TEST(Queueing, HasNoUnitOfTime) {
  ClosedLoop fast = linear(32);
  for (double& ms : fast.ttft_ms) ms /= 2;
  for (double& ms : fast.tpot_ms) ms /= 2;
  const auto slow_at = at_rate(linear(32), 5, 0.9);
  const auto fast_at = at_rate(fast, 10, 0.9);
  ASSERT_TRUE(slow_at && fast_at);
  EXPECT_NEAR(fast_at->in_flight, slow_at->in_flight, 1e-9);
  EXPECT_NEAR(2 * fast_at->ttft_ms, slow_at->ttft_ms, 1e-6);
}

TEST(Queueing, BurstsWaitLongerAndArePlannedWithLowerLoad) {
  EXPECT_GT(at_rate(linear(32), 6, 0.9, 2)->ttft_ms, at_rate(linear(32), 6, 0.9, 1)->ttft_ms);
  EXPECT_DOUBLE_EQ(most_load(1), 0.85);
  EXPECT_DOUBLE_EQ(most_load(2), 0.7);
}

// The quick check and the slow answer agree on both sides of every percentile.
TEST(Queueing, LimitsAreKeptWhereThePercentilesSaySo) {
  const ClosedLoop loop = linear(32);
  for (const double rate : {0.5, 2.0, 4.0, 5.4}) {
    for (const double share : {0.5, 0.9, 0.99}) {
      const auto at = at_rate(loop, rate, share);
      ASSERT_TRUE(at);
      const double ttft = at->ttft_percentile_ms;
      const double tpot = at->tpot_percentile_ms;
      EXPECT_TRUE(keeps_limits(loop, rate, {ttft + 1e-6, tpot + 1e-6, share}, 1)) << rate;
      EXPECT_FALSE(keeps_limits(loop, rate, {ttft - 1e-6, tpot + 1e-6, share}, 1)) << rate;
      EXPECT_FALSE(keeps_limits(loop, rate, {ttft + 1e-6, tpot - 1e-6, share}, 1)) << rate;
    }
  }
  // 0.9 of the capacity is above what is planned, however loose the limits.
  EXPECT_FALSE(keeps_limits(loop, 0.9 * capacity_per_s(loop), {1e9, 1e9, 0.9}, 1));
}

// An engine with continuous batching: a step takes 8 + 0.15 ms a decoding request + 60 ms a prompt
// that is let in, at most four a step; a prompt is done in the step that lets it in.
class Engine {
 public:
  static constexpr int kTokens = 200;
  static constexpr size_t kSeats = 64;
  struct Mean {
    double ttft_ms = 0;
    double tpot_ms = 0;
  };
  // always: so many in flight; else arrivals in ms. The first `skip` requests are not counted.
  Mean run(std::deque<double> arrivals, size_t always, size_t requests, size_t skip) {
    if (always > 0) arrivals.assign(always, 0.0);
    size_t started = arrivals.size();
    while (finished_ < requests && (!arrivals.empty() || !active_.empty() || !queue_.empty())) {
      if (queue_.empty() && active_.empty() && arrivals.front() > now_) now_ = arrivals.front();
      while (!arrivals.empty() && arrivals.front() <= now_) {
        queue_.push_back(arrivals.front());
        arrivals.pop_front();
      }
      const size_t done = step(skip);
      for (size_t k = 0; always > 0 && k < done && started < requests; ++k, ++started)
        arrivals.push_back(now_);
    }
    return {ttft_ / counted_, tpot_ / counted_};
  }

 private:
  struct Request {
    double first = 0;
    double ttft = 0;
    int left = kTokens - 1;
  };
  size_t step(size_t skip) {
    std::vector<Request> admitted;
    std::vector<double> came;
    while (!queue_.empty() && active_.size() + came.size() < kSeats && came.size() < 4) {
      came.push_back(queue_.front());
      queue_.pop_front();
    }
    now_ += 8 + 0.15 * static_cast<double>(active_.size()) + 60 * static_cast<double>(came.size());
    size_t done = 0;
    for (Request& request : active_) {
      if (--request.left > 0) continue;
      ++done;
      if (finished_++ < skip) continue;
      counted_ += 1;
      ttft_ += request.ttft;
      tpot_ += (now_ - request.first) / (kTokens - 1);
    }
    std::erase_if(active_, [](const Request& request) { return request.left <= 0; });
    for (const double at : came) active_.push_back({now_, now_ - at});
    return done;
  }
  double now_ = 0, ttft_ = 0, tpot_ = 0, counted_ = 0;
  size_t finished_ = 0;
  std::deque<double> queue_;
  std::vector<Request> active_;
};

// Poisson gaps from a generator of known definition.
std::deque<double> poisson(double per_s, size_t count) {
  std::deque<double> at;
  uint64_t state = 88172645463325252ULL;
  double now = 0;
  for (size_t i = 0; i < count; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const double uniform = (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
    now += -std::log(uniform) / per_s * 1000;
    at.push_back(now);
  }
  return at;
}

// What the queue makes of a closed loop, against the same engine with arrivals.
TEST(Queueing, PredictsTpotOfASimulatedEngineWithinATenth) {
  std::map<size_t, Engine::Mean> closed;
  for (const size_t k : {1, 2, 4, 8, 16, 32, 64})
    closed[k] = Engine().run({}, k, std::max<size_t>(100, 12 * k), 2 * k);
  ClosedLoop loop;
  loop.out_len = Engine::kTokens;
  for (size_t k = 1; k <= Engine::kSeats; ++k) {
    const auto above = closed.lower_bound(k);
    const auto below = above->first == k ? above : std::prev(above);
    const double part = above == below
                            ? 0
                            : std::log(static_cast<double>(k) / below->first) /
                                  std::log(static_cast<double>(above->first) / below->first);
    const auto between = [part](double a, double b) { return a * std::pow(b / a, part); };
    loop.ttft_ms.push_back(between(below->second.ttft_ms, above->second.ttft_ms));
    loop.tpot_ms.push_back(between(below->second.tpot_ms, above->second.tpot_ms));
  }
  for (const double load : {0.3, 0.5, 0.7, 0.85}) {
    const double rate = load * capacity_per_s(loop);
    const Engine::Mean simulated = Engine().run(poisson(rate, 4000), 0, 4000, 400);
    const auto told = at_rate(loop, rate, 0.9);
    ASSERT_TRUE(told);
    EXPECT_NEAR(told->tpot_ms / simulated.tpot_ms, 1, 0.1) << load;
    RecordProperty("ttft_ratio", std::to_string(told->ttft_ms / simulated.ttft_ms));
    EXPECT_GT(told->ttft_ms / simulated.ttft_ms, 0.8) << load;
  }
}

}  // namespace
}  // namespace assay
