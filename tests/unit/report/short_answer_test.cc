// The short answer as text, from numbers by hand: bar, legend, levers, limits.

#include "report/document/short_answer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "report/writers/writers.h"

namespace assay {
namespace {

ShortAnswer host_bound() {
  ShortAnswer answer;
  answer.kind = "host";
  answer.verdict = {"Host-bound: for 80.0 % of 1.00 ms the GPU waits."};
  answer.window_ns = answer.total_ns = 1'000'000;
  answer.causes = {{"compute", 200'000}, {"dispatch", 500'000}, {"python", 200'000},
                   {"call", 96'000},     {"latency", 3'000},    {"sync", 1'000}};
  answer.levers = {
      {"cheaper_host", "Take the host off the path", "do this", 800'000, 0.8, "up to"}};
  answer.confidence = findings::Confidence::kMedium;
  answer.reason = "one pass";
  answer.next = {"assay FILE --full"};
  return answer;
}

TEST(ShortAnswer, CellsAreSharedByLargestRemainder) {
  // 10 cells of 5 : 3.3 : 1.7: whole cells 5, 3, 1; the left one goes to the largest remainder, .7.
  EXPECT_EQ(bar_cells({500, 330, 170}, 10), (std::vector<size_t>{5, 3, 2}));
  // What is not nothing is seen: the largest gives the cell.
  EXPECT_EQ(bar_cells({9'990, 5, 5}, 10), (std::vector<size_t>{8, 1, 1}));
  EXPECT_EQ(bar_cells({0, 0}, 10), (std::vector<size_t>{0, 0}));
}

TEST(ShortAnswer, CellsAlwaysFillTheBar) {
  for (size_t room = 5; room < 120; ++room) {
    for (int64_t a = 1; a < 1'000'000; a = a * 3 + 1) {
      const std::vector<size_t> cells = bar_cells({a, 777, 31, 1, 50'000}, room);
      EXPECT_EQ(std::accumulate(cells.begin(), cells.end(), size_t{0}), room);
    }
  }
}

TEST(ShortAnswer, TheBarNamesThreeCausesAndTheRest) {
  const std::vector<AnswerCause> parts = bar_parts(host_bound());
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_EQ(parts[0].key, "compute");
  EXPECT_EQ(parts[3].key, "call");
  EXPECT_EQ(parts[4].key, "rest");
  EXPECT_EQ(parts[4].ns, 4'000);  // latency 3,000 and sync 1,000
}

TEST(ShortAnswer, OnFortyFourColumns) {
  EXPECT_EQ(write_answer_text(host_bound(), {.width = 44, .utf8 = false}),
            "Host-bound: for 80.0 % of 1.00 ms the GPU\n"
            "waits.\n"
            "\n"
            "  ########====================++++++++---.\n"
            "  # compute 20 %  = dispatch 50 %\n"
            "  + Python 20 %  - runtime API 10 %\n"
            "  . other <1 %\n"
            "1   -800 us 80.0 %  up to\n"
            "   Take the host off the path\n"
            "   do this\n"
            "\n"
            "confidence medium: one pass\n"
            "next   assay FILE --full\n");
}

TEST(ShortAnswer, ColourAddsNothingButItself) {
  const std::string plain = write_answer_text(host_bound(), {.width = 80});
  std::string painted =
      write_answer_text(host_bound(), {.width = 80, .color = true, .truecolor = true});
  EXPECT_NE(painted.find("\x1b[38;2;255;196;28m"), std::string::npos);  // dispatch, #ffc41c
  for (size_t at = 0; (at = painted.find('\x1b', at)) != std::string::npos;) {
    painted.erase(at, painted.find('m', at) + 1 - at);
  }
  EXPECT_EQ(painted, plain);
}

TEST(ShortAnswer, StaysWithinFifteenLines) {
  ShortAnswer answer = host_bound();
  answer.verdict = {std::string(150, 'x') + " y"};
  answer.levers.assign(3, answer.levers.front());
  answer.reason =
      "a reason that is so long that it takes a second line of the screen, which has 80 columns";
  answer.next = {"assay FILE -o report.html", "assay explain dispatch", "assay FILE --full",
                 "assay why FILE"};
  const std::string text = write_answer_text(answer, {.width = 80});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 15);
  EXPECT_NE(text.find("next"), std::string::npos);
}

TEST(ShortAnswer, HostileNamesDrawNothing) {
  ShortAnswer answer = host_bound();
  answer.levers[0].code = "first \x1b[31mred\x1b[0m\nkernel\t\x7f";
  answer.verdict = {"Host-bound: \xff\xfe first \x1b]0;title\x07."};
  const std::string text = write_answer_text(answer, {.width = 80});
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace
}  // namespace assay
