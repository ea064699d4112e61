// Cleaned kernel names are fixed points: over every event name of the real traces, those in the
// repository and those of the corpus (ASSAY_DATA, else ../shared/data), and over names made of the
// parts that make cleaning hard.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "base/byte_source.h"
#include "kernels/name.h"

namespace assay {
namespace {

std::string read_all(const std::string& path) {
  auto source = ByteSource::open(path);
  if (!source) return {};
  const ReadFn read = source->stream(false);
  std::string text;
  std::vector<char> buffer(1 << 20);
  while (true) {
    auto count = read(buffer.data(), buffer.size());
    if (!count || *count == 0) return text;
    text.append(buffer.data(), *count);
  }
}

// The strings behind every "name": key, escapes left as they are.
void add_names(const std::string& text, std::set<std::string>& names) {
  constexpr std::string_view kKey = "\"name\":";
  for (size_t at = text.find(kKey); at != std::string::npos; at = text.find(kKey, at)) {
    at = text.find_first_not_of(' ', at + kKey.size());
    if (at == std::string::npos || text[at] != '"') continue;
    const size_t begin = ++at;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    if (at > text.size()) return;
    names.insert(text.substr(begin, at - begin));
  }
}

void expect_fixed_point(const std::string& name) {
  const std::string once = clean_kernel_name(name);
  ASSERT_EQ(clean_kernel_name(once), once) << name;
  ASSERT_EQ(once.empty(), name.empty()) << name;
  ASSERT_EQ(once.find_first_of(" <>(){}[]:"), std::string::npos) << name;
}

TEST(CleanNameProperty, RealNamesAreFixedPoints) {
  const std::filesystem::path top = ASSAY_SOURCE_DIR;
  const char* data = std::getenv("ASSAY_DATA");
  std::set<std::string> names;
  for (const std::filesystem::path& folder :
       {top / "tests/data/kineto",
        (data != nullptr ? std::filesystem::path(data) : top / "../shared/data") / "kineto"}) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, missing)) {
      if (entry.is_regular_file()) add_names(read_all(entry.path().string()), names);
    }
  }
  EXPECT_GT(names.size(), 500u);
  for (const std::string& name : names) expect_fixed_point(name);
}

TEST(CleanNameProperty, SyntheticNamesAreFixedPoints) {
  constexpr std::array<std::string_view, 30> kParts = {"void ",
                                                       "at::",
                                                       "(anonymous namespace)::",
                                                       "<unnamed>::",
                                                       "{lambda()#1}",
                                                       "operator()",
                                                       "<",
                                                       ">",
                                                       "(",
                                                       ")",
                                                       "::",
                                                       "Kernel",
                                                       "run",
                                                       "launch",
                                                       "cutlass",
                                                       "flash_fwd",
                                                       "flash",
                                                       "sm90",
                                                       "Sm_90",
                                                       "gfx942",
                                                       "gemm",
                                                       "cudnn",
                                                       "_",
                                                       "__",
                                                       " ",
                                                       "-",
                                                       "[clone .kd]",
                                                       "attention",
                                                       "3",
                                                       "operator<"};
  std::mt19937_64 rng(90210);
  for (int round = 0; round < 50'000; ++round) {
    std::string name;
    for (size_t part = rng() % 9; part > 0; --part) name += kParts[rng() % kParts.size()];
    expect_fixed_point(name);
  }
}

}  // namespace
}  // namespace assay
