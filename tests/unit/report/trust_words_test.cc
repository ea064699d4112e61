#include <gtest/gtest.h>

#include "report/run/section.h"

namespace assay {
namespace {

std::vector<std::string> words_of(const TrustNotes& notes) {
  const Section section = trust_section(notes);
  for (const Block& block : section.blocks) {
    if (const Prose* prose = std::get_if<Prose>(&block)) return prose->paragraphs;
  }
  return {};
}

TEST(TrustWords, TheEffectStandsFirstAndKeysHaveTheirTitles) {
  const auto words = words_of({{"unlinked_kernels", 1200, 2'500'000, "tklqt_ns,all numbers",
                                "kernels without a launch are left out"}});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0],
            "Kernels without a launch are left out (unlinked kernels: 1,200, 2.50 ms at stake; "
            "affects TKLQT; all numbers)");
}

TEST(TrustWords, SymbolsKeepTheirCase) {
  const auto words = words_of({{"shared", 1, 0, "", "t_l is taken once"}});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0], "t_l is taken once (shared: 1)");
}

TEST(TrustWords, PathsKeepTheirCase) {
  const auto words = words_of({{"shared", 1, 0, "", "runs/gpt2.json.gz: calls are taken once"},
                               {"shared", 1, 0, "", "gpt2.json: calls are taken once"}});
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], "runs/gpt2.json.gz: calls are taken once (shared: 1)");
  EXPECT_EQ(words[1], "gpt2.json: calls are taken once (shared: 1)");
}

}  // namespace
}  // namespace assay
