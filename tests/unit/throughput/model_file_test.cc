#include "throughput/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "throughput/dataset.h"
#include "throughput/model_digests.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string a_model() {
  BenchTable table{"table.csv", "csv", {}, {}};
  for (const double batch : {1, 8, 64}) {
    BenchRow row;
    row.hardware = "Nvidia A100 GPU";
    row.framework = "vLLM";
    row.model = "Qwen/Qwen2-7B";
    row.in_len = row.out_len = 128;
    row.batch = batch;
    row.tokens_per_s = 100 * batch;
    table.rows.push_back(row);
  }
  const ThroughputFit fit{
      "table.csv", "csv", *make_throughput_data(table), FactBook::built_in(), {}};
  return write_model(fit, **Predictor::fit(fit.data, fit.facts, fit.options));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// With the checksum that its members have now, as whoever changes them on purpose would write it.
std::string summed_anew(const std::string& text) {
  const ModelText parts = split_digests(text);
  auto head = nlohmann::ordered_json::parse(parts.head);
  head.erase("checksum");
  const std::string members = head.dump();
  const std::string sum = checksum_text(checksum(members.data(), members.size()));
  const size_t at = text.find("\"checksum\":\"") + 12;
  return std::string(text).replace(at, sum.size(), sum);
}

Error refusal(const std::string& text) {
  auto read = read_model(text, "model.json");
  if (!read) return read.error();
  return Error{ErrorCode::kInvalidArgument, "was read", "", -1};
}

TEST(ModelFile, IsReadAsWritten) {
  const auto read = read_model(a_model(), "model.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->source, "table.csv");
  EXPECT_EQ(read->data.rows.size(), 3U);
  EXPECT_TRUE(looks_like_model(a_model()));
}

TEST(ModelFile, VariantsKeepTheirParts) {
  ThroughputFit fit = *read_model(a_model(), "model.json");
  fit.data.rows[0].variant = {"fp8, kv fp8", ParallelLayout{2, 3, 4, 5}, "v0.9.1"};
  fit.data.rows[1].variant = {"int4", {}, ""};
  const auto predictor = *Predictor::fit(fit.data, fit.facts, fit.options);
  const auto read = read_model(write_model(fit, *predictor), "model.json");
  ASSERT_TRUE(read) << read.error().message;
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(read->data.rows[i].variant, fit.data.rows[i].variant) << i;
  EXPECT_EQ(read->data.rows[0].precision.kv_bytes, 1);
  EXPECT_EQ(read->data.rows[2].precision.kv_bytes, 2);
}

TEST(ModelFile, IrregularitiesKeepTheirWeight) {
  ThroughputFit fit = *read_model(a_model(), "model.json");
  fit.data.oddities = {{"a", 3, 0, 0, "one", OddityWeight::kWarning},
                       {"b", 2, 2, 0, "two", OddityWeight::kLoss},
                       {"c", 1, 1, 0, "three", OddityWeight::kNote}};
  const auto predictor = *Predictor::fit(fit.data, fit.facts, fit.options);
  const std::string text = write_model(fit, *predictor);
  const auto read = read_model(text, "model.json");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->data.oddities.size(), 3U);
  EXPECT_EQ(read->data.oddities[0].weight, OddityWeight::kWarning);
  EXPECT_EQ(read->data.oddities[1].weight, OddityWeight::kLoss);
  EXPECT_EQ(read->data.oddities[2].weight, OddityWeight::kNote);
  EXPECT_TRUE(read->data.oddities[1].loses_rows());
  EXPECT_FALSE(read->data.oddities[2].loses_rows());
  // A weight of a later version is told rather than kept back.
  const auto later = read_model(summed_anew(replaced(text, "\"note\"", "\"grave\"")), "model.json");
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->data.oddities[2].weight, OddityWeight::kWarning);
}

// Rules of siblings are those of the file, whatever the rows say of them.
TEST(ModelFile, GpusWithoutRowsArePredictedAsInTheFile) {
  ThroughputFit fit = *read_model(a_model(), "model.json");
  SiblingRules rules;
  rules[0].otherwise = {0.25, 0.5};
  rules[0].of_vendor["Nvidia"] = {0.5, 0};
  rules[0].of_engine["Nvidia|vLLM"] = {0, 0.75};
  rules[0].interval = {0.5, 12, true};
  fit.options.siblings = rules;
  const std::string text = write_model(fit, **Predictor::fit(fit.data, fit.facts, fit.options));
  const auto read = read_model(text, "model.json");
  ASSERT_TRUE(read && read->options.siblings);
  const SiblingRule& rule = (*read->options.siblings)[0];
  EXPECT_EQ(rule.weights("Nvidia", "vLLM").by_physics, 0.75);
  EXPECT_EQ(rule.weights("Nvidia", "another").by_sheet, 0.5);
  EXPECT_EQ(rule.weights("AMD", "vLLM").by_sheet, 0.25);
  EXPECT_EQ(rule.interval.blocks, 12);
  EXPECT_TRUE(rule.interval.measured);
  BenchRow point = fit.data.rows.front();
  point.hardware = "Nvidia H100 GPU";
  const auto model = *Predictor::fit(read->data, read->facts, read->options);
  const Prediction told = model->predict({point}).front();
  EXPECT_NEAR(std::log(told.high90 / told.tokens_per_s), 0.5, 1e-9);
  // A model that is new to the engine, too, is told no more narrowly for the GPU's sake.
  point.model = "meta-llama/Llama-2-7b-hf";
  const Explained both = model->explain({point}).front();
  EXPECT_FALSE(both.measured);
  EXPECT_GE(both.log_half_width(), kNormalScale * both.log_sd);
  EXPECT_GT(both.log_half_width(), 0.6);
  EXPECT_THAT(refusal(replaced(text, "[0.25,0.5]", "[0.75,0.5]")).message,
              HasSubstr("weights of siblings"));
}

TEST(ModelFile, AnotherVersionIsNamedWithBothNumbers) {
  const Error error = refusal(replaced(a_model(), "\"format_version\":10", "\"format_version\":9"));
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("version 10"));
  EXPECT_THAT(error.message, HasSubstr("version 9"));
  EXPECT_EQ(error.file, "model.json");
}

TEST(ModelFile, CutShortAnywhereIsDamage) {
  const std::string text = a_model();
  for (size_t length = 1; length + 1 < text.size(); length += 97) {
    const Error error = refusal(text.substr(0, length));
    EXPECT_EQ(error.code, ErrorCode::kFormat) << length;
    EXPECT_THAT(error.message, HasSubstr("damaged: not whole JSON")) << length;
  }
}

TEST(ModelFile, DamageIsNamed) {
  const std::string text = a_model();
  const auto message = [&](const std::string& what, const std::string& by) {
    return refusal(replaced(text, what, by)).message;
  };
  EXPECT_THAT(message("\"format_version\":10", "\"format_version\":\"one\""),
              HasSubstr("damaged: no version"));
  EXPECT_THAT(message("\"parameters\":", "\"parametres\":"), HasSubstr("'parameters' not found"));
  EXPECT_THAT(message("\"noise\":", "\"noises\":"), HasSubstr("'noise' not found"));
  EXPECT_THAT(message("\"noise\":", "\"noise\":-"), HasSubstr("not above 0"));
  EXPECT_THAT(message("\"scale\":", "\"scale\":-"), HasSubstr("an interval scale"));
  EXPECT_THAT(message("\"fit_weight\":", "\"fit_weight\":2,\"was\":"),
              HasSubstr("an interval scale"));
  EXPECT_THAT(message("\"blended_scale\":", "\"blended_scale\":-"), HasSubstr("an interval scale"));
  EXPECT_THAT(message("\"outside_factor\":", "\"outside_factor\":-"), HasSubstr("outside_factor"));
  EXPECT_THAT(message("\"scale\":", "\"scale\":null,\"was\":"), HasSubstr("an interval scale"));
  EXPECT_THAT(message("\"noise\":", "\"noise\":null,\"was\":"), Not(HasSubstr("json.exception")));
  EXPECT_THAT(message("\"rows\":[[", "\"rows\":[[],["), HasSubstr("damaged"));
  EXPECT_THAT(message("\"rows\":[[\"", "\"rows\":[[7,\""), HasSubstr("damaged"));
  EXPECT_THAT(message("\"physics\":true", "\"physics\":\"yes\""), HasSubstr("damaged"));
  EXPECT_THAT(refusal("{\"format\":\"something else\"}").message, HasSubstr("not a model file"));
  EXPECT_THAT(refusal("[]").message, HasSubstr("damaged"));
}

TEST(ModelFile, ANumberThatIsNotTheOneWrittenIsDamage) {
  const auto message = [](const std::string& what, const std::string& by) {
    return refusal(replaced(a_model(), what, by)).message;
  };
  EXPECT_THAT(message("128.0,128.0,8.0", "128.0,128.0,9.0"), HasSubstr("damaged: its members"));
  EXPECT_THAT(message("\"outside_factor\":4", "\"outside_factor\":5"), HasSubstr("its members"));
  EXPECT_THAT(message("\"checksum\":\"xxh3:", "\"checksum\":\"xxh4:"), HasSubstr("its members"));
  EXPECT_THAT(message("\"checksum\":", "\"chequesum\":"), HasSubstr("'checksum' not found"));
}

TEST(ModelFile, OfAlaHasAChecksumToo) {
  ThroughputFit fit = *read_model(a_model(), "model.json");
  fit.method = "ala";
  const std::string text = write_ala_model(fit);
  ASSERT_TRUE(read_model(text, "model.json"));
  EXPECT_THAT(refusal(replaced(text, "128.0,128.0,8.0", "128.0,128.0,9.0")).message,
              HasSubstr("damaged: its members"));
}

TEST(ModelFile, ARowThatRepeatsIsDamage) {
  // The second row becomes the first: 8 -> 1.
  const Error error = refusal(replaced(a_model(), "128.0,128.0,8.0", "128.0,128.0,1.0"));
  EXPECT_THAT(error.message, HasSubstr("rows that repeat"));
}

ThroughputFit a_fit_with_digests() {
  BenchTable table{"table.csv", "csv", {}, {}};
  for (const char* model : {"Qwen/Qwen2-7B", "meta-llama/Meta-Llama-3-8B"}) {
    for (const double length : {128, 512, 2048}) {
      for (const double batch : {1, 8, 64}) {
        BenchRow row;
        row.hardware = "Nvidia A100 GPU";
        row.framework = "vLLM";
        row.model = model;
        row.in_len = row.out_len = length;
        row.batch = batch;
        row.tokens_per_s = 100 * batch / (1 + batch * length / 60000);
        table.rows.push_back(row);
      }
    }
  }
  ThroughputFit fit{"table.csv", "csv", *make_throughput_data(table), FactBook::built_in(), {}};
  fit.options.digest_from_rows = 0;
  return fit;
}

TEST(ModelFile, DigestsAnswerAsTheFitThatWroteThem) {
  const ThroughputFit fit = a_fit_with_digests();
  const auto predictor = *Predictor::fit(fit.data, fit.facts, fit.options);
  const auto read = read_model(write_model(fit, *predictor), "model.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->options.digests.size(), 2U);
  ASSERT_TRUE(read->options.frameworks);
  EXPECT_EQ(read->options.frameworks->weights.size(), fit.data.rows.size());
  EXPECT_EQ(read->options.frameworks->frameworks.size(), 2U);  // vLLM, and any other
  const auto again = *Predictor::fit(read->data, read->facts, read->options);
  BenchRow inside = fit.data.rows.front();
  inside.in_len = inside.out_len = 300;
  inside.batch = 20;
  BenchRow unequal = inside;  // beyond the digest: the process itself answers
  unequal.in_len = 500;
  BenchRow other = inside;  // a configuration without rows
  other.devices = 2;
  for (const BenchRow& point : {inside, unequal, other}) {
    const Prediction before = predictor->predict({point}).front();
    const Prediction after = again->predict({point}).front();
    EXPECT_NEAR(after.tokens_per_s / before.tokens_per_s, 1, 1e-6);
    EXPECT_NEAR(after.low90 / before.low90, 1, 1e-6);
    EXPECT_NEAR(after.high90 / before.high90, 1, 1e-6);
  }
}

TEST(ModelFile, DigestsOfOtherRowsOrWithNumbersMissingAreDamage) {
  const ThroughputFit fit = a_fit_with_digests();
  const std::string text = write_model(fit, **Predictor::fit(fit.data, fit.facts, fit.options));
  const auto message = [&](const std::string& what, const std::string& by) {
    return refusal(summed_anew(replaced(text, what, by))).message;
  };
  EXPECT_THAT(message("\"vLLM\",\"Qwen/Qwen2-7B\",\"\",null,\"\",128",
                      "\"vLLM\",\"Qwen/Qwen2-7B\",\"\",null,\"\",129"),
              HasSubstr("digests of other rows"));
  EXPECT_THAT(message("\"known\":\"", "\"known\":\"AAAA"), HasSubstr("not as they were written"));
  EXPECT_THAT(message("\"weights\":\"", "\"weights\":\"A"), HasSubstr("not as they were written"));
  EXPECT_THAT(message("\"index\":[[", "\"index\":[[1,true],["), HasSubstr("not as they were"));
  EXPECT_THAT(message("\"sum\":\"", "\"som\":\""), HasSubstr("digests without a checksum"));
}

// Whoever writes a checksum, too, is not believed: the process itself answers.
TEST(ModelFile, DigestsThatDoNotBelongTogetherAreNotUsed) {
  const ThroughputFit fit = a_fit_with_digests();
  const auto predictor = *Predictor::fit(fit.data, fit.facts, fit.options);
  std::vector<ConfigDigest> digests = predictor->digests();
  ASSERT_EQ(digests.size(), 2U);
  digests[0].gp.columns[0] = 99;
  digests[1].gp.mean.pop_back();
  const std::string model = write_model(fit, *predictor);
  const std::string head = split_digests(model).head;
  const auto read = read_model(with_digests(head, digests, std::nullopt), "model.json");
  ASSERT_TRUE(read) << read.error().message;
  const auto again = *Predictor::fit(read->data, read->facts, read->options);
  for (const BenchRow& row : fit.data.rows) {
    const Prediction before = predictor->predict({row}).front();
    const Prediction after = again->predict({row}).front();
    EXPECT_NEAR(after.tokens_per_s / before.tokens_per_s, 1, 1e-9);
    EXPECT_NEAR(after.high90 / before.high90, 1, 1e-9);
  }
  EXPECT_FALSE(read->options.digests[0].read().has_value());
}

// Other programs may write JSON in another way: rows, facts and parameters are the same.
TEST(ModelFile, WrittenAnewByAnotherProgramAnswersWithoutDigests) {
  const ThroughputFit fit = a_fit_with_digests();
  const auto predictor = *Predictor::fit(fit.data, fit.facts, fit.options);
  const std::string text = nlohmann::ordered_json::parse(write_model(fit, *predictor)).dump(1);
  const auto read = read_model(text, "model.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->options.digests.empty());
  const auto again = *Predictor::fit(read->data, read->facts, read->options);
  const Prediction before = predictor->predict({fit.data.rows.front()}).front();
  const Prediction after = again->predict({fit.data.rows.front()}).front();
  EXPECT_NEAR(after.high90 / before.high90, 1, 1e-9);
}

}  // namespace
}  // namespace assay
