#include "text/message.h"

#include <gtest/gtest.h>

#include <string>

#include "text/catalogue.h"
#include "text/messages.h"
#include "text/plain_text.h"

namespace assay::text {
namespace {

using findings::Code;
using findings::Finding;
using findings::SubjectKind;

Finding finding(Code code) {
  return {.code = code,
          .window = {.span = {0, 10'000'000},
                     .window_ns = 10'000'000,
                     .total_ns = 10'000'000,
                     .devices = 1}};
}

// A finding with every value that its message declares, as large or as long as they get.
Finding filled(const Message& message, size_t name_columns) {
  Finding full = finding(message.code);
  for (const DeclaredValue& value : message.values) {
    if (value.unit == "share") {
      full.share(value.key, 9'999'000);
    } else if (value.unit == "ns") {
      full.ns(value.key, 123'456'789'012);
    } else if (value.unit == "count") {
      full.count(value.key, 1'234'567);
    } else if (value.unit == "ratio") {
      full.ratio(value.key, 123.456);
    } else if (value.unit == "byte_rate") {
      full.byte_rate(value.key, 123.4e9);
    } else if (value.unit == "list") {
      full.list(value.key, {std::string(name_columns, 'a'), std::string(name_columns, 'b'), "c"});
    } else if (value.unit == "ranks") {
      full.ranks(value.key, {"0", "1", "2", "3", "4"});
    } else if (value.unit == "parts") {
      full.parts = {finding(Code::kJobPartAllStop).count("iteration", 3).ns("longest", 5'000'000)};
    } else if (value.unit != "window") {
      full.text(value.key, std::string(name_columns, 'n'));
    }
  }
  return full;
}

TEST(Catalogue, EveryCodeHasAMessageWithDeclaredValues) {
  EXPECT_EQ(catalogue_fault(messages_text()), "");
  EXPECT_EQ(catalogue().size(), std::size(findings::kCodes));
}

// A trace shows how fast one thread launches. It does not show what more cores would change.
TEST(Catalogue, NoMessageClaimsWhatMoreCoresWouldChange) {
  EXPECT_EQ(messages_text().find("more cores"), std::string_view::npos);
  EXPECT_EQ(messages_text().find("change nothing"), std::string_view::npos);
}

TEST(Catalogue, AnUndeclaredPlaceIsAFault) {
  EXPECT_EQ(catalogue_fault("[gpu_bound.busy]\ntext = the GPU is busy {busy}.\n"),
            "gpu_bound.busy: {busy} is not declared");
}

TEST(Catalogue, AnUnknownCodeIsAFault) {
  EXPECT_EQ(catalogue_fault("[no.such_code]\ntext = words.\n"), "unknown code no.such_code");
}

TEST(Catalogue, EveryMessageRendersWithAllItsValues) {
  for (const Message& message : catalogue()) {
    const std::string text = text::message(filled(message, 12), SIZE_MAX);
    EXPECT_NE(text, findings::name(message.code));
    EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
    EXPECT_EQ(clean_text(text).size() > 0, true);
  }
}

TEST(Catalogue, HeadlinesWithLongNamesFitTheScreen) {
  for (const Message& message : catalogue()) {
    if (findings::info(message.code).role != findings::Role::kHeadline || message.whole) continue;
    const std::string text = text::message(filled(message, 400));
    EXPECT_LE(display_width(text), kLongestHeadline) << text;
  }
}

TEST(Message, RanksAreListedUpToFour) {
  Finding late = finding(Code::kJobLate);
  late.ranks("ranks", {"8", "9", "10", "11", "12", "13"}).text("set", "node 1");
  late.ns("without", 170'000'000).ns("span", 240'000'000);
  EXPECT_EQ(message(late),
            "Ranks 8, 9, 10, 11 and 2 more (node 1) are late: at their peers' pace this run takes "
            "170 ms, not 240 ms.");
}

TEST(Message, CausesAreJoinedAndASentenceBeginsWithACapital) {
  Finding several = finding(Code::kJobSeveral);
  several.parts = {finding(Code::kJobPartLate).ranks("ranks", {"3"}),
                   finding(Code::kJobPartSlowLink).ranks("ranks", {"1", "2"}),
                   finding(Code::kJobPartAllStop).count("iteration", 7).ns("longest", 5'000'000)};
  several.ns("without", 170'000'000).ns("span", 240'000'000);
  EXPECT_EQ(message(several),
            "Rank 3 is late, the network between ranks 1 and 2 is slow and all ranks stop in "
            "iteration 7, for up to 5.00 ms: without all of it this run takes 170 ms, not 240 ms.");
  several.count("here", 4).count("world", 8);
  EXPECT_TRUE(message(several).starts_with("Of the 4 ranks here, of 8, rank 3 is late, the "));
}

TEST(Message, AMissingOptionalValueDropsItsPart) {
  Finding busy = finding(Code::kGpuBoundBusy);
  busy.share("busy", 9'000'000);
  EXPECT_EQ(message(busy), "GPU-bound: the GPU is busy 90.0 % of 10.0 ms.");
  busy.named("kernel", SubjectKind::kKernel, "gemm");
  EXPECT_EQ(message(busy), "GPU-bound: the GPU is busy 90.0 % of 10.0 ms; longest kernel: gemm.");
}

TEST(Message, AMissingRequiredValueRendersAsTheCode) {
  EXPECT_EQ(message(finding(Code::kGpuBoundBusy)), "gpu_bound.busy");
}

TEST(Message, OptionalPartsGoBeforeNamesAreShortened) {
  Finding busy = finding(Code::kGpuBoundBusy);
  busy.share("busy", 9'000'000).named("kernel", SubjectKind::kKernel, std::string(40, 'k'));
  EXPECT_EQ(message(busy, 60), "GPU-bound: the GPU is busy 90.0 % of 10.0 ms.");
}

TEST(Message, CountsAgreeWithTheirNouns) {
  Finding one = finding(Code::kNoGpuWorkLaunchesOnly);
  one.count("launches", 1);
  EXPECT_EQ(message(one), "No GPU activity: 1 launch call was recorded but no kernel.");
  Finding many = finding(Code::kNoGpuWorkLaunchesOnly);
  many.count("launches", 1'234);
  EXPECT_EQ(message(many), "No GPU activity: 1,234 launch calls were recorded but no kernel.");
}

TEST(Message, SharesWithASignNeverShowASignedZero) {
  const auto error = [](double share) {
    Finding off = finding(Code::kConfidenceReplayOff);
    off.fraction("error", share);
    return message(off);
  };
  EXPECT_EQ(error(0.031), "replay error +3.1 %");
  EXPECT_EQ(error(-0.031), "replay error \u22123.1 %");
  EXPECT_EQ(error(0.0001), "replay error \u00B10.1 %");
  EXPECT_EQ(error(0), "replay error 0 %");
}

TEST(Message, StallsOfAHeavyTailGiveMedianAndLongest) {
  Finding stalls = finding(Code::kHostBoundStallsUnrecorded);
  stalls.share("host", 5'000'000).count("stalls", 13);
  stalls.ns("median_stall", 525'000).ns("longest_stall", 177'000'000);
  EXPECT_EQ(message(stalls),
            "Host-bound: the GPU is idle 50.0 % of 10.0 ms (13 times, median 525 \u00B5s, longest "
            "177 ms) in host stalls that no recorded event explains.");
}

TEST(Message, SeveralDevicesAreNamedWithTheWindow) {
  Finding busy = finding(Code::kGpuBoundBusy);
  busy.window.devices = 4;
  busy.window.total_ns = 40'000'000;
  busy.share("busy", 36'000'000);
  EXPECT_EQ(message(busy), "GPU-bound: the GPU is busy 90.0 % of 10.0 ms on 4 GPUs.");
  busy.window.total_ns = 20'000'000;
  EXPECT_EQ(message(busy),
            "GPU-bound: the GPU is busy 90.0 % of 20.0 ms (4 GPUs while active, summed).");
}

}  // namespace
}  // namespace assay::text
