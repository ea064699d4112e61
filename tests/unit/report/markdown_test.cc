// Markdown: the sample, and text that must not become markup.

#include <gtest/gtest.h>

#include <string>

#include "report/writers/writers.h"
#include "support/report_sample.h"

namespace assay {
namespace {

TEST(ReportMarkdown, Sample) {
  EXPECT_EQ(write_markdown(sample_document()), R"(# Launch report

**Host-bound: the GPU waits.**

Fuse chains first.

- a.json.gz (size 1.50 MiB)

## Launch

- kernels: **1,234**
- TKLQT: **12.3 ms** (launch and queue time)
- IL: **\-**
- device: **H200**
- hint: **see docs**

**Top kernels**

| kernel | count | mean (µs) | share (%) |
| --- | ---: | ---: | ---: |
| gemm, 128 | 1,000 | 1.50 | 62.5 |
| copy | 2 | 2.00 | 37.5 |

… and 1 more row (--format csv shows all)

Only for readers.

## Trust

```text
host (µs)  name
─────────  ──────────────────
     3.00  aten::linear
     1.00    cudaLaunchKernel
```

- 3 kernels unlinked

## Import log

- truncated (data\_loss, once): the input ends early
- whole\_microseconds (info, 1,200 times): times are whole us
)");
}

std::string paragraph(const std::string& text) {
  Document document;
  document.sections.push_back({"", "", {Prose{.paragraphs = {text}}}});
  return write_markdown(document);
}

TEST(ReportMarkdown, TextIsNeverMarkup) {
  EXPECT_EQ(paragraph("a|b `c` *d* _e_ [f](g) ~h~ $i$ \\ {j}"),
            "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\[f\\](g) \\~h\\~ \\$i\\$ \\\\ \\{j\\}\n");
  EXPECT_EQ(paragraph("<script>&amp;</script>"), "&lt;script&gt;&amp;amp;&lt;/script&gt;\n");
  EXPECT_EQ(paragraph("a\r\n# b\x1b[0m\u202E"), "a # b\uFFFD\\[0m\n");
}

TEST(ReportMarkdown, TextLinksNothing) {
  EXPECT_EQ(paragraph("https://x.org www.x.org @all"), "https\\://x.org www\\.x.org &#64;all\n");
}

TEST(ReportMarkdown, LineStartsAreNotBlocks) {
  EXPECT_EQ(paragraph("# a"), "\\# a\n");
  EXPECT_EQ(paragraph("## a"), "\\## a\n");
  EXPECT_EQ(paragraph("- a"), "\\- a\n");
  EXPECT_EQ(paragraph("+ a"), "\\+ a\n");
  EXPECT_EQ(paragraph("---"), "\\---\n");
  EXPECT_EQ(paragraph("1. a"), "1\\. a\n");
  EXPECT_EQ(paragraph("1) a"), "1\\) a\n");
  EXPECT_EQ(paragraph("1.5 ms"), "1.5 ms\n");
  EXPECT_EQ(paragraph("    # code"), "\\# code\n");
}

TEST(ReportMarkdown, HostileCellsStayInTheirCell) {
  Table table{.key = "t"};
  table.columns = {{"n", "name", Unit::kText}, {"c", "count", Unit::kCount}};
  table.rows = {{"a|b\n| x | 1 |", 1}, {std::string(10000, 'k'), 2}};
  Document document;
  document.sections.push_back({"", "", {table}});
  EXPECT_EQ(write_markdown(document),
            "| name | count |\n| --- | ---: |\n"
            "| a\\|b \\| x \\| 1 \\| | 1 |\n"
            "| " +
                std::string(80, 'k') + "\u2026" + std::string(79, 'k') + " | 2 |\n");
}

TEST(ReportMarkdown, TreesCannotLeaveTheirFence) {
  Tree tree{.key = "t"};
  tree.nodes = {{0, "````\n```\n<b>", {}}};
  Document document;
  document.sections.push_back({"", "", {tree}});
  EXPECT_EQ(write_markdown(document), R"(`````text
name
────────────
```` ``` <b>
`````
)");
}

TEST(ReportMarkdown, PartsAreSections) {
  Document document;
  document.parts = {{.name = "rank_0",
                     .verdict = {"fine"},
                     .sections = {{"l", "Launch", {Facts{.items = {{"a", "A", 1}}}}}}}};
  EXPECT_EQ(write_markdown(document), R"(## rank\_0

**fine**

### Launch

- A: **1**
)");
}

}  // namespace
}  // namespace assay
