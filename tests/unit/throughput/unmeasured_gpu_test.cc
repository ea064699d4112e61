#include "throughput/unmeasured_gpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "throughput/data_sheets.h"

namespace assay {
namespace {

// Small is below middle below large in everything; fast has more bandwidth than large but less
// memory; other is of another vendor.
FactBook sheets() {
  FactBook book;
  const Status read = book.add(R"([hardware Acme small]
source = made
tflops = 100
bandwidth_tb_s = 1
memory_gb = 40
link_gb_s = 100
[hardware Acme middle]
source = made
tflops = 200
bandwidth_tb_s = 2
memory_gb = 80
link_gb_s = 100
[hardware Acme large]
source = made
tflops = 400
bandwidth_tb_s = 4
memory_gb = 160
link_gb_s = 100
[hardware Acme fast]
source = made
tflops = 400
bandwidth_tb_s = 8
memory_gb = 80
link_gb_s = 100
[hardware Bolt other]
source = made
tflops = 400
bandwidth_tb_s = 4
memory_gb = 160
link_gb_s = 100
)");
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return book;
}

class UnmeasuredGpu : public ::testing::Test {
 protected:
  // Of one GPU, with the speeds of the process; physics says twice the square of the bandwidth.
  SheetEstimate estimate(const std::string& gpu, const std::vector<std::string>& measured,
                         const std::map<std::string, double>& speeds,
                         const SiblingWeights& weights = {0.5, 0}) {
    MeasuredGpus gpus;
    for (const std::string& name : measured) gpus.push_back({book_.hardware(name), name});
    BenchRow row;
    row.hardware = gpu;
    const auto log_speeds = [&](const std::vector<BenchRow>& rows) {
      std::vector<LogSpeed> out;
      for (const BenchRow& one : rows) {
        const double bandwidth = book_.hardware(one.hardware)->bandwidth_tb_s;
        out.push_back({std::log(speeds.at(one.hardware)), std::log(2 * bandwidth * bandwidth)});
      }
      return out;
    };
    const auto weights_of = [&](const HardwareFacts&, const std::string&) { return weights; };
    return sheet_estimates({{row, book_.hardware(gpu), &gpus}}, book_,
                           &HardwareFacts::bandwidth_tb_s, weights_of, log_speeds)
        .front();
  }
  FactBook book_ = sheets();
};

TEST_F(UnmeasuredGpu, DominatesIsAPartialOrderWithinAVendor) {
  const auto of = [&](const char* name) { return *book_.hardware(name); };
  const BenchRow row;
  EXPECT_TRUE(dominates(row, *book_.hardware("Acme large"), *book_.hardware("Acme middle")));
  EXPECT_FALSE(dominates(row, *book_.hardware("Acme middle"), *book_.hardware("Acme large")));
  EXPECT_FALSE(dominates(row, *book_.hardware("Acme large"), *book_.hardware("Acme fast")));
  EXPECT_FALSE(dominates(row, *book_.hardware("Acme fast"), *book_.hardware("Acme large")));
  EXPECT_FALSE(dominates(row, *book_.hardware("Bolt other"), *book_.hardware("Acme middle")));
  EXPECT_FALSE(dominates(row, *book_.hardware("Acme large"), *book_.hardware("Acme large")));
  EXPECT_EQ(vendor_of(of("Bolt other")), "Bolt");
}

TEST(DataSheets, GaudiIsNotASiblingOfIntelsGpus) {
  const FactBook& book = FactBook::built_in();
  EXPECT_EQ(vendor_of(*book.hardware("Gaudi3")), vendor_of(*book.hardware("Gaudi2")));
  EXPECT_NE(vendor_of(*book.hardware("Gaudi3")), vendor_of(*book.hardware("Intel Max 1550")));
  EXPECT_EQ(vendor_of(*book.hardware("TPU v6e")), "Google");
}

// With all of the weight the ratio of bandwidths alone: 30 * 4 / 2 = 60, whatever the process says.
TEST_F(UnmeasuredGpu, IsTheSiblingTimesBandwidthWhereThatHasAllOfTheWeight) {
  const SheetEstimate told = estimate(
      "Acme large", {"Acme middle", "Bolt other"},
      {{"Acme large", 20}, {"Acme middle", 30}, {"Acme small", 5}, {"Bolt other", 1}}, {1, 0});
  EXPECT_EQ(told.sibling, "Acme middle");
  EXPECT_NEAR(20 * std::exp(told.log_factor), 60, 1e-9);
  EXPECT_EQ(told.reasons, std::vector<std::string>({"100 % of the estimate is that of 'Acme "
                                                    "middle' times the ratio of bandwidths"}));
}

// Physics says (4 / 2)^2 of the two: a quarter by it, a quarter by bandwidth, half the process:
// sqrt(45) * (30 * 2)^(1/4) * (30 * 4)^(1/4) = 61.79.
TEST_F(UnmeasuredGpu, IsPartlyWhatPhysicsMakesOfTheTwo) {
  const SheetEstimate told =
      estimate("Acme large", {"Acme small", "Acme middle"},
               {{"Acme large", 45}, {"Acme middle", 30}, {"Acme small", 20}}, {0.25, 0.25});
  EXPECT_NEAR(45 * std::exp(told.log_factor), 61.79, 0.005);
  EXPECT_EQ(told.reasons.front(),
            "50 % of the estimate is that of 'Acme middle' times the ratio of bandwidths and as "
            "physics has it");
}

// Half each: sqrt(45 * 30 * 4 / 2) = 51.96.
TEST_F(UnmeasuredGpu, IsHalfTheNearestSibling) {
  const SheetEstimate told =
      estimate("Acme large", {"Acme small", "Acme middle"},
               {{"Acme large", 45}, {"Acme middle", 30}, {"Acme small", 20}});
  EXPECT_EQ(told.sibling, "Acme middle");
  EXPECT_NEAR(45 * std::exp(told.log_factor), std::sqrt(45.0 * 60), 1e-9);
  EXPECT_NEAR(45 * std::exp(told.log_sibling), 60, 1e-9);
}

// sqrt(10 * 60) = 24.5 is below the middle one's 30.
TEST_F(UnmeasuredGpu, IsAtLeastAsFastAsWhatItDominates) {
  const SheetEstimate told =
      estimate("Acme large", {"Acme small", "Acme middle"},
               {{"Acme large", 10}, {"Acme middle", 30}, {"Acme small", 20}});
  EXPECT_NEAR(10 * std::exp(told.log_factor), 30, 1e-9);
  EXPECT_EQ(told.reasons.back(), "at least as fast as 'Acme middle' by its data sheet");
}

TEST_F(UnmeasuredGpu, IsNotFasterThanTheMeasuredThatDominateIt) {
  const SheetEstimate told =
      estimate("Acme middle", {"Acme small", "Acme large"},
               {{"Acme large", 30}, {"Acme middle", 90}, {"Acme small", 10}});
  EXPECT_NEAR(90 * std::exp(told.log_factor), 30, 1e-9);
  EXPECT_EQ(told.reasons.back(), "no faster than 'Acme large' by its data sheet");
}

// Rows that say otherwise win: the small one ran at 50, the large one at 30.
TEST_F(UnmeasuredGpu, FollowsRowsThatContradictTheSheets) {
  const SheetEstimate told =
      estimate("Acme middle", {"Acme small", "Acme large"},
               {{"Acme large", 30}, {"Acme middle", 40}, {"Acme small", 50}});
  EXPECT_NEAR(40 * std::exp(told.log_factor), 50, 1e-9);
}

// A GPU without rows that it dominates bounds it, too: the middle's sqrt(200 * 20) = 63.2, not the
// large one's own sqrt(1 * 40).
TEST_F(UnmeasuredGpu, IsAtLeastAsFastAsWhatHasNoRowsEither) {
  const SheetEstimate told =
      estimate("Acme large", {"Acme small", "Acme fast"},
               {{"Acme large", 1}, {"Acme middle", 200}, {"Acme small", 10}, {"Acme fast", 100}});
  EXPECT_NEAR(std::exp(told.log_factor), std::sqrt(200.0 * 20), 1e-6);
  EXPECT_EQ(told.reasons.back(), "at least as fast as 'Acme middle' by its data sheet");
}

TEST_F(UnmeasuredGpu, OfAVendorWithoutRowsIsTheProcess) {
  const SheetEstimate told =
      estimate("Bolt other", {"Acme small"}, {{"Bolt other", 7}, {"Acme small", 9}});
  EXPECT_EQ(told.log_factor, 0);
  EXPECT_EQ(told.sibling, "");
}

}  // namespace
}  // namespace assay
