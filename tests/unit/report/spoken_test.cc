#include "flow/contributor_names.h"
#include "text/names.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Spoken, PythonsOwnWordsForBuiltInsBecomeWhatOneWrites) {
  EXPECT_EQ(spoken("<built-in method send of _socket.socket object at 0x7f12>"),
            "_socket.socket.send");
  EXPECT_EQ(spoken("<method 'acquire' of '_thread.lock' objects>"), "_thread.lock.acquire");
  EXPECT_EQ(spoken("<built-in function sleep>"), "sleep");
  EXPECT_EQ(spoken("<built-in method cat of type object at 0x7f12>"), "cat");
  EXPECT_EQ(spoken("<built-in method item>"), "item");
  EXPECT_EQ(spoken("aten::item"), "aten::item");
  EXPECT_EQ(spoken("<built-in method "), "<built-in method ");
}

TEST(Spoken, FoldersGoBeforeNames) {
  const std::string name = "torch/distributed/checkpoint/state_dict_saver.py(100): save";
  EXPECT_EQ(fitted(name, 80), name);
  EXPECT_EQ(fitted(name, 48), "…/state_dict_saver.py(100): save");
  EXPECT_EQ(fitted("void (anonymous namespace)::kernel<a/b>(int)", 20).find("…/"),
            std::string::npos);
}

}  // namespace
}  // namespace assay
