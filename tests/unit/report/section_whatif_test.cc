// What `assay whatif` and `assay why` tell a reader: sentences, keys, refusals.

#include "report/flow/whatif.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/writers/writers.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

// Twelve iterations of 100 us: the host works 60 us on a frame, launches a kernel of 30 us and
// waits for it.
struct Sample {
  Sample() : trace(make()), links(link_trace(trace)), model(make_flow_model(trace, links)) {
    iterations.source = WindowSource::kProfilerStep;
    for (int64_t i = 0; i < 12; ++i) {
      iterations.windows.push_back({"step", 100'000 * i, 100'000 * (i + 1)});
    }
    report = make_flow_report(model, {});
  }
  static Trace make() {
    TraceMaker maker;
    for (int64_t i = 0; i < 12; ++i) {
      const int64_t t = 100'000 * i;
      const auto id = static_cast<uint32_t>(2 * i + 1);
      maker.call(1, "cudaLaunchKernel", t, 4'000, id);
      maker.call(1, "cudaDeviceSynchronize", t + 4'000, 36'000, id + 1);
      maker.frame(1, "train.py(3): step", t + 40'000, 60'000);
      maker.kernel(0, 7, "gemm", t + 6'000, 30'000, id);
    }
    return maker.build();
  }
  WhatIf explore(const std::vector<std::string>& texts) const {
    WhatIfOptions options;
    for (const std::string& text : texts) options.edits.push_back(*parse_edit(text));
    return explore_edits(model, iterations, report, options);
  }
  std::vector<std::string> words(const WhatIf& found, bool asked = true) const {
    return whatif_words({trace, report, found, asked});
  }

  Trace trace;
  Links links;
  FlowModel model;
  Windows iterations;
  FlowReport report;
};

TEST(WhatIfWords, SayBeforeAfterAndTheInterval) {
  const Sample sample;
  const auto words = sample.words(sample.explore({"frame:*step=0.5"}));
  EXPECT_EQ(words.at(0),
            "With Python *step taking 50.0 % of their time an iteration takes 70.0 µs instead of "
            "100 µs: 30.0 µs (30.0 %) less, 30.0 µs to 30.0 µs over 11 iterations.");
  EXPECT_EQ(words.at(1).substr(0, 23), "The bottleneck is then ");
}

TEST(WhatIfWords, SayAtMostWhereSomethingIsRemoved) {
  const Sample sample;
  const auto words = sample.words(sample.explore({"frame:*step"}));
  EXPECT_NE(words.at(0).find(": at most 60.0 µs (60.0 %) less"), std::string::npos) << words[0];
}

TEST(WhatIfWords, NameWhatIsRefused) {
  const Sample sample;
  const auto words = sample.words(sample.explore({"input", "frame:*step"}));
  EXPECT_EQ(words.back(), "Not simulated: input, since nothing in this run is of that kind or name.");
}

TEST(WhatIfWords, AnEditThatMatchesNothingHasNoGain) {
  const Sample sample;
  EXPECT_EQ(sample.words(sample.explore({"kernel:*nosuch*=0.8"})).at(0),
            "These changes match nothing in this run.");
}

TEST(WhatIfWords, AnEditThatIsRefusedDoesNotGiveNothing) {
  const Sample sample;
  EXPECT_EQ(sample.words(sample.explore({"skew"})).at(0),
            "None of these changes can be simulated.");
  EXPECT_EQ(sample.words(sample.explore({"input"})).at(0), "These changes match nothing in this run.");
  EXPECT_EQ(sample.words(sample.explore({"skew", "input"})).at(0).substr(0, 62),
            "The changes that can be simulated save nothing in this run: Py");
}

TEST(WhatIfWords, SayBetweenWhatAGainLies) {
  const Sample sample;
  const WhatIf found = sample.explore({"frame:*step=0.5"});
  Gain gain = found.levers[0].alone;
  const std::string steps = "in an iteration 30.0 µs to 30.0 µs over 11 iterations";
  EXPECT_EQ(between_words(gain, found), steps);
  gain.run_low_ns -= 20'000;  // of a run of 1.14 ms
  EXPECT_EQ(between_words(gain, found),
            steps +
                "; of the run 310 µs to 330 µs, because the run shows little of how soon work "
                "follows work and calls return");
  gain = found.levers[0].alone;
  gain.run_ns *= 3;  // the usual iteration has little of it
  EXPECT_EQ(between_words(gain, found), "most of it in few of 11 iterations");
  gain.before.n = 1;
  EXPECT_EQ(between_words(gain, found), "one iteration, no repeats");
  gain.before.n = 0;
  EXPECT_EQ(between_words(gain, found), "one run, no repeats");
}

TEST(WhatIfWords, RefuseARunThatTheModelDoesNotExplain) {
  Sample sample;
  sample.report.fit.model_error = -0.33;
  const WhatIf found = sample.explore({"frame:*step"});
  EXPECT_EQ(found.levers[0].edit.refusal, EditRefusal::kModelError);
  EXPECT_EQ(sample.words(found).at(0),
            "No replay is reported: the model alone misses the run by 33.0 %; record from an "
            "earlier start, with all processes and the rows of waits.");
  sample.report.fit.model_error = 0;
  sample.report.evidence.linked_ns = sample.report.evidence.work_ns / 2;
  EXPECT_EQ(sample.explore({"frame:*step"}).refusal, EditRefusal::kUnlinked);
}

TEST(WhatIfSection, HasItsKeys) {
  const Sample sample;
  const WhatIf found = sample.explore({"frame:*step", "comm"});
  Document document;
  document.sections = {whatif_section({sample.trace, sample.report, found, true})};
  const std::string json = write_json(document);
  for (const char* part :
       {"\"identity\": {", "\"recorded_ns\": 1136000", "\"replayed_ns\": 1136000",
        "\"replay_mismatches\": 0", "\"per\": \"iteration\"", "\"name\": \"frame:*step\"",
        "\"kind\": \"up to\"", "\"before_ns\": 100000", "\"after_ns\": 40000", "\"gain_ns\": 60000",
        "\"refused\": \"nothing\""}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
}

TEST(WhySection, SumsToTheRun) {
  const Sample sample;
  const auto slices = path_slices(sample.model.run, sample.model.graph, sample.report.path);
  const PathAnswer answer{sample.trace, sample.report, path_parts(slices),
                          path_ops(sample.model.run, slices)};
  int64_t sum = 0;
  for (const PathPart& part : answer.parts) sum += part.ns;
  EXPECT_EQ(sum, sample.report.path.makespan_ns);
  EXPECT_NE(path_words(answer).at(0).find("train.py(3): step"), std::string::npos);
}

// The path goes through what the recorder left out, which nobody may take for time of the host.
TEST(WhySection, ReportsTheUnrecordedPartOfThePath) {
  Sample sample;
  const auto slices = path_slices(sample.model.run, sample.model.graph, sample.report.path);
  const std::vector<PathPart> parts = path_parts(slices);
  const std::vector<PathOp> ops = path_ops(sample.model.run, slices);
  const auto words = [&] {
    return path_words(PathAnswer{sample.trace, sample.report, parts, ops}).at(0);
  };
  EXPECT_EQ(words().find("not recorded"), std::string::npos);
  sample.report.unrecorded = {{100'000, 400'000}, {500'000, 600'000}};
  EXPECT_TRUE(words().ends_with("; 400 µs between 3 windows are left out.")) << words();
}

}  // namespace
}  // namespace assay
