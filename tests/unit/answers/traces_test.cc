#include "answers/inputs/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers/launch.h"
#include "unit/answers/small_traces.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::one_kernel_trace;
using ::testing::StartsWith;
using testing::traces_at;

TEST(AnswerInputs, ErrorOfTheSecondInputNamesIt) {
  const Folder folder("second");
  const std::string good = folder.add("a.json", one_kernel_trace(100));
  const std::string whole = one_kernel_trace(100);
  const std::string cut = folder.add("b.json", whole.substr(0, whole.size() / 2));
  const auto answer = answer_info(traces_at({good, cut}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().file, cut);
}

TEST(AnswerInputs, ATruncatedFileIsReadIfAllowedAndTheLossReported) {
  const Folder folder("cut");
  const std::string whole = one_kernel_trace(100);
  TraceRequest request = traces_at(
      {folder.add("a.json", whole.substr(0, whole.find(R"({"ph": "X", "cat": "kernel)")))});
  request.allow_truncated = true;
  const auto answer = answer_info(request);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_TRUE(answer->data_lost);
  EXPECT_TRUE(has_losses(answer->document.import_log));
}

TEST(AnswerInputs, OtherFilesInAFolderAreLeftOutAndReported) {
  const Folder folder("mixed");
  folder.add("a.json", one_kernel_trace(100));
  folder.add("results.json", R"({"accuracy": 0.5})");
  std::vector<std::string> notes;
  TraceRequest request = traces_at({folder.scratch.path});
  request.listener.note = [&notes](const std::string& note) { notes.push_back(note); };
  const auto answer = answer_info(request);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->document.inputs.size(), 1u);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("results.json")));
  EXPECT_THAT(notes.front(), StartsWith("skipped "));
}

TEST(AnswerInputs, ANamedFileThatIsNotATraceIsAnError) {
  const Folder folder("named");
  const std::string results = folder.add("results.json", R"({"accuracy": 0.5})");
  const auto answer = answer_info(traces_at({folder.add("a.json", one_kernel_trace(9)), results}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotATrace);
  EXPECT_EQ(answer.error().file, results);
}

TEST(AnswerInputs, RefusedFilesAreNotRead) {
  const Folder folder("refused");
  const std::string path = folder.add("a.json", one_kernel_trace(100));
  int read = 0;
  std::vector<std::string> asked;
  TraceRequest request = traces_at({path});
  request.listener.reading = [&read](const std::string&, const ReadProgress&) {
    ++read;
    return std::shared_ptr<void>();
  };
  request.accept = [&asked](const std::vector<std::string>& files) -> Status {
    asked = files;
    return Error{ErrorCode::kInvalidArgument, "not these", "", -1};
  };
  const auto answer = answer_info(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "not these");
  EXPECT_THAT(asked, ElementsAre(path));
  EXPECT_EQ(read, 0);
}

TEST(AnswerInputs, ListenerHearsOfFilesAndPhases) {
  const Folder folder("phases");
  const std::string path = folder.add("a.json", one_kernel_trace(100));
  std::vector<std::string> heard;
  LaunchRequest request{.traces = traces_at({path})};
  request.traces.listener.reading = [&heard](const std::string& file, const ReadProgress&) {
    heard.push_back("begin " + file);
    return std::shared_ptr<void>(&heard, [&heard](void*) { heard.push_back("end"); });
  };
  request.traces.listener.phase = [&heard](const char* phase, double seconds, uint64_t) {
    EXPECT_GE(seconds, 0);
    heard.push_back(phase);
  };
  ASSERT_TRUE(answer_launch(request));
  EXPECT_THAT(heard,
              ElementsAre("begin " + path, "end", "read", "link", "kernels", "windows", "launch"));
}

TEST(AnswerInputs, LabelThatNothingHasIsAnErrorOfThatFile) {
  const Folder folder("label");
  const std::string path = folder.add("a.json", one_kernel_trace(100));
  TraceRequest request = traces_at({path});
  request.window = "decode*";
  const auto answer = answer_info(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().file, path);
}

}  // namespace
}  // namespace assay
