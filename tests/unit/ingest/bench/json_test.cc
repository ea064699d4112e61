#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "support/bench_file.h"

namespace assay {
namespace {

class BenchJson : public testing::BenchFile {};

// 100 requests of 512 + 128 tokens in 20 s.
constexpr char kVllm[] = R"({"date":"x","backend":"vllm","model_id":"m/M","num_prompts":100,
 "request_rate":"inf","max_concurrency":16,"gpu":"Nvidia H100 GPU","tensor_parallel_size":"2",
 "duration":20.0,"completed":100,"failed":0,
 "total_input_tokens":51200,"total_output_tokens":12800,"request_throughput":5.0,
 "output_throughput":640.0,"total_token_throughput":3200.0,"mean_ttft_ms":50.5,
 "mean_tpot_ms":20.25,"mean_e2el_ms":3100.0})";

TEST_F(BenchJson, ReadsVllmServeWithTheUsersMetadata) {
  const auto table = read(kVllm);
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "vllm");
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "Nvidia H100 GPU");
  EXPECT_EQ(row.devices, 2);
  EXPECT_EQ(row.framework, "vLLM");
  EXPECT_EQ(row.model, "m/M");
  EXPECT_EQ(row.in_len, 512);
  EXPECT_EQ(row.out_len, 128);
  EXPECT_EQ(row.batch, 16);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 3200);
  EXPECT_DOUBLE_EQ(row.output_tokens_per_s, 640);
  EXPECT_DOUBLE_EQ(row.latency_s, 3.1);
  EXPECT_DOUBLE_EQ(row.ttft_ms, 50.5);
  EXPECT_DOUBLE_EQ(row.tpot_ms, 20.25);
  EXPECT_TRUE(table->oddities.empty());
}

// Two loads; the first with requests that ended in errors, whose first token counts as 0 in
// "total".
constexpr char kGuideLlm[] = R"({"benchmarks":[
 {"metrics":{"requests_per_second":{"successful":{"mean":2.0}},
  "request_concurrency":{"successful":{"mean":6.0}},
  "request_latency":{"successful":{"mean":3.0},"total":{"mean":2.5}},
  "prompt_token_count":{"successful":{"mean":1000.2}},
  "output_token_count":{"successful":{"mean":100.0}},
  "time_to_first_token_ms":{"successful":{"mean":500.0},"total":{"mean":400.0}},
  "time_per_output_token_ms":{"successful":{"mean":30.0}},
  "inter_token_latency_ms":{"successful":{"mean":25.25}},
  "output_tokens_per_second":{"successful":{"mean":200.0}}}},
 {"metrics":{"requests_per_second":{"successful":{"mean":0.0}},
  "time_to_first_token_ms":{"successful":{"mean":0.0}},
  "output_tokens_per_second":{"successful":{"mean":0.0}}}}]})";

TEST_F(BenchJson, ReadsGuideLlmsSuccessfulRequests) {
  const auto table = read(kGuideLlm);
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "guidellm");
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.in_len, 1000);
  EXPECT_EQ(row.out_len, 100);
  EXPECT_EQ(row.batch, 6);
  EXPECT_DOUBLE_EQ(row.latency_s, 3);
  EXPECT_DOUBLE_EQ(row.ttft_ms, 500);
  EXPECT_DOUBLE_EQ(row.tpot_ms, 25.25);
  EXPECT_DOUBLE_EQ(row.output_tokens_per_s, 200);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 2200);
  ASSERT_FALSE(table->oddities.empty());
  EXPECT_EQ(table->oddities[0].dropped + table->oddities[1].dropped, 1U);
}

// Google's benchmark library has a list of that name, too.
TEST_F(BenchJson, OtherListsOfBenchmarksAreNotResults) {
  EXPECT_FALSE(read(R"({"context":{},"benchmarks":[{"name":"BM_copy","real_time":1.0}]})"));
}

TEST_F(BenchJson, AppendedResultsAreASequence) {
  const auto table = read(std::string(kVllm) + "\n" + kVllm + "\n");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].line, 1);
  EXPECT_EQ(table->rows[1].line, 7);
}

TEST_F(BenchJson, MetaSaysWhatTheFileDoesNotAndWins) {
  const auto table = read(kVllm, {}, {"hardware=Nvidia A100 GPU,n=4"});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0].hardware, "Nvidia A100 GPU");
  EXPECT_EQ(table->rows[0].devices, 4);
}

TEST_F(BenchJson, AStatedThroughputThatIsNotItsCountsIsFound) {
  std::string text = kVllm;
  text.replace(text.find("3200.0"), 6, "3300.0");
  const auto table = read(text);
  ASSERT_TRUE(table);
  EXPECT_EQ(count(*table, "identity_failed"), 1U);
  EXPECT_DOUBLE_EQ(table->rows[0].tokens_per_s, 3200);
}

TEST_F(BenchJson, LittlesLawReplacesAMissingConcurrency) {
  std::string text = kVllm;
  text.replace(text.find("\"max_concurrency\":16"), 20, "\"max_concurrency\":null");
  const auto table = read(text);
  ASSERT_TRUE(table);
  EXPECT_DOUBLE_EQ(table->rows[0].batch, 15.5);  // 5 requests/s x 3.1 s
  EXPECT_EQ(count(*table, "concurrency_by_littles_law"), 1U);
}

// 600 requests in 300 s at 3.18 s each: 2 x 3.18 = 6.36 ran at a time, whatever the limit.
std::string paced(const std::string& rate, const std::string& limit, const std::string& latency) {
  return R"({"backend": "vllm", "model_id": "m", "num_prompts": 600, "request_rate": )" + rate +
         R"(, "max_concurrency": )" + limit +
         R"(, "duration": 300.0, "completed": 600, "failed": 0, "total_input_tokens": 614400,)"
         R"("total_output_tokens": 153600)" +
         latency + "}";
}
constexpr char kLatency[] = R"(, "mean_e2el_ms": 3180.0)";

TEST_F(BenchJson, ARunLimitedByItsRequestRateHasTheConcurrencyThatItHad) {
  const auto table = read(paced("2.0", "256", kLatency));
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_DOUBLE_EQ(table->rows[0].batch, 6.36);
  EXPECT_EQ(find(*table, "limited_by_request_rate")->weight, OddityWeight::kWarning);
  // At its limit the limit counts.
  const auto full = read(paced("2.0", "6", kLatency));
  EXPECT_EQ(full->rows[0].batch, 6);
  EXPECT_EQ(count(*full, "limited_by_request_rate"), 0U);
  // Who gives the batch size knows it.
  EXPECT_EQ(read(paced("2.0", "256", kLatency), {}, {"bb=7"})->rows[0].batch, 7);
}

TEST_F(BenchJson, ARateWithoutALatencyMakesNoBatchSize) {
  const std::string full = paced("\"inf\"", "4", kLatency);
  const auto table = read(full + "\n" + paced("2.0", "256", ""));
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(find(*table, "request_rate_without_latency")->dropped, 1U);
  // Slower than asked: as many ran as were let in.
  EXPECT_EQ(read(paced("8.0", "256", ""))->rows[0].batch, 256);
  // A trace of arrivals sets the rate, too.
  EXPECT_FALSE(read(paced("\"trace\"", "256", "")));
}

TEST_F(BenchJson, AConcurrencyThatWasNeverReachedIsWarnedOf) {
  const auto table = read(paced("\"inf\"", "256", kLatency));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0].batch, 256);
  EXPECT_EQ(find(*table, "concurrency_not_reached")->weight, OddityWeight::kWarning);
  EXPECT_EQ(count(*read(paced("\"inf\"", "8", kLatency)), "concurrency_not_reached"), 0U);
}

TEST_F(BenchJson, RequestsThatFailedOrNeverRanAreCounted) {
  std::string text = paced("\"inf\"", "8", kLatency);
  text.replace(text.find("\"num_prompts\": 600"), 18, "\"num_prompts\": 601");
  EXPECT_EQ(find(*read(text), "failed_requests")->weight, OddityWeight::kNote);
  text.replace(text.find("\"num_prompts\": 601"), 18, "\"num_prompts\": 700");
  EXPECT_EQ(find(*read(text), "many_requests_failed")->weight, OddityWeight::kWarning);
}

TEST_F(BenchJson, ReadsVllmOfflineModesWithMeta) {
  const auto latency =
      read(R"({"avg_latency": 2.0, "latencies": [2.0, 2.0], "percentiles": {"50": 2.0}})", {},
           {"ii=128,oo=128,bb=16,model=m,hardware=H"});
  ASSERT_TRUE(latency) << latency.error().describe();
  EXPECT_DOUBLE_EQ(latency->rows[0].tokens_per_s, 2048);
  const auto throughput = read(
      R"({"elapsed_time": 10.0, "num_requests": 8, "total_num_tokens": 4000,
          "requests_per_second": 0.8, "tokens_per_second": 400.0})",
      {"ii=250,oo=250,bb=8"});
  ASSERT_TRUE(throughput);
  EXPECT_DOUBLE_EQ(throughput->rows[0].tokens_per_s, 400);
  EXPECT_EQ(count(*throughput, "hardware_unknown"), 1U);
}

std::string with(const std::string& object, const std::string& more) {
  return object.substr(0, object.rfind('}')) + "," + more + "}\n";
}

// A speculative run is no repeat of a plain one, whatever tells it.
TEST_F(BenchJson, SpeculativeRunsAreAVariantOfTheirOwn) {
  const std::string rate = R"("spec_decode_acceptance_rate":70.1)";
  const auto words = [&](const std::string& more) {
    const auto table = read(kVllm + std::string("\n") + with(kVllm, more));
    return table && table->rows.size() == 2 && table->rows[0].variant.words.empty()
               ? table->rows[1].variant.words
               : "unread";
  };
  EXPECT_EQ(words(rate), "speculative");
  EXPECT_EQ(count(*read(with(kVllm, rate)), "speculative_decoding"), 1U);
  EXPECT_EQ(words(R"("spec_decode_acceptance_length":3.1)"), "speculative");
  EXPECT_EQ(words(R"("accept_length":2.8)"), "speculative");
  EXPECT_EQ(words(R"("speculative_algorithm":"EAGLE3")"), "eagle");
  EXPECT_EQ(words(R"("spec_decoding":"mtp")"), "mtp");
  EXPECT_EQ(words(rate + R"(,"spec_method":"ngram")"), "ngram");
  EXPECT_EQ(words(R"("dtype":"fp8","spec_decoding":true)"), "fp8, speculative");
  for (const char* plain : {R"("accept_length":1.0)", R"("accept_length":null)",
                            R"("spec_decoding":"none")", R"("spec_decoding":false)"})
    EXPECT_EQ(words(plain), "") << plain;
}

// Of a client that does not stream the first token comes with the last. A prompt of which 128
// tokens of 20 ms follow, and one of which two do, were streamed.
TEST_F(BenchJson, TheFirstTokenOfAnUnstreamedAnswerIsRefused) {
  const auto table = read(with(kVllm, R"("mean_ttft_ms":3099.0,"mean_tpot_ms":0.01)"));
  ASSERT_TRUE(table) << table.error().describe();
  const BenchRow& row = table->rows.at(0);
  EXPECT_TRUE(std::isnan(row.ttft_ms));
  EXPECT_TRUE(std::isnan(row.tpot_ms));
  EXPECT_DOUBLE_EQ(row.latency_s, 3.1);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 3200);
  ASSERT_EQ(count(*table, "not_streamed"), 1U);
  EXPECT_EQ(find(*table, "not_streamed")->weight, OddityWeight::kWarning);
  const std::string short_answer =
      R"("total_output_tokens":200,"output_throughput":10.0,"total_token_throughput":2570.0,)"
      R"("mean_ttft_ms":3075.0,"mean_tpot_ms":25.0)";
  const auto streamed = read(with(kVllm, short_answer));
  ASSERT_TRUE(streamed);
  EXPECT_EQ(count(*streamed, "not_streamed"), 0U);
  EXPECT_DOUBLE_EQ(streamed->rows.at(0).ttft_ms, 3075);
  const auto without_latency =
      read(with(kVllm, R"("mean_e2el_ms":null,"mean_ttft_ms":3099.0,"mean_tpot_ms":0.0)"));
  ASSERT_TRUE(without_latency);
  EXPECT_TRUE(std::isnan(without_latency->rows.at(0).ttft_ms));
  EXPECT_DOUBLE_EQ(without_latency->rows.at(0).latency_s, 3.099);
}

TEST_F(BenchJson, ReadsSglangLinesWithBareInfinity) {
  const std::string line =
      R"({"tag":null,"backend":"sglang","dataset_name":"random","request_rate":Infinity,)"
      R"("max_concurrency":8,"random_input_len":1024,"random_output_len":256,)"
      R"("random_range_ratio":1.0,"server_info":{"tp_size":4,"model_path":"q/Q"},"duration":10.0,)"
      R"("completed":20,"total_input_tokens":20480,"total_output_tokens":5120,)"
      R"("total_output_tokens_retokenized":5119,"request_throughput":2.0,)"
      R"("input_throughput":2048.0,"output_throughput":512.0,"mean_e2e_latency_ms":4000.0,)"
      R"("mean_ttft_ms":100.0,"mean_tpot_ms":15.0,"concurrency":7.9,"note":"Infinity \" NaN"})";
  const auto table = read(line + "\n" + line + "\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "sglang");
  ASSERT_EQ(table->rows.size(), 2U);
  const BenchRow& row = table->rows[1];
  EXPECT_EQ(row.framework, "SGLang");
  EXPECT_EQ(row.model, "q/Q");
  EXPECT_EQ(row.devices, 4);
  EXPECT_EQ(row.in_len, 1024);
  EXPECT_EQ(row.out_len, 256);
  EXPECT_EQ(row.batch, 8);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 2560);
  EXPECT_EQ(row.line, 2);
  EXPECT_EQ(count(*table, "bare_infinity"), 1U);
}

TEST_F(BenchJson, BlocksHaveRatesCancelledRunsAndErrors) {
  // 2 requests per second x 4 s.
  const std::string blocks = R"("request_throughput":{"unit":"requests/sec","avg":2.0},)"
                             R"("request_latency":{"unit":"ms","avg":4000.0},)"
                             R"("output_token_throughput":{"unit":"tokens/sec","avg":512.0},)"
                             R"("request_count":{"unit":"requests","avg":100},)"
                             R"("output_sequence_length":{"unit":"tokens","avg":256.0},)"
                             R"("input_sequence_length":{"unit":"tokens","avg":1024.0},)";
  const auto genai = read("{" + blocks +
                          R"("input_config":{"perf_analyzer":{"stimulus":{"request_rate":2.0}},)"
                          R"("concurrency":64}})");
  ASSERT_TRUE(genai) << genai.error().describe();
  EXPECT_EQ(genai->rows[0].batch, 8);
  EXPECT_EQ(count(*genai, "limited_by_request_rate"), 1U);
  const auto aiperf = read("{" + blocks +
                           R"("schema_version":"1.3","aiperf_version":"0.3","was_cancelled":true,)"
                           R"("error_summary":[{"error_details":{},"count":9}],)"
                           R"("input_config":{"loadgen":{"concurrency":64,"request_rate":2.0}}})");
  ASSERT_TRUE(aiperf) << aiperf.error().describe();
  EXPECT_EQ(aiperf->rows[0].batch, 8);
  EXPECT_EQ(find(*aiperf, "run_cancelled")->weight, OddityWeight::kWarning);
  EXPECT_EQ(count(*aiperf, "many_requests_failed"), 1U);
}

TEST_F(BenchJson, ReadsGenaiPerfAndAiperfBlocksByTheirUnits) {
  const std::string metrics = R"("request_throughput":{"unit":"requests/sec","avg":2.0},)"
                              R"("request_latency":{"unit":"ms","avg":4000.0,"p99":4100.0},)"
                              R"("time_to_first_token":{"unit":"s","avg":0.1},)"
                              R"("inter_token_latency":{"unit":"ms","avg":15.0},)"
                              R"("output_token_throughput":{"unit":"tokens/sec","avg":512.0},)"
                              R"("output_sequence_length":{"unit":"tokens","avg":256.0},)"
                              R"("input_sequence_length":{"unit":"tokens","avg":1024.0},)";
  const auto genai = read(
      "{" + metrics +
      R"("input_config":{"model_names":["m"],"perf_analyzer":{"stimulus":{"concurrency":8}}}})");
  ASSERT_TRUE(genai) << genai.error().describe();
  EXPECT_EQ(genai->format, "genai-perf");
  EXPECT_DOUBLE_EQ(genai->rows[0].latency_s, 4);
  EXPECT_DOUBLE_EQ(genai->rows[0].ttft_ms, 100);
  EXPECT_DOUBLE_EQ(genai->rows[0].tokens_per_s, 2560);  // 512 x 1280 / 256
  EXPECT_EQ(genai->rows[0].batch, 8);
  EXPECT_EQ(genai->rows[0].model, "m");
  const auto aiperf =
      read("{" + metrics + R"("schema_version":"1.0","aiperf_version":"0.3","input_config":{}})");
  ASSERT_TRUE(aiperf);
  EXPECT_EQ(aiperf->format, "aiperf");
  EXPECT_DOUBLE_EQ(aiperf->rows[0].batch, 8);  // 2 per second x 4 s
}

TEST_F(BenchJson, ReadsGenaiPerfCsvWithThousandsInQuotes) {
  const auto table = read(
      "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\n"
      "Time To First Token (ms),\"1,234.50\",1,2,3,4,5,6,7,8\n"
      "Request Latency (ms),\"4,000.00\",1,2,3,4,5,6,7,8\n"
      "Output Token Throughput Per User (tokens/sec),64.00,1,2,3,4,5,6,7,8\n"
      "Output Sequence Length (tokens),256.00,1,2,3,4,5,6,7,8\n"
      "Input Sequence Length (tokens),\"1,024.00\",1,2,3,4,5,6,7,8\n"
      "\n"
      "Metric,Value\n"
      "Output Token Throughput (tokens/sec),512.00\n"
      "Request Throughput (per sec),2.00\n"
      "\n"
      "Metric,GPU,avg,min\n"
      "GPU Power Usage (W),0,300.1,1\n");
  ASSERT_TRUE(table) << table.error().describe();
  const BenchRow& row = table->rows[0];
  EXPECT_DOUBLE_EQ(row.ttft_ms, 1234.5);
  EXPECT_DOUBLE_EQ(row.latency_s, 4);
  EXPECT_EQ(row.in_len, 1024);
  EXPECT_DOUBLE_EQ(row.output_tokens_per_s, 512);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 2560);
  EXPECT_DOUBLE_EQ(row.batch, 8);
}

TEST_F(BenchJson, NonTextNamesAreCounted) {
  std::string text = kVllm;
  text.replace(text.find("m/M"), 3, "m\\u0000M");
  EXPECT_EQ(count(*read(text), "odd_name"), 1U);
  const auto csv = read("model,ii,oo,bb,throughput\nm\xff,128,64,1,2\nn,128,64,1,2\n");
  ASSERT_TRUE(csv) << csv.error().describe();
  EXPECT_EQ(count(*csv, "odd_name"), 1U);
}

TEST_F(BenchJson, AModelFileIsNamedAsOne) {
  const auto table = read(R"({"format": "assay throughput model", "source": "mine.csv"})");
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("model file"), std::string::npos);
  EXPECT_NE(table.error().message.find("mine.csv"), std::string::npos);
}

TEST_F(BenchJson, RejectsOtherFilesByName) {
  const auto trace = read(R"({"traceEvents": []})");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("assay report"), std::string::npos);
  EXPECT_FALSE(read(R"({"a": 1})"));
  EXPECT_FALSE(read("[]"));
  const auto cut = read(R"({"duration": 1, "completed")");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kTruncated);
  EXPECT_FALSE(read(R"({"duration": 1, "completed": }})"));
  EXPECT_FALSE(read(R"({"duration": 1, "completed": 0})"));
}

TEST_F(BenchJson, AiconfiguratorRowsHaveLatencyFromTtftAndTpot) {
  const auto table = read(
      "id,backend,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_size,"
      "attention_dp_size,silicon_ttft_ms,silicon_tpot_ms\n"
      "a,vllm,m,b300_sxm,fp8,agg,1024,101,128,4,1,4,500,15\n"
      "b,vllm,m,b300_sxm,fp8,disagg,1024,101,,,,,500,15\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "aiconfigurator");
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "b300_sxm");
  EXPECT_EQ(row.devices, 16);
  EXPECT_EQ(row.batch, 512);
  EXPECT_DOUBLE_EQ(row.latency_s, 2);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 1125. * 512 / 2);
  EXPECT_EQ(row.variant.text(), "fp8, tp4 dp4");
  EXPECT_EQ(count(*table, "disaggregated"), 1U);
}

TEST_F(BenchJson, AiconfiguratorKeepsLayoutsAndVersionsApart) {
  const auto table = read(
      "id,backend,backend_version,model_path,system,precision,mode,isl,osl,batch_size,tp_size,"
      "pp_size,attention_dp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n"
      "a,vllm,0.19.0,m,b300_sxm,fp8,agg,1024,101,128,4,1,1,1,500,15\n"
      "b,vllm,0.19.0,m,b300_sxm,fp8,agg,1024,101,128,4,1,1,4,500,16\n"
      "c,vllm,0.20.0,m,b300_sxm,fp8,agg,1024,101,128,4,1,,0,500,17\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0].variant.text(), "fp8, v0.19.0");
  EXPECT_EQ(table->rows[1].variant.text(), "fp8, tp4 ep4, v0.19.0");
  EXPECT_EQ(table->rows[2].variant.text(), "fp8, v0.20.0");
  EXPECT_EQ(table->rows[2].devices, 4);
}

// 2.5 requests per second x (55.1 ms + 255 x 12.3 ms) = 7.98.
TEST_F(BenchJson, LittlesLawTakesTtftAndTpotWhereTheMeanLatencyIsMissing) {
  const std::string head =
      R"({"backend": "vllm", "model_id": "m", "request_rate": 4.0, "max_concurrency": null,)"
      R"("duration": 80.0, "completed": 200, "total_input_tokens": 204800,)"
      R"("total_output_tokens": 51200)";
  const auto table = read(head + R"(, "mean_ttft_ms": 55.1, "mean_tpot_ms": 12.3})");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_NEAR(table->rows[0].batch, 7.98, 0.005);
  EXPECT_EQ(count(*table, "latency_from_ttft_tpot"), 1U);
  const auto lacking = read(head + "}");
  ASSERT_TRUE(lacking);
  EXPECT_TRUE(std::isnan(lacking->rows[0].batch));
  EXPECT_EQ(count(*lacking, "concurrency_unknown"), 1U);
}

TEST_F(BenchJson, ReadsSglangsOneBatch) {
  const auto table =
      read(R"({"run_name": "default", "batch_size": 4, "input_len": 1024, "output_len": 256,)"
           R"("prefill_latency": 0.08, "total_latency": 2.0, "overall_throughput": 2560.0})"
           "\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "sglang");
  EXPECT_EQ(table->rows[0].batch, 4);
  EXPECT_DOUBLE_EQ(table->rows[0].tokens_per_s, 2560);
  EXPECT_EQ(table->rows[0].framework, "SGLang");
  EXPECT_EQ(count(*table, "identity_failed"), 0U);
}

TEST_F(BenchJson, AFolderIsReadInTheOrderOfNamesAndStrangersAreCounted) {
  const std::string folder = testing::scratch_path("results");
  std::filesystem::create_directory(folder);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
  };
  const std::string run =
      R"({"backend": "vllm", "duration": 10, "completed": 10, "total_input_tokens": 1280,)"
      R"("total_output_tokens": 640, "max_concurrency": )";
  write("b.json", run + "8}");
  write("a.json", run + "1}");
  write("notes.txt", "nothing\n");
  const auto table = read_bench_tables({folder});
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].batch, 1);
  EXPECT_EQ(table->rows[1].batch, 8);
  EXPECT_EQ(table->format, "vllm");
  EXPECT_EQ(count(*table, "file_skipped"), 1U);
  // Asked for by name, it must be readable.
  EXPECT_FALSE(read_bench_tables({folder + "/a.json", folder + "/notes.txt"}));
  std::filesystem::remove_all(folder);
}

TEST_F(BenchJson, LengthsAreNominalOnlyWhereTheirRangeIsClosed) {
  const auto run = [](const char* ratio) {
    return std::string(R"({"backend":"sglang","random_input_len":1024,"random_output_len":256,)") +
           R"("random_range_ratio":)" + ratio +
           R"(,"duration":10.0,"completed":20,"total_input_tokens":10240,)" +
           R"("total_output_tokens":2560,"max_concurrency":4,"failed":1})";
  };
  const auto closed = read(run("1.0"));
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->rows[0].in_len, 1024);
  EXPECT_EQ(closed->rows[0].out_len, 256);
  const auto open = read(run("0.5"));
  ASSERT_TRUE(open);
  EXPECT_EQ(open->rows[0].in_len, 512);  // 10240 / 20
  EXPECT_EQ(open->rows[0].out_len, 128);
  EXPECT_EQ(count(*open, "failed_requests"), 1U);
}

TEST_F(BenchJson, ReplicasOfAttentionShareTheDevices) {
  const auto run = [](const char* shared) {
    return std::string(R"({"backend":"sglang","server_info":{"tp_size":8,"dp_size":4,)") +
           R"("enable_dp_attention":)" + shared +
           R"(},"duration":10.0,"completed":20,"total_input_tokens":10240,)" +
           R"("total_output_tokens":2560,"random_input_len":512,"max_concurrency":4})";
  };
  EXPECT_EQ(read(run("true"))->rows[0].devices, 8);
  EXPECT_EQ(read(run("false"))->rows[0].devices, 32);
}

TEST_F(BenchJson, DetectsResultsByTheKeysOfTheFirst) {
  EXPECT_TRUE(looks_like_bench(kVllm));
  EXPECT_TRUE(looks_like_bench(" [\n {\"avg_latency\":1,\"latencies\":[1,2"));
  EXPECT_TRUE(looks_like_bench(R"({"backend":"sglang","random_input_len":8,"server_info":{"a)"));
  EXPECT_TRUE(looks_like_bench(R"({"request_throughput": {"unit":"requests/sec","avg":2}})"));
  EXPECT_FALSE(
      looks_like_bench(R"({"schemaVersion":1,"traceEvents":[{"completed":1,"duration":2)"));
  EXPECT_FALSE(looks_like_bench(R"([{"ph":"X","args":{"completed":1,"duration":2}}])"));
  EXPECT_FALSE(looks_like_bench(R"({"note":"\"completed\":1,\"duration\":2"})"));
  // Keys of a second object tell nothing of the first.
  EXPECT_FALSE(looks_like_bench("{\"a\":1}\n{\"completed\":1,\"duration\":2}"));
  EXPECT_FALSE(looks_like_bench("{"));
}

TEST_F(BenchJson, CountsOfSeveralFilesAddUpWithoutLines) {
  const std::string folder = testing::scratch_path("several");
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/a.csv") << "len,bb,latency,throughput\n100,10,2,1000\n100,20,4,5\n"
                                      "100,30,6,1000\n";
  std::ofstream(folder + "/b.csv") << "len,bb,latency,throughput\n100,50,2,5000\n100,60,4,15\n"
                                      "100,70,4,17.5\n100,80,6,2666.6667\n";
  const auto table = read_bench_tables({folder});
  ASSERT_TRUE(table) << table.error().describe();
  const BenchOddity* mixed = find(*table, "mixed_units");
  ASSERT_NE(mixed, nullptr);
  EXPECT_EQ(mixed->rows, 3U);
  EXPECT_EQ(mixed->dropped, 3U);
  EXPECT_EQ(mixed->first_line, 0);
  EXPECT_NE(mixed->effect.find("(first: a.csv, line 3)"), std::string::npos) << mixed->effect;
  for (const BenchRow& row : table->rows) EXPECT_EQ(row.line, 0);
  std::filesystem::remove_all(folder);
}

// Clients write "vLLM", published tables "vllm": one engine, called as in the first file.
TEST(BenchTables, AnEngineHasOneSpelling) {
  const std::string folder = testing::scratch_path("spellings");
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/a.csv") << "engine,len,bb,latency,throughput\nvllm,100,10,2,1000\n"
                                      "TensorRT-LLM,100,10,2,1000\n";
  std::ofstream(folder + "/b.csv") << "engine,len,bb,latency,throughput\nvLLM,100,20,4,1000\n"
                                      "trtllm,100,20,4,1000\nvllm-fork,100,20,4,1000\n";
  const auto table = read_bench_tables({folder + "/a.csv", folder + "/b.csv"});
  ASSERT_TRUE(table);
  std::vector<std::string> engines;
  for (const BenchRow& row : table->rows) engines.push_back(row.framework);
  EXPECT_EQ(engines, (std::vector<std::string>{"vllm", "TensorRT-LLM", "vllm", "TensorRT-LLM",
                                               "vllm-fork"}));
  const auto spelled =
      std::find_if(table->oddities.begin(), table->oddities.end(),
                   [](const BenchOddity& oddity) { return oddity.code == "engine_spelled"; });
  ASSERT_NE(spelled, table->oddities.end());
  EXPECT_EQ(spelled->rows, 2U);
  EXPECT_EQ(spelled->dropped, 0U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace assay
