#include "answers/throughput/throughput.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers/report.h"
#include "answers/throughput/report.h"
#include "report/writers/writers.h"
#include "unit/answers/small_traces.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::in_repository;
using testing::keys_of;
using testing::one_kernel_trace;
using testing::traces_at;

BenchRequest example_table() {
  BenchRequest bench;
  bench.tables = {in_repository("examples/h100_vllm_throughput.csv")};
  return bench;
}

TEST(AnswerThroughput, TablesAreDistinguishedFromTraces) {
  const Folder folder("kinds");
  const std::string trace = folder.add("a.json", one_kernel_trace(100));
  const std::string table = example_table().tables.front();
  EXPECT_TRUE(is_throughput_file(table));
  EXPECT_FALSE(is_throughput_file(trace));
  EXPECT_FALSE(is_throughput_file("-"));
  const ReportInputs sorted = sort_report_inputs({table, trace, folder.scratch.path});
  EXPECT_THAT(sorted.tables, ElementsAre(table));
  EXPECT_THAT(sorted.traces, ElementsAre(trace, folder.scratch.path));
}

TEST(AnswerThroughput, AFittedModelAnswersLikeItsTable) {
  const Folder folder("model");
  const auto fit = answer_fit({.bench = example_table()});
  ASSERT_TRUE(fit) << fit.error().describe();
  PredictRequest request;
  request.bench = example_table();
  request.points.at = {"n=1,model=mistralai/Mistral-7B-v0.1,bb=48,ii=512,oo=512"};
  const auto of_table = answer_prediction(request);
  ASSERT_TRUE(of_table) << of_table.error().describe();
  request.bench.tables = {folder.add("model.json", fit->model)};
  const auto of_model = answer_prediction(request);
  ASSERT_TRUE(of_model) << of_model.error().describe();
  EXPECT_EQ(of_table->verdict.front(), of_model->verdict.front());
  EXPECT_EQ(keys_of(of_table->sections), keys_of(of_model->sections));
  request.fit.refit = true;
  const auto refit = answer_prediction(request);
  ASSERT_FALSE(refit);
  EXPECT_EQ(refit.error().file, request.bench.tables.front());
}

TEST(AnswerThroughput, APredictionNeedsPoints) {
  const auto answer = answer_prediction({.bench = example_table()});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("what to predict?"));
}

TEST(AnswerThroughput, PointsOutsideAreRefusedWhereThatIsAsked) {
  PredictRequest request;
  request.bench = example_table();
  request.points.at = {"n=1,model=mistralai/Mistral-7B-v0.1,bb=1000000,ii=512,oo=512"};
  EXPECT_TRUE(answer_prediction(request));
  request.inside_only = true;
  const auto refused = answer_prediction(request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("1 of 1 points is outside"));
}

TEST(AnswerThroughput, ASearchReportsItsStepsAndStopsOnRequest) {
  FitRequest fit;
  fit.refit = true;
  std::vector<std::string> steps;
  bool held = false;
  Listener listener;
  listener.step = [&](const std::string& text) { steps.push_back(text); };
  listener.stoppable = [&held] {
    held = true;
    return std::shared_ptr<void>();
  };
  listener.stopped = [] { return true; };
  const auto model = fit_table(example_table(), fit, listener);
  ASSERT_TRUE(model) << model.error().describe();
  EXPECT_TRUE(held);
  ASSERT_GE(steps.size(), 2u);
  EXPECT_THAT(steps.front(), HasSubstr("parameters, step"));
  EXPECT_EQ(steps.back(), "");
  ASSERT_EQ(model->notes.size(), 1u);
  EXPECT_THAT(model->notes.front(), HasSubstr("interrupted"));
}

// A user's section is shown with what it lacks: nothing that predicts can use it.
TEST(AnswerThroughput, SpecsOfAModelWithoutLayersAreIncomplete) {
  FactsRequest request;
  request.facts = in_repository("tests/data/formats/facts.ini");
  for (const auto& names : {std::vector<std::string>{}, std::vector<std::string>{"my-7b"}}) {
    request.names = names;
    const auto told = answer_facts(request);
    ASSERT_TRUE(told) << told.error().describe();
    EXPECT_THAT(write_json(*told), HasSubstr("my-org/my-7b"));
    EXPECT_THAT(told->verdict,
                ::testing::Contains(
                    HasSubstr("[model my-org/my-7b] lacks layers, kv_heads, head_dim, hidden")));
  }
}

TEST(AnswerThroughput, FactsThatNothingUsesAreCountedByName) {
  const Folder folder("facts");
  EvaluateRequest request;
  request.bench = example_table();
  request.methods = {"linear"};
  request.splits = {"S2"};
  const auto unused = [&request](const std::string& path) -> std::string {
    request.bench.facts = path;
    const auto answer = answer_evaluation(request);
    if (!answer) return answer.error().describe();
    for (const ImportNote& note : answer->import_log) {
      if (note.code == "facts_unused") return note.meaning;
    }
    return "";
  };
  EXPECT_THAT(unused(in_repository("tests/data/formats/facts.ini")), HasSubstr("lacks layers"));
  EXPECT_THAT(unused(folder.add("none.ini", "# nothing\n")), HasSubstr("has no section"));
  EXPECT_THAT(unused(folder.add("other.ini",
                                "[hardware Other]\ntflops = 100\nbandwidth_tb_s = 1\n"
                                "memory_gb = 80\nlink_gb_s = 100\n")),
              HasSubstr("[hardware Other] is of nothing"));
  EXPECT_EQ(unused(folder.add("used.ini", "[hardware H100 SXM]\nlink_gb_s = 450\n")), "");
  EXPECT_EQ(unused(""), "");
}

TEST(AnswerThroughput, SpecsOfWhichNothingIsShownAreCounted) {
  const Folder folder("facts_shown");
  FactsRequest request;
  const auto unused = [&request](const std::string& path) -> std::string {
    request.facts = path;
    const auto answer = answer_facts(request);
    if (!answer) return answer.error().describe();
    return answer->import_log.empty() ? "" : answer->import_log.front().meaning;
  };
  const std::string none = folder.add("none.ini", "# nothing\n");
  const std::string own = in_repository("tests/data/formats/facts.ini");
  EXPECT_THAT(unused(none), HasSubstr("has no section"));
  EXPECT_EQ(unused(own), "");
  request.names = {"H100 SXM"};
  EXPECT_THAT(unused(none), HasSubstr("has no section"));
  EXPECT_THAT(unused(own), HasSubstr("[model my-org/my-7b] is of nothing"));
  request.names = {"my-7b"};
  EXPECT_EQ(unused(own), "");
}

TEST(AnswerThroughput, UnknownMethodsAndSplitsAreErrors) {
  EvaluateRequest request;
  request.bench = example_table();
  request.methods = {"nix"};
  EXPECT_FALSE(answer_evaluation(request));
  request.methods = {"linear"};
  request.splits = {"nix"};
  EXPECT_FALSE(answer_evaluation(request));
  request.splits = {"S2"};
  EXPECT_TRUE(answer_evaluation(request));
}

TEST(AnswerThroughput, ReportPutsATableAfterATrace) {
  const Folder folder("both");
  ReportRequest request{.traces = traces_at({example_table().tables.front(),
                                             folder.add("a.json", one_kernel_trace(100))})};
  const auto answer = answer_report(request);
  ASSERT_TRUE(answer) << answer.error().describe();
  ASSERT_EQ(answer->document.inputs.size(), 2u);
  EXPECT_EQ(answer->document.inputs[1].name, example_table().tables.front());
  bool told = false;
  for (const std::string& text : answer->document.verdict)
    told |= text.rfind("Throughput: ", 0) == 0;
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace assay
