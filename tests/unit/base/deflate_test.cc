// What gzip() packs, the reader of gzip files unpacks.

#include "base/deflate.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/bytes.h"

namespace assay {
namespace {

using testing::bytes_of;
using testing::read_all;

std::string unpacked(const std::string& packed) {
  auto text = read_all(gunzip(bytes_of(packed)));
  EXPECT_TRUE(text) << (text ? "" : text.error().message);
  return text ? *text : std::string();
}

TEST(Deflate, GivesBackWhatWentIn) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(1, '\0'), std::string(5'000'000, 'x')}) {
    EXPECT_EQ(unpacked(gzip(text)) == text, true) << text.size();
  }
}

TEST(Deflate, PacksWhatRepeatsAndSurvivesWhatDoesNot) {
  std::mt19937_64 random(7);
  std::string noise;
  std::string names;
  for (int i = 0; i < 500'000; ++i) noise += static_cast<char>(random() & 0xFF);
  for (int i = 0; i < 50'000; ++i) names += "at::native::kernel_" + std::to_string(i % 97) + "\n";
  const std::string packed = gzip(names);
  EXPECT_LT(packed.size(), names.size() / 10);
  EXPECT_TRUE(unpacked(packed) == names);
  const std::string packed_noise = gzip(noise);
  EXPECT_LT(packed_noise.size(), noise.size() + noise.size() / 100);
  EXPECT_TRUE(unpacked(packed_noise) == noise);
}

TEST(Deflate, PiecesOfAnySizeAreOneMember) {
  std::mt19937_64 random(11);
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "kernel_" + std::to_string(random() % 300) + "\n";
  for (const size_t piece : {size_t{1000}, size_t{65'536}, size_t{300'001}}) {
    GzipStream stream;
    std::string packed;
    for (size_t at = 0; at < text.size(); at += piece) {
      stream.write(std::string_view(text).substr(at, piece), packed);
      stream.write("", packed);
    }
    stream.finish(packed);
    EXPECT_TRUE(unpacked(packed) == text) << piece;
    EXPECT_LT(packed.size(), text.size() / 3) << "pieces share what was seen before them";
  }
}

TEST(Deflate, SameBytesEveryTime) {
  const std::string text = "no name, no time in the header";
  EXPECT_EQ(gzip(text), gzip(text));
}

}  // namespace
}  // namespace assay
