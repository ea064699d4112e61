#include <gtest/gtest.h>

#include "records/facts.h"

namespace assay {
namespace {

// Words have a source as numbers do, and those of a later file win.
TEST(Facts, ArchitectureAndFabricAreWords) {
  FactBook book = FactBook::built_in();
  const auto h100 = book.values("hardware", "H100");
  EXPECT_EQ(h100.at("architecture").word, "gh100");
  EXPECT_EQ(h100.at("fabric").word, "nvlink");
  EXPECT_NE(h100.at("fabric").source, "");
  EXPECT_EQ(book.values("architecture", "gh100").at("no_units").word, "fp4");
  ASSERT_TRUE(book.add("[hardware H100]\nfabric = pcie ; our board\n", "my.ini"));
  EXPECT_EQ(book.values("hardware", "H100").at("fabric").word, "pcie");
  EXPECT_EQ(book.values("hardware", "H100").at("fabric").source, "our board");
  EXPECT_FALSE(book.add("[hardware H100]\nfabric = \n", "my.ini"));
}

// Every card with an architecture can be scaled to: docs/formats/facts.md.
TEST(Facts, EveryArchitectureOfACardIsDescribed) {
  const FactBook& book = FactBook::built_in();
  size_t cards = 0;
  for (const std::string& name : book.hardware_names()) {
    const auto values = book.values("hardware", name);
    if (values.count("architecture") == 0) continue;
    ++cards;
    const auto of = book.values("architecture", values.at("architecture").word);
    for (const char* word : {"maker", "segment"}) EXPECT_EQ(of.count(word), 1U) << name;
    EXPECT_EQ(of.count("ramp_us"), 1U) << name;
    EXPECT_EQ(values.count("fabric"), 1U) << name;
  }
  EXPECT_GE(cards, 50U);
}

}  // namespace
}  // namespace assay
