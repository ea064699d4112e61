// The JSON contract: key order, integers that stay integers, null for what is missing, and output
// that reads back to what went in.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/writers/writers.h"
#include "support/report_sample.h"

namespace assay {
namespace {

using OrderedJson = nlohmann::ordered_json;

TEST(ReportJson, Sample) {
  EXPECT_EQ(OrderedJson::parse(write_json(sample_document())).dump(),
            R"({"schema_version":2,"tool":{"name":"assay","version":"1.2.3"},)"
            R"("inputs":[{"name":"a.json.gz","size_bytes":1572864}],)"
            R"("import_log":[{"code":"truncated","severity":"data_loss","count":1,)"
            R"("text":"the input ends early","first_offset":17},)"
            R"({"code":"whole_microseconds","severity":"info","count":1200,)"
            R"("text":"times are whole us","first_offset":null}],)"
            R"("headline":["Host-bound: the GPU waits.","Fuse chains first."],)"
            R"("launch":{"whole":{"kernels":1234,"tklqt_ns":12345678,"il_ns":null,)"
            R"("device":"H200","seed":7},)"
            R"("top_kernels":[{"name":"gemm, 128","count":1000,"mean_ns":1500.5,"share":0.625},)"
            R"({"name":"copy","count":2,"mean_ns":2000.0,"share":0.375},)"
            R"({"name":"tail","count":1,"mean_ns":null,"share":null}]},)"
            R"("tree":[{"depth":0,"name":"aten::linear","host_ns":3000},)"
            R"({"depth":1,"name":"cudaLaunchKernel","host_ns":1000}],)"
            R"("caveats":[{"code":"unlinked_kernels","count":3}],)"
            R"("trust_words":["3 kernels unlinked"]})");
}

TEST(ReportJson, IndentedByTwoAndEndsInANewline) {
  Document document;
  document.tool.version = "1";
  EXPECT_EQ(write_json(document), R"({
  "schema_version": 2,
  "tool": {
    "name": "assay",
    "version": "1"
  },
  "inputs": [],
  "import_log": [],
  "headline": []
}
)");
}

OrderedJson value_as_json(const Value& value) {
  Document document;
  document.sections.push_back({"", "", {Facts{.items = {{"x", "x", value}}}}});
  return OrderedJson::parse(write_json(document))["x"];
}

TEST(ReportJson, ValuesSurvive) {
  EXPECT_EQ(value_as_json(INT64_MAX).dump(), "9223372036854775807");
  EXPECT_EQ(value_as_json(INT64_MIN).dump(), "-9223372036854775808");
  EXPECT_EQ(value_as_json(UINT64_MAX).dump(), "9223372036854775807");
  EXPECT_EQ(value_as_json(true).dump(), "true");
  EXPECT_EQ(value_as_json(Value::List{"a", "b"}).dump(), R"(["a","b"])");
  EXPECT_EQ(value_as_json(1.0).dump(), "1.0");
  for (const double real : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789012345.67}) {
    EXPECT_EQ(value_as_json(real).get<double>(), real);
  }
}

TEST(ReportJson, NothingIsNull) {
  EXPECT_TRUE(value_as_json(Value()).is_null());
  EXPECT_TRUE(value_as_json(std::optional<int64_t>()).is_null());
  EXPECT_TRUE(value_as_json(std::nan("")).is_null());
  EXPECT_TRUE(value_as_json(std::numeric_limits<double>::infinity()).is_null());
}

TEST(ReportJson, HostileTextIsEscapedWithoutLoss) {
  const std::string text = "a\x1b[31m\"\\\r\n\t\x7f\u009B\u202E\u200B\u2028\U000E0041\u65E5";
  Document document;
  document.verdict = {text};
  const std::string json = write_json(document);
  EXPECT_NE(json.find(R"("a\u001b[31m\"\\\r\n\t\u007f\u009b\u202e\u200b\u2028\udb40\udc41)"
                      "\u65E5\""),
            std::string::npos);
  EXPECT_EQ(OrderedJson::parse(json)["headline"][0].get<std::string>(), text);
  EXPECT_EQ(value_as_json("a\xFFz").get<std::string>(), "a\uFFFDz");
}

TEST(ReportJson, SectionsOfOneKeyMergeAndEmptyKeysMergeUpwards) {
  Document document;
  document.sections = {{"launch", "", {Facts{.items = {{"a", "a", 1}}}}},
                       {"launch", "", {Facts{.key = "whole", .items = {{"b", "b", 2}}}}},
                       {"", "", {Facts{.items = {{"c", "c", 3}}}}},
                       {"empty", "", {}}};
  const OrderedJson json = OrderedJson::parse(write_json(document));
  EXPECT_EQ(json["launch"].dump(), R"({"a":1,"whole":{"b":2}})");
  EXPECT_EQ(json["c"], 3);
  EXPECT_EQ(json["empty"].dump(), "{}");
}

TEST(ReportJson, ElementsAreObjectsWithTablesOfTheirOwn) {
  Table curve{.key = "profile", .columns = {{"toi_ns", "TOI"}}, .rows = {{1}, {2}}};
  Facts name{.items = {{"name", "name", "gemm"}}};
  Document document;
  document.sections.push_back(
      {"power", "", {Elements{.key = "kernels", .elements = {{{"", "", {name, curve}}}, {}}}}});
  EXPECT_EQ(OrderedJson::parse(write_json(document))["power"].dump(),
            R"({"kernels":[{"name":"gemm","profile":[{"toi_ns":1},{"toi_ns":2}]},{}]})");
  const std::string csv = write_csv(document);
  EXPECT_NE(csv.find("# power.kernels.0\nkey,value\nname,gemm\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("# power.kernels.0.profile\ntoi_ns\n1\n2\n"), std::string::npos) << csv;
}

TEST(ReportJson, InputsWithoutItemsAreNames) {
  Document document;
  document.inputs = {{"a.json"}, {"b.json"}};
  EXPECT_EQ(OrderedJson::parse(write_json(document))["inputs"].dump(), R"(["a.json","b.json"])");
}

TEST(ReportJson, PartsAreAnArrayUnderTheirKey) {
  Document document;
  document.parts_key = "ranks";
  document.parts = {{.name = "rank 0",
                     .items = {{"rank", "rank", 0}},
                     .import_log = {{"truncated", "data_loss", 1, "cut", 5}},
                     .verdict = {"fine"},
                     .sections = {{"launch", "", {Facts{.items = {{"a", "a", 1}}}}}}}};
  EXPECT_EQ(OrderedJson::parse(write_json(document))["ranks"].dump(),
            R"([{"name":"rank 0","rank":0,"import_log":[{"code":"truncated",)"
            R"("severity":"data_loss","count":1,"text":"cut","first_offset":5}],)"
            R"("headline":["fine"],"launch":{"a":1}}])");
}

}  // namespace
}  // namespace assay
