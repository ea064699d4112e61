// The vectors that the terminal's units and the page's are both held to: tests/browser/units.mjs
// reads the same file. Worked by hand.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "text/units.h"

namespace assay {
namespace {

using Json = nlohmann::json;

Json vectors() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/data/unit_vectors.json");
  return Json::parse(file);
}

Unit unit_of(const Json& name) {
  static const std::map<std::string, Unit> kUnits = {
      {"none", Unit::kNone},    {"text", Unit::kText},      {"ns", Unit::kNanoseconds},
      {"count", Unit::kCount},  {"share", Unit::kShare},    {"ratio", Unit::kRatio},
      {"bytes", Unit::kBytes},  {"rate", Unit::kPerSecond}, {"watts", Unit::kWatts},
      {"joules", Unit::kJoules}};
  return kUnits.at(name.get<std::string>());
}

// Integers beyond 2^53 are text in the file, for JavaScript's sake.
bool is_long_integer(const std::string& text) {
  return text.size() >= 16 && text.find_first_not_of("-0123456789") == std::string::npos;
}

Value value_of(const Json& value, bool whole) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_array()) return value.get<Value::List>();
  if (value.is_number()) {
    return whole ? Value(value.get<int64_t>()) : Value(value.get<double>());
  }
  const auto text = value.get<std::string>();
  return is_long_integer(text) ? Value(std::strtoll(text.c_str(), nullptr, 10)) : Value(text);
}

TEST(ReportUnitVectors, Values) {
  const Json all = vectors()["values"];
  ASSERT_GT(all.size(), 40U);
  for (const Json& each : all) {
    EXPECT_EQ(format_value(value_of(each["value"], each["whole"]), unit_of(each["unit"])),
              each["text"].get<std::string>())
        << each;
  }
}

TEST(ReportUnitVectors, Columns) {
  const Json all = vectors();
  for (const Json& each : all["columns"]) {
    std::vector<Value> values;
    for (const Json& cell : each["cells"]) values.push_back(value_of(cell, each["whole"]));
    std::vector<const Value*> cells;
    for (const Value& value : values) cells.push_back(&value);
    const ColumnScale scale = scale_column(unit_of(each["unit"]), cells);
    EXPECT_EQ(scale.symbol, each["symbol"].get<std::string>()) << each;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(format_cell(values[i], scale), each["texts"][i].get<std::string>()) << each;
    }
  }
}

}  // namespace
}  // namespace assay
