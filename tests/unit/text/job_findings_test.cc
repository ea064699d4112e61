#include "findings/job.h"

#include <gtest/gtest.h>

#include "text/message.h"

namespace assay::findings {
namespace {

JobFacts equals() {
  JobFacts facts;
  facts.ranks = 4;
  facts.aligned = facts.comparable = facts.judged = true;
  facts.span_ns = 240'000'000;
  return facts;
}

JobFacts late_rank() {
  JobFacts facts = equals();
  facts.causes = {{.ranks = {.labels = {"3"}}}};
  facts.without_ns = facts.without_most_ns = 170'000'000;
  return facts;
}

std::vector<std::string> texts(const JobFacts& facts) { return text::texts_of(job_findings(facts)); }

TEST(JobFindings, ALateRankIsASubjectWithTheRunWithoutIt) {
  const std::vector<Finding> found = job_findings(late_rank());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, Code::kJobLate);
  ASSERT_EQ(found[0].subjects.size(), 1u);
  EXPECT_EQ(found[0].subjects[0].kind, SubjectKind::kRank);
  EXPECT_EQ(found[0].subjects[0].name, "3");
  EXPECT_EQ(*found[0].find("without")->value.get<int64_t>(), 170'000'000);
}

TEST(JobFindings, OddsThatDoNotDecideNameBothCauses) {
  JobFacts facts = late_rank();
  facts.decided = false;
  facts.odds = 1.54;
  facts.rival = {"1", "2"};
  facts.rival_link = true;
  EXPECT_EQ(texts(facts),
            (std::vector<std::string>{
                "Rank 3 is late, or the network between ranks 1 and 2: odds of 1.5 to 1 do not decide "
                "between them. If it is the first, this run takes 170 ms, not 240 ms without it."}));
}

TEST(JobFindings, SavingsThatDependOnMissingRanksAreARange) {
  JobFacts facts = late_rank();
  facts.world_size = 8;
  facts.without_most_ns = 200'000'000;
  EXPECT_EQ(texts(facts).front(),
            "Of the 4 ranks here, of 8, rank 3 is late: at its peers' pace this run takes 170 ms to 200 "
            "ms, not 240 ms.");
}

TEST(JobFindings, DelaysOfAllRanksAreReportedIfTheyCostATenthOfTheRun) {
  JobFacts facts = equals();
  EXPECT_EQ(texts(facts).front(), "No rank is later than the others.");
  facts.common_gain_ns = 23'000'000;
  EXPECT_EQ(job_findings(facts).front().code, Code::kJobNoRankLater);
  facts.common_gain_ns = 24'000'000;
  EXPECT_EQ(job_findings(facts).front().code, Code::kJobNoRankLaterDelays);
  facts.hosts_stall = true;
  EXPECT_EQ(texts(facts).front(),
            "No rank is later than the others, but their hosts stall now and then, and all wait. With "
            "all work at the ranks' median this run takes 216 ms, not 240 ms.");
}

TEST(JobFindings, NoRankIsNamedWhereNoneCanBeCompared) {
  JobFacts facts = late_rank();
  facts.comparable = false;
  EXPECT_EQ(job_findings(facts).front().code, Code::kJobNoPeers);
  facts = late_rank();
  facts.judged = false;
  EXPECT_EQ(job_findings(facts).front().code, Code::kJobNoDependences);
  facts.aligned = false;
  facts.causes.clear();
  EXPECT_TRUE(job_findings(facts).empty());
}

TEST(JobFindings, TheReasonOfALateRankFollows) {
  JobFacts facts = late_rank();
  facts.why = JobWhy{.ranks = {"3"}, .when = {.from = "ProfilerStep#10"}, .alike = true};
  EXPECT_EQ(texts(facts).back(), "Its kernels take longer starting at ProfilerStep#10, all of them alike.");
  facts.why = JobWhy{.ranks = {"3"}, .alike = true, .factor = 1.3};
  EXPECT_EQ(texts(facts).back(), "Its kernels take longer, all of them 1.30 times as long.");
  facts.why = JobWhy{.kind = JobWhy::Kind::kHostStalls,
                     .ranks = {"3", "5"},
                     .name = "push_metrics",
                     .stalls = 4,
                     .stalls_ns = 12'000'000};
  EXPECT_EQ(texts(facts).back(),
            "Their hosts stall 4 times, 12.0 ms summed over them, most in push_metrics.");
  facts.reasons = {{.ranks = {"2"}, .alike = true}, {.ranks = {"5", "6"}, .host = true, .name = "route"}};
  const std::vector<std::string> two = texts(facts);
  EXPECT_EQ(two[two.size() - 2], "Rank 2's kernels take longer, all of them alike.");
  EXPECT_EQ(two.back(), "Ranks 5 and 6: hosts are late, most in route.");
}

TEST(JobFindings, AHostThatBlocksTheOthersComesFirst) {
  JobFacts facts = equals();
  facts.hosts = JobHosts{.rank = "1",
                         .waiting = {"0", "2", "3"},
                         .all = true,
                         .times = 3,
                         .wait_ns = 75'000'000,
                         .call = "gloo::barrier",
                         .held = "confusion"};
  EXPECT_EQ(texts(facts),
            (std::vector<std::string>{"Rank 1 blocks the hosts of the others: each waits 75.0 ms in all "
                                      "in gloo::barrier, while rank 1's host is in confusion."}));
}

}  // namespace
}  // namespace assay::findings
