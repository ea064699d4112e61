#include "report/document/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "findings/causes.h"

namespace assay {
namespace {

bool is_known(const std::string& word) {
  const std::vector<std::string> words = explained_words();
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string lower(std::string_view name) {
  std::string text;
  for (const char c : name) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST(Explain, SymbolsSayWhatTheyMeanBeforeTheirFormula) {
  const std::string text = explain("tklqt", 80);
  const size_t plain = text.find("queue time: the");
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

// A symbol with a key shows the formula of that key, and no two words share a name.
TEST(Explain, NamesOfTermsAreUniqueAndKeysHaveFormulas) {
  std::set<std::string> names;
  for (const Word& word : explained_terms()) {
    EXPECT_FALSE(word.what.empty()) << word.name;
    EXPECT_TRUE(names.insert(lower(word.name)).second) << word.name;
    for (const std::string_view name : word.also) {
      EXPECT_TRUE(names.insert(lower(name)).second) << name;
    }
    if (word.key.empty()) continue;
    const std::string text = explain(word.key, 100);
    EXPECT_NE(text.find("formula"), std::string::npos) << word.key;
    EXPECT_NE(text.find(word.key), std::string::npos) << word.key;
  }
}

TEST(Explain, EveryNameOfATermAnswersWithThatTerm) {
  for (const Word& word : explained_terms()) {
    std::vector<std::string_view> names = word.also;
    names.push_back(word.name);
    for (const std::string_view name : names) {
      const std::string text = explain(name, 80);
      EXPECT_TRUE(text.starts_with(word.name)) << name << ": " << text;
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 20) << name;
    }
  }
}

// The terms that people from the field ask for, each with a word that only its own entry has.
TEST(Explain, TermsOfTheFieldHaveTheirOwnEntry) {
  const std::pair<const char*, const char*> kTerms[] = {
      {"bottleneck", "limits a run"},
      {"straggler", "others wait for"},
      {"roofline", "bandwidth peak"},
      {"occupancy", "Resident warps"},
      {"MFU", "Recomputation"},
      {"kernel launch overhead", "Host time to launch"},
      {"exposed communication", "no other kernel overlaps"},
      {"overlap", "computation overlaps"},
      {"critical path", "determines the end"},
      {"warm-up", "autotuning"},
      {"synchronization", "blocking call"},
      {"pinned memory", "page out"},
      {"CUDA graph", "one call"},
      {"data loading", "next batch"},
      {"launch-bound", "has not launched"},
      {"memory-bound", "memory bandwidth"},
      {"compute-bound", "compute peak"},
      {"GIL", "interpreter"},
      {"caching allocator", "reuses"},
      {"stream", "in order"},
      {"event", "marker"},
      {"NCCL", "Library"},
      {"collective", "all ranks"},
      {"skew", "first to the last rank"},
      {"utilization", "any kernel runs"},
      {"HDBI", "balance index"},
      {"TKLQT", "queue time"},
      {"SSP", "steady-state power"},
      {"EMA", "moving average"},
      {"confidence interval", "probability"}};
  for (const auto& [term, words] : kTerms) {
    const std::string text = explain(term, 100);
    std::string flat;  // without the line breaks of the layout
    for (const char c : text) {
      const char shown = c == '\n' ? ' ' : c;
      if (shown != ' ' || !flat.ends_with(' ')) flat += shown;
    }
    EXPECT_NE(flat.find(words), std::string::npos) << term << ": " << text;
  }
}

TEST(Explain, OldWordsAnswerWithThePresentWord) {
  for (const OldWord& word : old_words()) {
    for (const std::string_view name : word.names) {
      const std::string text = explain(name, 100);
      const bool is_renamed = text.find(": now " + std::string(word.now)) != std::string::npos;
      // The key of a cause answers with the cause.
      EXPECT_TRUE(is_renamed || findings::find_cause(name) != nullptr) << name << ": " << text;
    }
    if (word.entry.empty()) continue;
    EXPECT_FALSE(explain(word.entry, 100).empty()) << word.entry;
  }
}

TEST(Explain, CausesAndBottlenecksAnswerByKeyNameAndLegend) {
  for (const findings::CauseInfo& cause : findings::all_causes()) {
    for (const std::string_view name : {cause.key, cause.name, cause.legend}) {
      EXPECT_FALSE(explain(name, 80).empty()) << name;
    }
  }
  EXPECT_TRUE(explain("dispatch", 80).starts_with("operator dispatch (dispatch)\n"));
  for (const findings::BottleneckInfo& bottleneck : findings::all_bottlenecks()) {
    EXPECT_FALSE(explain(bottleneck.name, 80).empty()) << bottleneck.name;
  }
}

}  // namespace
}  // namespace assay
