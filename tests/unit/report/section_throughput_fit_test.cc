#include "report/throughput/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/throughput/evaluate.h"
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

TEST(BenchOddities, DroppedRowsAreDataLossAndCopiesAreNot) {
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

TEST(BenchOddities, CaveatsNameEffectsOnNumbers) {
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

// 10 rows of the file: 4 used, 2 + 1 dropped by the reader and by cleaning, 3 merged with repeats.
TEST(BenchOddities, RowsOfTheFileAreUsedDroppedOrMerged) {
  BenchTable table;
  table.oddities = {{"gone", 2, 2, 7, "dropped", OddityWeight::kLoss}};
  ThroughputData data;
  data.rows.resize(4);
  data.infeasible.resize(4);
  data.oddities = {{"copies", 1, 1, 5, "a copy", OddityWeight::kNote},
                   {"repeats_averaged", 5, 0, 0, "mean", OddityWeight::kNote, 3},
                   {"feasibility_unchecked", 2, 0, 0, "no facts", OddityWeight::kNote}};
  const std::vector<Block> blocks = bench_table_blocks(table, data);
  const Facts& facts = std::get<Facts>(blocks[0]);
  const auto item = [&facts](const char* key) {
    return *std::find_if(facts.items.begin(), facts.items.end(),
                         [key](const Item& one) { return one.key == key; });
  };
  EXPECT_EQ(item("file_rows").value, Value(10));
  EXPECT_EQ(item("rows").note, "of 10 in the file; 3 dropped; 3 merged with repeats");
  EXPECT_THAT(item("infeasible").note, HasSubstr("2 rows could not be checked"));
  const Table& odd = std::get<Table>(blocks[2]);
  const auto line = [&odd](size_t row) {
    for (size_t i = 0; i < odd.columns.size(); ++i) {
      if (odd.columns[i].key == "first_line") return odd.rows[row][i];
    }
    return Value(-1);
  };
  EXPECT_EQ(line(0), Value(7));
  EXPECT_EQ(line(2), Value()) << "a line that nobody knows is no line 0";
}

TEST(ThroughputEvaluationWords, TheHeadlineNamesItsMethod) {
  BenchTable table;
  ThroughputData data;
  ThroughputEvaluation evaluation{table, data, {}, {}, {}, false, {}};
  ErrorSummary summary;
  summary.rows = summary.answered = 30;
  summary.median_ape = 0.1;
  summary.p90_ape = 0.2;
  evaluation.errors.push_back({"S3", "larger batch", "assay", summary, {}});
  EXPECT_THAT(throughput_evaluation_words(evaluation)[0], HasSubstr("larger batch (S3): half of"));
  evaluation.errors.push_back({"S3", "larger batch", "ala", summary, {}});
  EXPECT_THAT(throughput_evaluation_words(evaluation)[0],
              HasSubstr("larger batch (S3, assay): half of"));
}

}  // namespace
}  // namespace assay
