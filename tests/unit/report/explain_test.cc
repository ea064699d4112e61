#include "report/document/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "report/document/definitions.h"

namespace assay {
namespace {

bool is_known(const std::string& word) {
  const std::vector<std::string> words = explained_words();
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Explain, SymbolsSayWhatTheyMeanBeforeTheirFormula) {
  const std::string text = explain("tklqt", 80);
  const size_t plain = text.find("all added up");
  const size_t formula = text.find("formula   \u03a3 t_l");
  ASSERT_NE(plain, std::string::npos) << text;
  ASSERT_NE(formula, std::string::npos) << text;
  EXPECT_LT(plain, formula);
  EXPECT_NE(text.find("to do"), std::string::npos);
}

TEST(Explain, SymbolsByWhatPeopleType) {
  EXPECT_EQ(explain("TKLQT", 80), explain("tklqt_ns", 80));
  EXPECT_EQ(explain("O_prep", 80), explain("prep", 80));
  EXPECT_EQ(explain("T-Py", 80), explain("t_py_ns", 80));
  EXPECT_EQ(explain("\u0394CT", 80), explain("delta_ct", 80));
  EXPECT_EQ(explain("launch floor", 80), explain("floor", 80));
  EXPECT_TRUE(is_known("o_call"));
  EXPECT_EQ(explain("o_nothing", 80), "");
}

// The headline says host-bound; no number of that name is meant.
TEST(Explain, HostIsTheKindOfTheHeadline) {
  for (const char* word : {"host", "Host-bound"}) {
    const std::string text = explain(word, 80);
    EXPECT_TRUE(text.starts_with("host-bound\n")) << text;
    EXPECT_EQ(text.find("host_ns"), std::string::npos) << text;
  }
}

// Each has a definition to stand before, and no two share a name.
TEST(Explain, SymbolsAreDefined) {
  std::set<std::string> names;
  for (const PlainWord& symbol : symbol_words()) {
    const std::string text = explain(symbol.key, 100);
    EXPECT_NE(text.find("formula"), std::string::npos) << symbol.key;
    EXPECT_NE(text.find(symbol.key), std::string::npos) << symbol.key;
    EXPECT_FALSE(symbol.what.empty());
    EXPECT_TRUE(names.insert(std::string(symbol.name)).second) << symbol.name;
  }
}

}  // namespace
}  // namespace assay
