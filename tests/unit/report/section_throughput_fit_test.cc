#include "report/section_throughput_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/section_throughput_evaluate.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<BenchOddity> kOddities = {
    {"noted", 3, 0, 2, "kept", OddityWeight::kNote},
    {"copies", 4, 4, 5, "a copy", OddityWeight::kNote},
    {"gone", 2, 2, 7, "dropped", OddityWeight::kLoss},
    {"doubtful", 1, 0, 9, "kept, but in doubt", OddityWeight::kWarning},
    {"mixed", 6, 5, 0, "five of six dropped", OddityWeight::kWarning},
    {"infeasible", 8, 0, 0, "too fast", OddityWeight::kNote}};

TEST(BenchOddities, WarningsAreSentencesOfTheirOwn) {
  EXPECT_THAT(bench_warning_words(kOddities),
              ElementsAre("Warning, doubtful (1 row): kept, but in doubt.",
                          "Warning, mixed (6 rows): five of six dropped."));
  EXPECT_THAT(bench_warning_words({}), IsEmpty());
}

TEST(BenchOddities, WhatLosesRowsIsDataLossAndCopiesAreNot) {
  BenchTable table;
  table.oddities = kOddities;
  const std::vector<ImportNote> notes = bench_import_notes(table, {});
  ASSERT_EQ(notes.size(), 6U);
  std::vector<std::string> lost;
  for (const ImportNote& note : notes) {
    if (note.severity == "data_loss") lost.push_back(note.code);
  }
  EXPECT_THAT(lost, ElementsAre("gone", "mixed"));
  EXPECT_EQ(notes[2].meaning, "dropped (first: line 7)");
  EXPECT_EQ(notes[4].meaning, "five of six dropped");
  EXPECT_EQ(notes[1].count, 4U);
}

TEST(BenchOddities, TrustTellsWhatMayMoveNumbers) {
  const TrustNotes trust = bench_trust(kOddities);
  const auto is = [](const char* what, uint64_t count, const char* affects) {
    return AllOf(Field(&TrustNote::what, what), Field(&TrustNote::count, count),
                 Field(&TrustNote::affects, affects));
  };
  EXPECT_THAT(trust, ElementsAre(is("copies", 4, "rows"), is("gone", 2, "rows"),
                                 is("doubtful", 1, "tokens_per_s,low90,high90"),
                                 is("mixed", 6, "tokens_per_s,low90,high90"),
                                 is("infeasible", 8, "splits,fits")));
}

}  // namespace
}  // namespace assay
