#include "answers/job/summarize.h"

#include <gtest/gtest.h>

#include "unit/answers/small_traces.h"

namespace assay {
namespace {

using testing::one_kernel_trace;
using testing::ScratchFolder;
using testing::write_text;

SummarizeRequest request_for(const ScratchFolder& folder) {
  SummarizeRequest request{.out = folder.file("records")};
  request.traces.inputs = {folder.file("a.json"), folder.file("b.json")};
  return request;
}

TEST(Summarize, ATraceThatGrowsWhileItIsReadIsRefusedAndTheOthersGoOn) {
  const ScratchFolder folder;
  write_text(folder.file("a.json"), one_kernel_trace(10, 0, 2));
  write_text(folder.file("b.json"), one_kernel_trace(20, 1, 2));
  SummarizeRequest request = request_for(folder);
  request.traces.listener.reading = [&](const std::string& path, const ReadProgress&) {
    if (path == folder.file("a.json")) write_text(path, one_kernel_trace(10, 0, 2) + "\n\n");
    return std::shared_ptr<void>();
  };
  const auto done = summarize_traces(request);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->written, 1u);
  ASSERT_EQ(done->unread.size(), 1u);
  EXPECT_EQ(done->unread[0].what, folder.file("a.json"));
  EXPECT_NE(done->unread[0].why.find("changed while it was read"), std::string::npos);

  // Once it is whole, the next run reads it and nothing else.
  request.traces.listener = {};
  request.resume = true;
  const auto again = summarize_traces(request);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->files, 2u);
  EXPECT_EQ(again->kept, 1u);
  EXPECT_EQ(again->written, 1u);
}

}  // namespace
}  // namespace assay
