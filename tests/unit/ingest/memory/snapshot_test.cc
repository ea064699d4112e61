// Memory snapshots out of pickles, as little as PyTorch has ever written, and hostile ones.

#include "ingest/memory/snapshot.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

using namespace std::string_literals;

std::string text(const std::string& words) {
  return "\x8C"s + static_cast<char>(words.size()) + words;
}
std::string entry(const std::string& key, const std::string& value) { return text(key) + value; }
std::string number(int value) { return "K"s + static_cast<char>(value); }
std::string dict(const std::string& entries) { return "}(" + entries + "u"; }
std::string list(const std::string& values) { return "](" + values + "e"; }
std::string pickle(const std::string& value) { return "\x80\x04"s + value + "."; }

std::string segment(const std::string& blocks) {
  return dict(entry("device", number(0)) + entry("address", number(50)) +
              entry("total_size", number(100)) + entry("blocks", list(blocks)));
}

TEST(MemorySnapshotFile, BlocksWithoutAddressesFollowEachOther) {
  const std::string block =
      dict(entry("size", number(30)) + entry("state", text("active_allocated")));
  const std::string bytes = pickle(dict(entry("segments", list(segment(block + block)))));
  const auto snapshot = parse_memory_snapshot(bytes);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  ASSERT_EQ(snapshot->segments.size(), 1u);
  ASSERT_EQ(snapshot->segments[0].blocks.size(), 2u);
  EXPECT_EQ(snapshot->segments[0].blocks[1].address, 80u);
  EXPECT_EQ(snapshot->segments[0].blocks[1].requested, 30);
  EXPECT_EQ(snapshot->segments[0].allocated, -1);
  EXPECT_TRUE(snapshot->traces.empty());
}

TEST(MemorySnapshotFile, CallSiteIsTheInnermostOutsideOfTorch) {
  const auto frame = [](const std::string& file, const std::string& name) {
    return dict(entry("filename", text(file)) + entry("line", number(3)) +
                entry("name", text(name)));
  };
  const std::string frames = list(frame("malloc.cpp", "m") + frame("/x/torch/nn.py", "n") +
                                  frame("/y/train.py", "step") + frame("/y/main.py", "main"));
  const std::string block = dict(entry("size", number(1)) + entry("frames", frames));
  const std::string bytes = pickle(dict(entry("segments", list(segment(block)))));
  const auto snapshot = parse_memory_snapshot(bytes);
  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->sites.size(), 2u);
  EXPECT_EQ(snapshot->sites[snapshot->segments[0].blocks[0].site], "train.py:3 step");
}

TEST(MemorySnapshotFile, RefusesWhatIsNone) {
  const auto refused = [](const std::string& value) {
    return !parse_memory_snapshot(pickle(value)).has_value();
  };
  EXPECT_TRUE(refused("N"));
  EXPECT_TRUE(refused(dict(entry("device_traces", list("")))));
  EXPECT_TRUE(refused(dict(entry("segments", number(1)))));
  EXPECT_TRUE(refused(dict(entry("segments", list("N")))));
  // A size below nothing, and sizes that add up to more than fits.
  const auto sized = [](const std::string& size) {
    return dict(entry("segments", list(segment(dict(entry("size", size))))));
  };
  EXPECT_TRUE(refused(sized("J\xFF\xFF\xFF\xFF"s)));
  EXPECT_TRUE(refused(sized("\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"s)));
}

// A kilobyte that names one list of blocks in each of many segments.
TEST(MemorySnapshotFile, RefusesListsThatAreSharedTooOften) {
  std::string blocks;
  for (int i = 0; i < 200; ++i)
    blocks += i == 0 ? dict(entry("size", number(1))) + "\x94" : "h\x00"s;
  std::string segments = segment(blocks) + "\x94";
  for (int i = 0; i < 200; ++i) segments += "h\x01"s;
  const auto snapshot = parse_memory_snapshot(pickle(dict(entry("segments", list(segments)))));
  ASSERT_FALSE(snapshot);
  EXPECT_NE(snapshot.error().message.find("shared"), std::string::npos);
}

}  // namespace
}  // namespace assay
