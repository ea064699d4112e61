#include "answers/throughput/plan_files.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(PlanFiles, PricesHaveDefaults) {
  const auto offers = prices_of_text(
      "gpu,usd_per_gpu_hour,watts,gpus_per_node,nodes\nH100,2.50,700,8,4\nB200,4.8,,4,\n",
      "prices.csv");
  ASSERT_TRUE(offers);
  ASSERT_EQ(offers->size(), 2U);
  EXPECT_EQ((*offers)[0].name, "H100");
  EXPECT_EQ((*offers)[0].usd_per_hour, 2.5);
  EXPECT_EQ((*offers)[0].watts, 700);
  EXPECT_EQ((*offers)[1].watts, 0);
  EXPECT_EQ((*offers)[1].per_node, 4U);
  EXPECT_EQ((*offers)[1].nodes, 4U);
}

TEST(PlanFiles, PricesNameTheLineThatIsWrong) {
  const auto problem = [](const char* text) {
    const auto offers = prices_of_text(text, "prices.csv");
    return offers ? std::string() : offers.error().message;
  };
  EXPECT_EQ(problem("gpu,price\nH100,2\n"), "line 1: no column is called 'usd_per_gpu_hour'");
  EXPECT_EQ(problem("gpu,usd_per_gpu_hour,colour\nH100,2,red\n"),
            "line 1: the column 'colour' is not known");
  EXPECT_EQ(problem("gpu,usd_per_gpu_hour\nH100,-2\n"),
            "line 2: usd_per_gpu_hour '-2' is not a number above 0");
  EXPECT_EQ(problem("gpu,usd_per_gpu_hour\nH100,\n"), "line 2: has no price");
  EXPECT_EQ(problem("gpu,usd_per_gpu_hour\nH100,2\nh100,9\n"),
            "line 3: offers 'h100' a second time: one price a GPU");
  EXPECT_EQ(problem("gpu,usd_per_gpu_hour\n"), "lists no GPU");
}

// 61 requests two seconds apart: half a request a second, no variation; a minute has 30.
TEST(PlanFiles, ArrivalsAreMeansAndABusyMinute) {
  std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  for (int k = 0; k <= 120; k += 2) {
    const int second = k % 60;
    text += "2023-11-16 18:" + std::to_string(15 + k / 60) + ":" + (second < 10 ? "0" : "") +
            std::to_string(second) + ".0000000,400,50\n";
  }
  const auto arrivals = request_trace_of_text(text, "requests.csv");
  ASSERT_TRUE(arrivals) << arrivals.error().message;
  EXPECT_EQ(arrivals->requests, 61U);
  EXPECT_EQ(arrivals->in_len, 400);
  EXPECT_EQ(arrivals->out_len, 50);
  EXPECT_NEAR(arrivals->busy_per_s, 0.5, 1e-9);
  EXPECT_NEAR(arrivals->variation, 0, 1e-6);
}

TEST(PlanFiles, InvalidArrivalTimesAreRefusedByLine) {
  const auto arrivals =
      request_trace_of_text("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,1\n", "r.csv");
  ASSERT_FALSE(arrivals);
  EXPECT_EQ(arrivals.error().message, "line 2: 'yesterday' is not the time of a request");
}

}  // namespace
}  // namespace assay
