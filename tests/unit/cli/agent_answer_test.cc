#include "cli/agent_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_tree.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

const Question kQuestion = {
    .name = "kernels",
    .sentence = "",
    .words = {"launch"},
    .inputs = {{.argument = "trace", .sentence = ""}},
    .values = {{"kernels", "launch.whole.kernels", AnswerType::kInteger}},
    .tables = {{.key = "by_name",
                .path = "launch.top",
                .columns = {{"name"}, {"ns", AnswerType::kInteger}},
                .largest_first = "ns"},
               {.key = "caveats", .path = "caveats", .columns = {{"code"}}}},
    .next = {{"fusion", "why"}}};

// `count` kernels, the longest last.
Json document(int count) {
  Json rows = Json::array();
  for (int i = 0; i < count; ++i) {
    rows.push_back({{"name", "k" + std::to_string(i)}, {"ns", i}, {"other", 1}});
  }
  return {{"inputs", {{{"name", "a.json"}}}},
          {"headline", {"One.", "Two."}},
          {"launch", {{"whole", {{"kernels", count}}}, {"top", rows}}},
          {"caveats", {{{"code", "clock_offset"}}}}};
}

Json answer(const Json& document, const AnswerRequest& request, const std::string& around = "") {
  const auto text = agent_answer(kQuestion, around + json_text(document, 2) + "\n", request);
  EXPECT_TRUE(text) << text.error().message;
  return text ? parsed_ordered_json(*text) : Json();
}

TEST(AgentAnswer, HasTheLargestFirstAndOnlyItsColumns) {
  const Json told = answer(document(3), {});
  EXPECT_EQ(told["headline"], "One. Two.");
  EXPECT_EQ(told["inputs"], Json::array({"a.json"}));
  EXPECT_EQ(told["kernels"], 3);
  EXPECT_EQ(told["by_name"], Json::parse(R"([{"name":"k2","ns":2},{"name":"k1","ns":1},)"
                                         R"({"name":"k0","ns":0}])"));
  EXPECT_TRUE(told["left_out"].empty());
  EXPECT_TRUE(told["unknown"].empty());
}

TEST(AgentAnswer, StaysWithinItsBudgetAndSaysHowToGoOn) {
  for (const size_t tokens : {500u, 700u, 2000u}) {
    const AnswerRequest request{.max_tokens = tokens,
                                .arguments = R"({"trace":"a.json","max_tokens":1})"};
    const Json told = answer(document(2000), request);
    EXPECT_LE(json_text(told).size(), tokens * kBytesOfToken);
    ASSERT_EQ(told["left_out"].size(), 1u);
    const Json& rest = told["left_out"][0];
    const size_t shown = told["by_name"].size();
    EXPECT_GE(shown, 3u);
    EXPECT_EQ(rest["what"], "by_name");
    EXPECT_EQ(rest["count"], 2000 - shown);
    EXPECT_EQ(rest["ask"]["tool"], "kernels");
    EXPECT_EQ(rest["ask"]["arguments"]["trace"], "a.json");
    EXPECT_EQ(rest["ask"]["arguments"]["table"], "by_name");
    EXPECT_EQ(rest["ask"]["arguments"]["skip_rows"], shown);
    // The call gives the rows that follow.
    const Json more = answer(document(2000), {.max_tokens = tokens, .table = "by_name", .skip_rows = shown});
    EXPECT_EQ(more["by_name"][0]["ns"], 1999 - shown);
    EXPECT_FALSE(more.contains("caveats"));
  }
}

TEST(AgentAnswer, MissingValuesAreUnknown) {
  Json lacking = document(1);
  lacking["launch"]["whole"]["kernels"] = nullptr;
  lacking["summary"] = {{"confidence", {{"grade", "none"}, {"text", "too few rows"}}}};
  const Json told = answer(lacking, {});
  EXPECT_TRUE(told["kernels"].is_null());
  ASSERT_EQ(told["unknown"].size(), 2u);
  EXPECT_EQ(told["unknown"][0]["what"], "kernels");
  EXPECT_EQ(told["unknown"][1]["why"], "too few rows");
}

TEST(AgentAnswer, LinesAroundTheDocumentAreNotes) {
  const Json told = answer(document(1), {}, "assay: b.json: skipped\n");
  EXPECT_EQ(told["notes"], Json::array({"b.json: skipped"}));
  EXPECT_FALSE(agent_answer(kQuestion, "assay: no\n", {}));
  EXPECT_FALSE(agent_answer(kQuestion, "{\n\"a\": 1", {})) << "cut short";
}

TEST(AgentAnswer, RowsOfSeveralInputsNameTheirs) {
  Json part = {{"name", "r1.json"}, {"import_log", Json::array()}};
  part["launch"] = document(1)["launch"];
  const Json several = {{"inputs", Json::array()}, {"ranks", Json::array({part})}};
  const Json told = answer(several, {});
  EXPECT_EQ(told["by_name"][0]["input"], "r1.json");
}

TEST(AgentAnswer, AnUnknownTableNamesTheNearest) {
  const auto refused = agent_answer(kQuestion, "{\n}", {.table = "by_nam"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("did you mean 'by_name'"));
}

TEST(AgentAnswer, LongTextsAreCutBetweenCharactersAndCounted) {
  Json wide = document(1);
  std::string name;
  for (int i = 0; i < 200; ++i) name += "é";
  wide["launch"]["top"][0]["name"] = name;
  const Json told = answer(wide, {});
  EXPECT_EQ(told["by_name"][0]["name"].get<std::string>().size(), 240u + 3u);
  EXPECT_EQ(told["left_out"][0]["count"], 1);
}

}  // namespace
}  // namespace assay
