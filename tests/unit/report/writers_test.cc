// The seam of the writers, and the promise that holds for all of them: nothing hostile gets out.

#include "report/writers/writers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/document/import_notes.h"
#include "text/plain_text.h"
#include "support/report_sample.h"

namespace assay {
namespace {

TEST(ReportWriters, FormatsHaveNames) {
  EXPECT_EQ(*parse_format("terminal"), Format::kTerminal);
  EXPECT_EQ(*parse_format("json"), Format::kJson);
  EXPECT_EQ(*parse_format("csv"), Format::kCsv);
  EXPECT_EQ(*parse_format("md"), Format::kMarkdown);
  EXPECT_EQ(*parse_format("html"), Format::kHtml);
}

TEST(ReportWriters, UnknownFormatsNameTheKnownOnes) {
  const Result<Format> format = parse_format("xml\x1b");
  ASSERT_FALSE(format);
  EXPECT_EQ(format.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(format.error().message,
            "unknown format 'xml\uFFFD'; use one of terminal, json, csv, md, html");
}

TEST(ReportWriters, RenderCallsTheWriterOfTheFormat) {
  const Document document = sample_document();
  EXPECT_EQ(render(document, Format::kTerminal, {.width = 40}),
            write_terminal(document, {.width = 40}));
  EXPECT_EQ(render(document, Format::kJson), write_json(document));
  EXPECT_EQ(render(document, Format::kCsv), write_csv(document));
  EXPECT_EQ(render(document, Format::kMarkdown), write_markdown(document));
  EXPECT_EQ(render(document, Format::kHtml), write_html(document));
}

// A document with the same text in every place that can hold text from a trace or the user.
Document filled_with(const std::string& text) {
  Document document = sample_document();
  document.title = text;
  document.tool.version = text;
  document.inputs = {{text, {{"k", text, text, Unit::kText, text}}}};
  document.import_log = {{text, text, 1, text, 1}};
  document.verdict = {text, text};
  Facts facts{.key = "f",
              .title = text,
              .items = {{"k", text, text, Unit::kText, text},
                        {"l", text, 1, Unit::kCount, text},
                        {"m", text, Value::List{text, text}}}};
  Table table{.key = "t", .title = text};
  table.columns = {{"a", text, Unit::kText, Align::kAuto, true}, {"b", text, Unit::kNanoseconds}};
  table.rows = {{text, text}, {Value::List{text}, 5}};
  table.terminal_limit = 1;
  Tree tree{.key = "u", .title = text, .label_title = text};
  tree.columns = {{"b", text, Unit::kNanoseconds}};
  tree.nodes = {{0, text, {text}}};
  Prose prose{.key = "p", .paragraphs = {text, text}, .bullets = true};
  document.sections.push_back({"s", text, {facts, table, tree, prose}});
  document.parts = {{.name = text,
                     .items = {{"k", text, text}},
                     .import_log = document.import_log,
                     .verdict = {text},
                     .sections = document.sections}};
  return document;
}

TEST(ReportWriters, NothingHostileGetsOut) {
  const std::string payload = "x\x1b]0;t\x07\x1b[2J\r\n\x08\x7f\u009B31m\u0085\u2028\u202E\u2066" +
                              std::string(1, '\0') + "\u200B\uFEFF\xFF\xC0\xE2\x82y";
  for (const int width : {20, 40, 200}) {
    for (const bool utf8 : {true, false}) {
      for (const Writer& writer : kWriters) {
        const std::string out = writer.write(filled_with(payload), {.width = width, .utf8 = utf8});
        for (size_t i = 0; i < out.size();) {
          const CodePoint point = decode_utf8(out, i);
          if (point.value == 0xFFFD) {
            ASSERT_EQ(out.substr(i, point.bytes), "\xEF\xBF\xBD") << writer.name;
          }
          ASSERT_TRUE(point.value == '\n' || !is_control(point.value))
              << writer.name << " at " << i;
          ASSERT_FALSE(is_invisible(point.value)) << writer.name << " at " << i;
          if (writer.format == Format::kTerminal && !utf8) {
            ASSERT_LT(point.value, 0x80U);
          }
          i += point.bytes;
        }
      }
    }
  }
}

TEST(ReportWriters, HostileTextAddsNoLines) {
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  for (const Writer& writer : kWriters) {
    EXPECT_EQ(lines(writer.write(filled_with("a\nb"), {.width = 200})),
              lines(writer.write(filled_with("a b"), {.width = 200})))
        << writer.name;
  }
}

// How often the word stands in the text.
size_t count_of(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(ReportWriters, ShowDecidesForBlocksColumnsAndItems) {
  Document document;
  const auto items = [](const std::string& place) {
    return std::vector<Item>{{"k1", "l1", place + "READER", Unit::kText, {}, Show::kReadersOnly},
                             {"k2", "l2", place + "DATA", Unit::kText, {}, Show::kDataOnly}};
  };
  const std::vector<Column> columns = {
      {"c1", "t1", Unit::kText, Align::kAuto, false, Show::kReadersOnly},
      {"c2", "t2", Unit::kText, Align::kAuto, false, Show::kDataOnly}};
  document.inputs = {{"input", items("input")}};
  Table table{.key = "table", .columns = columns, .rows = {{"columnREADER", "columnDATA"}}};
  Tree tree{.key = "tree", .columns = columns, .nodes = {{0, "n", {"treeREADER", "treeDATA"}}}};
  document.sections.push_back(
      {"s",
       "",
       {Facts{.key = "facts", .items = items("fact")}, table, tree,
        Prose{.key = "p1", .paragraphs = {"proseREADER"}, .show = Show::kReadersOnly},
        Prose{.key = "p2", .paragraphs = {"proseDATA"}, .show = Show::kDataOnly}}});
  for (const Writer& writer : kWriters) {
    if (writer.format == Format::kHtml) continue;  // its content is packed: PageView
    const std::string out = writer.write(document, {});
    const bool data = writer.format == Format::kJson || writer.format == Format::kCsv;
    EXPECT_EQ(count_of(out, "READER"), data ? 0U : 5U) << writer.name << "\n" << out;
    EXPECT_EQ(count_of(out, "DATA"), data ? 5U : 0U) << writer.name << "\n" << out;
  }
}

TEST(ReportWriters, ImportNotesKeepOrderCountAndPlace) {
  ImportLog log;
  log.add(ImportCode::kTruncated, 99);
  log.add(ImportCode::kMissingDuration, 7, 3);
  const std::vector<ImportNote> notes = import_notes(log);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].code, "missing_duration");
  EXPECT_EQ(notes[0].count, 3U);
  EXPECT_EQ(notes[0].first_offset, 7);
  EXPECT_EQ(notes[1].code, "truncated");
  EXPECT_EQ(notes[1].severity, "data_loss");
}

}  // namespace
}  // namespace assay
