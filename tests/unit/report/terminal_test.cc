// What a person sees: the whole of a small document, and what gives way on narrow screens.

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "text/plain_text.h"
#include "report/writers/writers.h"
#include "support/report_sample.h"

namespace assay {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string on_screen(const Table& table, int width) {
  Document document;
  document.sections.push_back({"s", "", {table}});
  return write_terminal(document, {.width = width});
}

TEST(ReportTerminal, SampleAt80Columns) {
  EXPECT_EQ(write_terminal(sample_document()),
            R"(Host-bound: the GPU waits.
Fuse chains first.

Launch report
input: a.json.gz (size 1.50 MiB)

Launch
  kernels    1,234
  TKLQT    12.3 ms  launch and queue time
  IL             -
  device   H200
  hint     see docs

  Top kernels
  kernel     count  mean (µs)  share (%)
  ─────────  ─────  ─────────  ─────────
  gemm, 128  1,000       1.50       62.5
  copy           2       2.00       37.5
  … and 1 more row (--format csv shows all)

  Only for readers.

Trust
  host (µs)  name
  ─────────  ──────────────────
       3.00  aten::linear
       1.00    cudaLaunchKernel

  • 3 kernels unlinked

Import log
  • truncated (data_loss, once): the input ends early
  • whole_microseconds (info, 1,200 times): times are whole us
)");
}

TEST(ReportTerminal, SampleInAsciiAt40Columns) {
  EXPECT_EQ(write_terminal(sample_document(), {.width = 40, .utf8 = false}),
            R"(Host-bound: the GPU waits.
Fuse chains first.

Launch report
input: a.json.gz (size 1.50 MiB)

Launch
  kernels    1,234
  TKLQT    12.3 ms
    launch and queue time
  IL             -
  device   H200
  hint     see docs

  Top kernels
  kernel     count  mean (us)  share (%)
  ---------  -----  ---------  ---------
  gemm, 128  1,000       1.50       62.5
  copy           2       2.00       37.5
  ... and 1 more row (--format csv shows
  all)

  Only for readers.

Trust
  host (us)  name
  ---------  ------------------
       3.00  aten::linear
       1.00    cudaLaunchKernel

  * 3 kernels unlinked

Import log
  * truncated (data_loss, once): the
    input ends early
  * whole_microseconds (info, 1,200
    times): times are whole us
)");
}

TEST(ReportTerminal, ColourOnlyIfRequested) {
  const Document document = sample_document();
  const std::string plain = write_terminal(document);
  const std::string painted = write_terminal(document, {.color = true});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_EQ(painted.rfind("\x1b[1mHost-bound: the GPU waits.\x1b[0m\nFuse chains first.\n", 0), 0U);
  EXPECT_NE(
      painted.find("  \x1b[33m\u2022 truncated (data_loss, once): the input ends early\x1b[0m"),
      std::string::npos);
  std::string stripped = painted;
  for (const std::string code : {"\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"}) {
    for (size_t at = stripped.find(code); at != std::string::npos; at = stripped.find(code)) {
      stripped.erase(at, code.size());
    }
  }
  EXPECT_EQ(stripped, plain);
}

Table kernel_table(const std::string& name) {
  Table table{.key = "top"};
  table.columns = {{"name", "kernel", Unit::kText, Align::kAuto, true},
                   {"count", "count", Unit::kCount},
                   {"a_ns", "launch and queue sum", Unit::kNanoseconds},
                   {"b_ns", "launch and queue mean", Unit::kNanoseconds},
                   {"c_ns", "device sum", Unit::kNanoseconds},
                   {"where", "where", Unit::kText}};
  for (int i = 1; i <= 5; ++i) {
    table.rows.push_back({name, i * 100000, i * 123456789, 1234.5 * i, 99 * i, "aten::linear"});
  }
  return table;
}

TEST(ReportTerminal, NoLineExceedsTheWidth) {
  const std::string long_name = "void kernel<" + std::string(10000, 'x') + ">(int)";
  std::string wide_name;
  for (int i = 0; i < 500; ++i) wide_name += "\u65E5\u672C";
  for (const std::string& name : {long_name, wide_name, std::string("short")}) {
    Document document = sample_document();
    document.verdict[0] += " " + name;
    document.inputs[0].name = name;
    document.sections.push_back({"s", "Section " + name, {kernel_table(name)}});
    Tree tree{.key = "deep"};
    tree.columns = {{"host_ns", "host", Unit::kNanoseconds}};
    for (uint32_t depth = 0; depth < 60; ++depth) tree.nodes.push_back({depth, name, {depth}});
    document.sections.push_back({"t", "", {tree}});
    Facts facts{.items = {{"k", name, 1, Unit::kCount, name}, {"n", "name", name, Unit::kText}}};
    document.sections.push_back({"f", "", {facts}});
    for (const int width : {20, 40, 80, 200}) {
      for (const bool utf8 : {true, false}) {
        for (const std::string& line :
             lines_of(write_terminal(document, {.width = width, .utf8 = utf8}))) {
          ASSERT_LE(display_width(line), static_cast<size_t>(width)) << line;
        }
      }
    }
  }
}

// An interval is in the unit of what it is of, whatever its ends would have alone.
TEST(ReportTerminal, EndsOfAnIntervalHaveTheUnitOfTheirValue) {
  Table table{.key = "t",
              .columns = {{.key = "energy_j", .title = "energy", .unit = Unit::kJoules},
                          {.key = "low_j", .title = "from", .unit = Unit::kJoules},
                          {.key = "high_j", .title = "to", .unit = Unit::kJoules},
                          {.key = "other_j", .title = "other", .unit = Unit::kJoules},
                          {.key = "busy_ns", .title = "busy from", .unit = Unit::kNanoseconds}}};
  table.rows = {{1330.0, 1250.0, 1399.0, 3.0, 2e6}, {0.0, 0.0, 1.68, 2.0, 3e6}};
  const std::string screen = on_screen(table, 80);
  EXPECT_NE(screen.find("energy (kJ)  from (kJ)  to (kJ)  other (J)  busy from (ms)"),
            std::string::npos)
      << screen;
  EXPECT_NE(screen.find("1.33       1.25     1.40"), std::string::npos) << screen;
}

TEST(ReportTerminal, ElasticColumnsGiveWayBeforeNumbers) {
  Table table = kernel_table("void at::native::kernel<" + std::string(100, 'x') + ">(int)");
  table.rows.resize(1);
  EXPECT_EQ(on_screen(table, 80),
            R"(                                         launch     launch  device
                                      and queue  and queue     sum
  kernel                       count   sum (ms)  mean (µs)    (ns)  where
  ─────────────────────────  ───────  ─────────  ─────────  ──────  ────────────
  void at::nat…xxxxxx>(int)  100,000        123       1.23      99  aten::linear
)");
}

TEST(ReportTerminal, ElasticColumnsGiveWayBeforeOtherText) {
  Table table{.key = "t"};
  table.columns = {{"n", "kernel", Unit::kText, Align::kAuto, true}, {"p", "path", Unit::kText}};
  table.rows = {{std::string(100, 'k'), std::string(30, 'p')}};
  // 60 columns: 2 of indentation, 30 for the path, 2 between, 26 for the kernel.
  EXPECT_EQ(
      lines_of(on_screen(table, 60)).back(),
      "  " + std::string(13, 'k') + "\u2026" + std::string(12, 'k') + "  " + std::string(30, 'p'));
}

TEST(ReportTerminal, TitlesWiderThanTheScreenAreShortened) {
  Table table{.key = "t"};
  table.columns = {{"n", std::string(100, 't'), Unit::kText}};
  table.rows = {{"k"}};
  const std::vector<std::string> lines = lines_of(on_screen(table, 20));
  EXPECT_EQ(lines[0], "  ttttttttt\u2026tttttttt");
  EXPECT_EQ(lines[2], "  k");
}

TEST(ReportTerminal, NamesColumnsThatDoNotFit) {
  Table table = kernel_table("gemm");
  table.rows.resize(1);
  EXPECT_EQ(on_screen(table, 40), R"(                   launch and     launch
                    queue sum  and queue
  kernel    count        (ms)  mean (µs)
  ──────  ───────  ──────────  ─────────
  gemm    100,000         123       1.23
  not shown at this width: device sum
  (ns), where (--format csv shows all)
)");
}

TEST(ReportTerminal, NumbersAtTheEndGoBeforeTheNameOfTheRowIsUnreadable) {
  Table table = kernel_table("a_kernel_with_a_name_of_some_length");
  table.rows.resize(1);
  const std::string screen = on_screen(table, 46);
  EXPECT_NE(screen.find("a_kernel_with\u2026f_some_length"), std::string::npos) << screen;
  EXPECT_NE(screen.find("not shown at this width"), std::string::npos) << screen;
}

TEST(ReportTerminal, NumbersWrittenAsTextAreLeftOutBeforeTheyAreCut) {
  Table table{.key = "t"};
  table.columns = {{"m", "metric", Unit::kText}, {"i", "interval", Unit::kText, Align::kRight}};
  table.rows = {{std::string(20, 'm'), "-15.5 ms to +13.7 ms"}};
  const std::string screen = on_screen(table, 40);
  EXPECT_EQ(screen.find("\u2026"), std::string::npos) << screen;
  EXPECT_NE(screen.find("not shown at this width"), std::string::npos) << screen;
}

TEST(ReportTerminal, OneColumnWiderThanTheScreenIsShownWhole) {
  Table table{.key = "n"};
  table.columns = {{"n", "number", Unit::kCount}, {"m", "other", Unit::kCount}};
  table.rows = {{INT64_MIN, 1}};
  EXPECT_EQ(on_screen(table, 20), R"(                      number
  ──────────────────────────
  -9,223,372,036,854,775,808
  not shown at this
  width: other
  (--format csv
  shows all)
)");
}

TEST(ReportTerminal, LabelsOfNumbersTakeTheRemainingWidth) {
  Document document;
  Section section{.key = "s", .title = "S"};
  section.blocks.push_back(
      Facts{.key = "f",
            .items = {{"a", "of GPU idle: host busy or unseen under 1 ms", 0.004, Unit::kShare}}});
  document.sections.push_back(std::move(section));
  const std::string shown = write_terminal(document, {.width = 60});
  EXPECT_NE(shown.find("  of GPU idle: host busy or unseen under 1 ms  0.4 %\n"), std::string::npos)
      << shown;
}

TEST(ReportTerminal, EmptyTablesSayNone) {
  Table table{.key = "n", .title = "Chains"};
  table.columns = {{"n", "number", Unit::kCount}};
  EXPECT_EQ(on_screen(table, 80), "  Chains\n  (none)\n");
}

TEST(ReportTerminal, LimitZeroShowsAllAndReadersOnlyTablesPromiseNoCsv) {
  Table table;
  table.columns = {{"n", "number", Unit::kCount}};
  for (int i = 0; i < 1500; ++i) table.rows.push_back({i});
  EXPECT_NE(on_screen(table, 80).find("\n  \u2026 and 1,480 more rows\n"), std::string::npos);
  table.terminal_limit = 0;
  EXPECT_EQ(lines_of(on_screen(table, 80)).size(), 1502U);
}

TEST(ReportTerminal, DeepNodesKeepTheirNames) {
  Tree tree{.key = "deep"};
  tree.nodes = {{0, "root", {}}, {25, "leaf", {}}, {4000000000U, "abyss", {}}};
  Document document;
  document.sections.push_back({"s", "", {tree}});
  const std::vector<std::string> lines = lines_of(write_terminal(document, {.width = 60}));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[3], std::string(42, ' ') + "+5 leaf");
  EXPECT_EQ(lines[4].substr(0, 31), std::string(31, ' '));
  EXPECT_NE(lines[4].find("abyss"), std::string::npos);
}

TEST(ReportTerminal, IndentationTakesAtMostHalfOfTheWidth) {
  Tree tree{.key = "deep"};
  tree.nodes = {{10, "abcdefghijklmnopqrst", {}}};
  Document document;
  document.sections.push_back({"s", "", {tree}});
  // 18 columns: 9 of them indentation, 9 for the name.
  EXPECT_EQ(lines_of(write_terminal(document, {.width = 20})).back(), "           abcd\u2026qrst");
}

TEST(ReportTerminal, PartsComeOneAfterTheOther) {
  Document document;
  document.verdict = {"Rank 1 is slow."};
  Facts facts{.items = {{"k", "kernels", 5, Unit::kCount}}};
  document.parts = {{.name = "rank 0", .verdict = {"fine"}},
                    {.name = "rank 1",
                     .items = {{"events", "events", 1000, Unit::kCount}},
                     .import_log = {{"truncated", "data_loss", 2, "cut"}},
                     .sections = {{"launch", "Launch", {facts}}}}};
  EXPECT_EQ(write_terminal(document), R"(Rank 1 is slow.

rank 0
fine

rank 1 (events 1,000)

Launch
  kernels  5

Import log
  • truncated (data_loss, 2 times): cut
)");
}

TEST(ReportTerminal, ASectionWithNothingToReadHasNoHeading) {
  Document document;
  Facts facts{.items = {{.key = "a_ns", .label = "a", .value = Value(1), .show = Show::kDataOnly}}};
  document.sections.push_back({"s", "A chart alone", {Chart{.key = "c", .title = "c"}, facts}});
  EXPECT_EQ(write_terminal(document, {.width = 80}).find("A chart alone"), std::string::npos);
  EXPECT_EQ(write_markdown(document).find("A chart alone"), std::string::npos);
}

TEST(ReportTerminal, CleanInputIsSaid) {
  Document document;
  document.inputs = {{"a.json"}};
  EXPECT_EQ(write_terminal(document), "input: a.json\n\nImport log: no irregular input.\n");
  EXPECT_EQ(write_terminal(Document()), "");
}

}  // namespace
}  // namespace assay
