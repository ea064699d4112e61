// The file around the page, and what it embeds.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "report/writers/page_view.h"
#include "report/writers/writers.h"
#include "support/bytes.h"
#include "support/report_sample.h"

namespace assay {
namespace {

using Json = nlohmann::json;

std::string decoded(std::string_view base64) {
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    count += 6;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  return out;
}

// What the script element of that id holds, unpacked.
std::string embedded(const std::string& html, const std::string& id) {
  const std::string open = "id=\"" + id + "\">";
  const size_t start = html.find(open) + open.size();
  const size_t end = html.find("</script>", start);
  auto text =
      testing::read_all(gunzip(testing::bytes_of(decoded(html.substr(start, end - start)))));
  EXPECT_TRUE(text);
  return text ? *text : std::string();
}

// The view of a document whose page has room for all.
PageView whole_view(const Document& document) {
  return page_view(document, [](size_t, const std::string&) { return true; });
}
std::string rest_of(const Document& document) { return whole_view(document).rest; }

TEST(ReportHtml, EmbedsTheJsonDocumentAndTheView) {
  const Document document = sample_document();
  const std::string html = write_html(document);
  EXPECT_EQ(html.find("@@assay"), std::string::npos) << "a marker was not filled";
  EXPECT_EQ(embedded(html, "assay-json"), write_json(document));
  EXPECT_EQ(embedded(html, "assay-head"), whole_view(document).head);
  EXPECT_EQ(embedded(html, "assay-view"), whole_view(document).rest);
}

// Text that gzip cannot make much smaller.
std::string noise(size_t bytes, uint32_t seed) {
  std::string text;
  for (; text.size() < bytes; seed = seed * 1664525U + 1013904223U) {
    text += static_cast<char>('a' + (seed >> 24) % 26);
  }
  return text;
}

// Parts with rooms of half a million bytes each.
Document document_of_parts(size_t count) {
  Document document;
  document.title = "Report";
  document.parts_key = "ranks";
  for (uint32_t rank = 0; rank < count; ++rank) {
    Part part{.name = "rank" + std::to_string(rank) + ".json",
              .items = {{"rank", "rank", int64_t{rank}}}};
    Prose prose{.paragraphs = {noise(500'000, rank + 1)}};
    prose.show = Show::kPageOnly;
    part.sections = {{"s", "S", {prose}}};
    part.lanes = "lanes of " + std::to_string(rank);
    document.parts.push_back(std::move(part));
  }
  return document;
}

TEST(ReportHtml, KeepsTheSectionsOfTheMostInformativeParts) {
  Document document = document_of_parts(12);
  document.parts_order = {7, 3, 11, 0, 1, 2, 4, 5, 6, 8, 9, 10};
  const std::string html = write_html(document);
  EXPECT_LT(html.size(), 3'000'000U);
  const Json rest = Json::parse(embedded(html, "assay-view"));
  const Json head = Json::parse(embedded(html, "assay-head"));
  EXPECT_EQ(head["parts_count"], 12);
  EXPECT_EQ(head["part_word"], "rank");
  ASSERT_EQ(rest["parts"].size(), 12U);
  size_t held = 0;
  for (size_t place = 0; place < 12; ++place) {
    const bool is_held = rest["parts"][place]["held"];
    held += is_held;
    const std::string id = "id=\"assay-part-" + std::to_string(place) + "\"";
    EXPECT_EQ(html.find(id) != std::string::npos, is_held) << place;
  }
  EXPECT_GE(held, 4U);
  EXPECT_LT(held, 12U);
  for (size_t i = 0; i < held; ++i) {
    EXPECT_TRUE(rest["parts"][document.parts_order[i]]["held"]) << i;
  }
  EXPECT_EQ(embedded(html, "assay-lanes-7"), "lanes of 7");
}

TEST(ReportHtml, FourPartsAlwaysHaveTheirSections) {
  Document document = document_of_parts(5);
  for (Part& part : document.parts) {
    part.sections.front().blocks = {Prose{.paragraphs = {noise(2'000'000, 3)}}};
  }
  const Json rest = Json::parse(embedded(write_html(document), "assay-view"));
  EXPECT_TRUE(rest["parts"][3]["held"]);
  EXPECT_FALSE(rest["parts"][4]["held"]);
}

TEST(ReportHtml, IsTheSameWithItsJsonDocumentMadeInAThread) {
  for (const Document& document : {sample_document(), document_of_parts(3)}) {
    EXPECT_EQ(write_html(document, true), write_html(document, false));
  }
}

TEST(ReportHtml, OfManyPartsSaysWhetherItHoldsTheJsonDocument) {
  const auto holds_json = [](const Document& document) -> bool {
    const std::string html = write_html(document);
    const bool told = Json::parse(embedded(html, "assay-head"))["json"];
    EXPECT_EQ(html.find("id=\"assay-json\"></script>") == std::string::npos, told);
    return told;
  };
  Document document = document_of_parts(3);
  EXPECT_TRUE(holds_json(document));
  document.parts.front().verdict = {noise(4'000'000, 9)};
  EXPECT_FALSE(holds_json(document));
  document = sample_document();  // of one trace it is there, however large
  document.verdict = {noise(4'000'000, 9)};
  EXPECT_TRUE(holds_json(document));
}

TEST(ReportHtml, AllowsItsOwnScriptOnly) {
  const std::string html = write_html(sample_document());
  EXPECT_NE(html.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_NE(html.find("connect-src 'none'"), std::string::npos);
  EXPECT_EQ(html.find("unsafe-"), std::string::npos);
  EXPECT_LT(html.find("Content-Security-Policy"), html.find("<script"));
  EXPECT_LT(html.size(), 2U << 20);
}

TEST(ReportHtml, ShowsTheHeadlineWithoutItsScript) {
  Document document = sample_document();
  document.verdict = {"1 < 2 & </div><script>alert(1)</script>"};
  const std::string html = write_html(document);
  EXPECT_NE(html.find("<p>1 &lt; 2 &amp; &lt;/div&gt;&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
            std::string::npos);
  document.verdict = {"x"};
  document.inputs = {{"</title><script>alert(1)</script>"}};
  EXPECT_EQ(write_html(document).find("<script>alert"), std::string::npos);
}

TEST(PageView, HoldsWhatReadersSeeAndTheTrustNotesAsATable) {
  const Json view = Json::parse(rest_of(sample_document()));
  EXPECT_EQ(Json::parse(whole_view(sample_document()).head)["title"], "Launch report");
  EXPECT_EQ(view["verdict"].size(), 2U);
  EXPECT_EQ(view["trust"]["rows"], 1);
  EXPECT_EQ(view["trust"]["columns"][0]["cells"][0], "unlinked_kernels");
  ASSERT_EQ(view["sections"].size(), 2U);
  const Json& blocks = view["sections"][0]["blocks"];
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0]["items"][0]["value"], 1234);
  EXPECT_EQ(blocks[0]["items"][4]["hidden"], true);
  EXPECT_EQ(blocks[1]["columns"][2]["whole"], false);
  EXPECT_EQ(blocks[1]["columns"][2]["cells"], Json::parse("[1500.5, 2000.0, null]"));
  // Beside its trust notes the second section has a tree.
  ASSERT_EQ(view["sections"][1]["blocks"].size(), 1U);
  EXPECT_EQ(view["sections"][1]["blocks"][0]["labels"][1], "cudaLaunchKernel");
}

TEST(PageView, KeepsLongIntegersExactAndLeavesOutNonNumbers) {
  Document document;
  Facts facts{.items = {{"a", "a", int64_t{9007199254740993}},
                        {"b", "b", std::nan("")},
                        {"c", "c", int64_t{9007199254740992}}}};
  Chart chart{.key = "c", .series = {{.y = {1, INFINITY, 2}}}};
  document.sections = {{"s", "S", {facts, chart}}};
  const Json view = Json::parse(rest_of(document));
  const Json& items = view["sections"][0]["blocks"][0]["items"];
  EXPECT_EQ(items[0]["value"], "9007199254740993");
  EXPECT_TRUE(items[1]["value"].is_null());
  EXPECT_EQ(items[2]["value"], 9007199254740992);
  EXPECT_EQ(view["sections"][0]["blocks"][1]["series"][0]["y"], Json::parse("[1.0, null, 2.0]"));
}

TEST(PageView, DefinesTheKeysThatItShows) {
  const Json view = Json::parse(rest_of(sample_document()));
  std::string all;
  for (const Json& definition : view["definitions"]) {
    for (const Json& key : definition["keys"]) all += key.get<std::string>() + " ";
  }
  EXPECT_NE(all.find("tklqt_ns"), std::string::npos);
  EXPECT_EQ(all.find("akd_ns"), std::string::npos);
}

TEST(PageView, LeavesOutBlocksThatAreDataOnlyAndKeepsThoseForThePage) {
  Document document;
  document.sections = {
      {"s",
       "S",
       {Prose{.paragraphs = {"data"}, .show = Show::kDataOnly},
        Prose{.paragraphs = {"page"}, .show = Show::kPageOnly}, Chart{.key = "c"}}},
      {"t", "T", {Prose{.paragraphs = {"x"}, .show = Show::kDataOnly}}}};
  const Json view = Json::parse(rest_of(document));
  ASSERT_EQ(view["sections"].size(), 1U);
  ASSERT_EQ(view["sections"][0]["blocks"].size(), 2U);
  EXPECT_EQ(view["sections"][0]["blocks"][0]["paragraphs"][0], "page");
}

}  // namespace
}  // namespace assay
