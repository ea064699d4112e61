// Requests against steps laid out by hand; times in us unless a name says ns.

#include "flow/requests.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace assay {
namespace {

constexpr int64_t kUs = 1000;

ServingStep step(StepKind kind, int64_t from, int64_t to, uint64_t prompt_tokens, uint64_t decoding) {
  return {.told = {.kind = kind,
                   .prompts = prompt_tokens > 0 ? 1U : 0U,
                   .prompt_tokens = prompt_tokens,
                   .decoding = decoding,
                   .decode_tokens = decoding},
          .host = {(from - 20) * kUs, (from + 100) * kUs},
          .device = {from * kUs, to * kUs}};
}

std::vector<ServingStep> four_steps() {
  std::vector<ServingStep> steps = {step(StepKind::kPrefill, 1000, 2000, 100, 0), step(StepKind::kDecode, 2100, 2600, 0, 1),
                                    step(StepKind::kMixed, 2700, 4700, 300, 1), step(StepKind::kDecode, 4800, 5300, 0, 2)};
  steps[2].token_gap_ns = 2100 * kUs;
  steps[3].token_gap_ns = 600 * kUs;
  return steps;
}

RequestRecord request(std::string id, int64_t arrival, int64_t queue, int64_t scheduled, int64_t first, int64_t last,
                      uint64_t prompt) {
  return {.id = std::move(id),
          .arrival_ns = arrival * kUs,
          .queue_ns = queue * kUs,
          .prefill_ns = (first - scheduled) * kUs,
          .ttft_ns = (first - arrival) * kUs,
          .e2e_ns = (last - arrival) * kUs,
          .prompt_tokens = prompt,
          .output_tokens = 4};
}

RequestLog two_requests() {
  return {.requests = {request("a", 900, 50, 1000, 2050, 5350, 100), request("b", 1500, 1150, 2650, 4750, 5350, 150)}};
}

using Parts = std::array<int64_t, kRequestParts>;
Parts in_us(Parts ns) {
  for (int64_t& part : ns) part /= kUs;
  return ns;
}

TEST(Requests, PartsAddUp) {
  const RequestsReport report = join_requests(two_requests(), four_steps(), {});
  ASSERT_EQ(report.refusal, RequestsRefusal::kNone);
  ASSERT_EQ(report.joined, 2U);
  // input, queued for prefill, for decode, with no step; prefill, others, host; decode, prefill of others, host.
  EXPECT_EQ(in_us(report.requests[0].parts), (Parts{50, 0, 0, 50, 1000, 0, 50, 1500, 1500, 300}));
  // 150 of the 301 tokens of a step of 2 ms.
  EXPECT_EQ(in_us(report.requests[1].parts), (Parts{0, 500, 500, 150, 996, 1003, 100, 500, 0, 100}));
  for (const JoinedRequest& one : report.requests) {
    EXPECT_EQ(std::accumulate(one.parts.begin(), one.parts.begin() + kFirstTokenParts, int64_t{0}), *one.record.ttft_ns);
    EXPECT_EQ(std::accumulate(one.parts.begin(), one.parts.end(), int64_t{0}), *one.record.e2e_ns);
  }
  EXPECT_EQ(report.ttft.p99_ns, 3250 * kUs);
  EXPECT_EQ(report.queue.p99_ns, 1150 * kUs);
  ASSERT_TRUE(report.ttft_tail.part);
  EXPECT_EQ(*report.ttft_tail.part, RequestPart::kOthers) << "1,003 us against 0 of the other one";
  EXPECT_EQ(*report.ttft_tail.request, 1U);
  EXPECT_DOUBLE_EQ(report.sequences_share, 1);
  // One gap of the mixed step, and one for each of the two sequences of the last one.
  EXPECT_EQ(report.itl.count, 3U);
  EXPECT_EQ(report.itl.p99_ns, 2100 * kUs);
}

TEST(Requests, AQueueThatTheLogLacksEndsWhereThePromptsStepsBegin) {
  RequestLog log = two_requests();
  for (RequestRecord& record : log.requests) record.queue_ns = record.prefill_ns = std::nullopt;
  const RequestsReport report = join_requests(log, four_steps(), {});
  ASSERT_EQ(report.joined, 2U);
  EXPECT_TRUE(report.requests[1].queue_inferred);
  // The label of the step with its 150 tokens begins at 2,680.
  EXPECT_EQ(report.requests[1].queue_ns(), 1180 * kUs);
  EXPECT_EQ(report.requests[1].part_ns(RequestPart::kInput), 0);
}

TEST(Requests, OnlyWhatIsRecordedIsJoined) {
  RequestLog log = two_requests();
  log.requests.push_back(request("early", -90'000, 10, -89'000, 2050, 2650, 5));
  log.requests.push_back(request("late", 50'000, 10, 50'010, 60'000, 60'000, 5));
  const RequestsReport report = join_requests(log, four_steps(), {});
  EXPECT_EQ(report.in_trace, 3U);
  EXPECT_EQ(report.joined, 2U);
  EXPECT_FALSE(report.requests[2].to_first);
  EXPECT_EQ(report.ttft.count, 3U) << "the late one is not of the trace";
}

TEST(Requests, ALogThatLacksSequencesIsIncompleteAndNoIdleTimeFollowsFromIt) {
  RequestLog log = two_requests();
  log.requests.pop_back();
  std::vector<ServingStep> steps = four_steps();
  steps.push_back(step(StepKind::kPrefill, 90'000, 91'000, 50, 0));
  const RequestsReport report = join_requests(log, steps, {});
  EXPECT_DOUBLE_EQ(report.sequences_share, 3.0 / 4);
  EXPECT_TRUE(report.without_requests.empty());
}

TEST(Requests, TimeWithoutRequestsLiesBetweenSteps) {
  RequestLog log = two_requests();
  std::vector<ServingStep> steps = four_steps();
  steps.push_back(step(StepKind::kPrefill, 90'000, 91'000, 50, 0));
  log.requests.push_back(request("c", 89'000, 900, 89'950, 91'100, 91'100, 50));
  const RequestsReport report = join_requests(log, steps, {});
  ASSERT_EQ(report.without_requests.size(), 1U);
  EXPECT_EQ(report.without_requests[0].start_ns, 5350 * kUs);
  EXPECT_EQ(report.without_requests[0].end_ns, 89'000 * kUs);
}

TEST(Requests, RefusalsSayWhy) {
  EXPECT_EQ(join_requests(two_requests(), {}, {}).refusal, RequestsRefusal::kNoSteps);
  RequestLog log = two_requests();
  log.clock = RequestClock::kNone;
  EXPECT_EQ(join_requests(log, four_steps(), {}).refusal, RequestsRefusal::kNoTimes);
  EXPECT_EQ(join_requests(log, four_steps(), {}).ttft.count, 2U) << "its own numbers remain";
  log.clock = RequestClock::kOwn;
  EXPECT_EQ(join_requests(log, four_steps(), {}).refusal, RequestsRefusal::kClocksDiffer) << "two are too few to fit";
  EXPECT_EQ(join_requests(log, four_steps(), {.offset_ns = 0}).refusal, RequestsRefusal::kNone);
  EXPECT_EQ(join_requests(two_requests(), four_steps(), {.offset_ns = 3'600'000'000'000}).refusal,
            RequestsRefusal::kNoOverlap);
}

// Prefill steps at uneven times, a request for each, and a client's clock.
TEST(Requests, AnOffsetIsFittedWhereOneAloneExplainsTheFirstTokens) {
  std::vector<ServingStep> steps;
  RequestLog log{.clock = RequestClock::kOwn};
  int64_t at = 10'000;
  constexpr int64_t kOffset = 123'456'789;
  for (int64_t i = 0; i < 12; ++i) {
    steps.push_back(step(StepKind::kPrefill, at, at + 800, 64, 0));
    log.requests.push_back({.id = std::to_string(i),
                            .arrival_ns = (at - 500 - kOffset) * kUs,
                            .ttft_ns = (1300 + 150) * kUs,
                            .prompt_tokens = 64});
    at += 7000 + 3500 * (i * i % 7);
  }
  const RequestsReport report = join_requests(log, steps, {});
  ASSERT_EQ(report.refusal, RequestsRefusal::kNone);
  EXPECT_TRUE(report.offset_fitted);
  EXPECT_NEAR(static_cast<double>(report.offset_ns), static_cast<double>(kOffset * kUs), 200.0 * kUs);
  EXPECT_EQ(report.joined, 12U);

  // Steps at even distances: the next offset is as good but for one request.
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t even = 10'000 + 10'000 * static_cast<int64_t>(i);
    steps[i] = step(StepKind::kPrefill, even, even + 800, 64, 0);
    log.requests[i].arrival_ns = (even - 500 - kOffset) * kUs;
  }
  EXPECT_EQ(join_requests(log, steps, {}).refusal, RequestsRefusal::kClocksDiffer);
}

}  // namespace
}  // namespace assay
