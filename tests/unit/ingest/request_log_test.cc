// Logs of requests: OTLP spans of vLLM and SGLang, SGLang's lines, detailed results of benchmarks.

#include "ingest/requests/log.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

RequestLog parsed(const std::string& text) {
  auto log = parse_request_log(text, "log");
  EXPECT_TRUE(log) << (log ? "" : log.error().message);
  return log ? *std::move(log) : RequestLog{};
}

std::string attribute(const std::string& key, const std::string& typed) {
  return R"({"key":")" + key + R"(","value":{)" + typed + "}}";
}

std::string spans(const std::string& text) {
  return R"({"resourceSpans":[{"scopeSpans":[{"spans":[)" + text + "]}]}]}";
}

const std::string kVllm =
    R"({"spanId":"01","name":"llm_request","startTimeUnixNano":"1775078550000000000","endTimeUnixNano":"1775078552000000000","attributes":[)" +
    attribute("gen_ai.request.id", R"("stringValue":"cmpl-7")") + "," +
    attribute("gen_ai.usage.prompt_tokens", R"("intValue":"512")") + "," +
    attribute("gen_ai.usage.completion_tokens", R"("intValue":40)") + "," +
    attribute("gen_ai.latency.time_in_queue", R"("doubleValue":0.25)") + "," +
    attribute("gen_ai.latency.time_in_model_prefill", R"("doubleValue":0.5)") + "," +
    attribute("gen_ai.latency.time_to_first_token", R"("doubleValue":0.8)") + "," +
    attribute("gen_ai.latency.e2e", R"("doubleValue":1.9)") + "]}";

TEST(RequestLog, SpansOfVllm) {
  const RequestLog log = parsed(spans(kVllm));
  EXPECT_EQ(log.format, "otlp");
  EXPECT_EQ(log.clock, RequestClock::kWall);
  ASSERT_EQ(log.requests.size(), 1U);
  const RequestRecord& one = log.requests[0];
  EXPECT_EQ(one.id, "cmpl-7");
  EXPECT_EQ(one.arrival_ns, 1'775'078'550'000'000'000);
  EXPECT_EQ(one.queue_ns, 250'000'000);
  EXPECT_EQ(one.prefill_ns, 500'000'000);
  EXPECT_EQ(one.ttft_ns, 800'000'000);
  EXPECT_EQ(one.e2e_ns, 1'900'000'000);
  EXPECT_EQ(one.prompt_tokens, 512U);
  EXPECT_EQ(one.output_tokens, 40U);
}

// The same request, and one of SGLang, as Jaeger writes them.
TEST(RequestLog, SpansOfJaeger) {
  const RequestLog log = parsed(R"({"data":[{"traceID":"7","spans":[
    {"spanID":"01","operationName":"llm_request","references":[],"startTime":1775078550000000,"duration":2000000,"tags":[
      {"key":"gen_ai.request.id","type":"string","value":"cmpl-7"},
      {"key":"gen_ai.usage.prompt_tokens","type":"int64","value":512},
      {"key":"gen_ai.latency.time_in_queue","type":"float64","value":0.25},
      {"key":"gen_ai.latency.time_to_first_token","type":"float64","value":0.8},
      {"key":"gen_ai.latency.e2e","type":"float64","value":1.9}],"logs":[]}]},
    {"traceID":"8","spans":[
    {"spanID":"0a","operationName":"Req r1","startTime":1775078560000000,"duration":8000000,"tags":[
      {"key":"rid","type":"string","value":"r1"},{"key":"gen_ai.latency.time_to_first_token","type":"float64","value":4}]},
    {"spanID":"0b","operationName":"Scheduler","references":[{"refType":"CHILD_OF","traceID":"8","spanID":"0a"}],
     "startTime":1775078560000000,"duration":1,"logs":[{"timestamp":1,"fields":[{"key":"event","type":"string","value":"retract"}]}]},
    {"spanID":"0c","operationName":"prefill_waiting","references":[{"refType":"CHILD_OF","traceID":"8","spanID":"0b"}],
     "startTime":1775078560500000,"duration":2000000},
    {"spanID":"0d","operationName":"no times"}]}]})");
  EXPECT_EQ(log.format, "jaeger");
  EXPECT_EQ(log.clock, RequestClock::kWall);
  EXPECT_EQ(log.unread, 1U);
  ASSERT_EQ(log.requests.size(), 2U);
  EXPECT_EQ(log.requests[0].id, "cmpl-7");
  EXPECT_EQ(log.requests[0].arrival_ns, 1'775'078'550'000'000'000);
  EXPECT_EQ(log.requests[0].queue_ns, 250'000'000);
  EXPECT_EQ(log.requests[0].ttft_ns, 800'000'000);
  EXPECT_EQ(log.requests[0].prompt_tokens, 512U);
  EXPECT_EQ(log.requests[1].id, "r1");
  EXPECT_EQ(log.requests[1].queue_ns, 2'000'000'000);
  EXPECT_EQ(log.requests[1].prefill_ns, 1'500'000'000);
  EXPECT_EQ(log.requests[1].preemptions, 1U);
}

// A collector writes one document per line.
TEST(RequestLog, SpansOnLines) {
  EXPECT_EQ(parsed(spans(kVllm) + "\n" + spans(kVllm) + "\n").requests.size(), 2U);
}

TEST(RequestLog, SpansOfSglangHaveTheirQueueBelow) {
  const std::string root =
      R"({"spanId":"0a","name":"Req r1","startTimeUnixNano":"1000000000","endTimeUnixNano":"9000000000","attributes":[)" +
      attribute("rid", R"("stringValue":"r1")") + "," +
      attribute("gen_ai.latency.time_in_model_prefill", R"("doubleValue":3)") + "," +
      attribute("gen_ai.latency.time_to_first_token", R"("doubleValue":4)") + "]}";
  const std::string thread =
      R"({"spanId":"0b","parentSpanId":"0a","name":"Scheduler","startTimeUnixNano":"1","endTimeUnixNano":"2","events":[{"name":"retract"},{"name":"other"}]})";
  const std::string waiting =
      R"({"spanId":"0c","parentSpanId":"0b","name":"prefill_waiting","startTimeUnixNano":"1500000000","endTimeUnixNano":"3500000000"})";
  for (const std::string& text : {waiting + "," + thread + "," + root, root + "," + thread + "," + waiting}) {
    const RequestLog log = parsed(spans(text));
    ASSERT_EQ(log.requests.size(), 1U);
    EXPECT_EQ(log.requests[0].id, "r1");
    EXPECT_EQ(log.requests[0].queue_ns, 2'000'000'000);
    EXPECT_EQ(log.requests[0].prefill_ns, 1'500'000'000) << "its attribute contains the queue";
    EXPECT_EQ(log.requests[0].e2e_ns, 8'000'000'000) << "of the span";
    EXPECT_EQ(log.requests[0].preemptions, 1U);
  }
}

TEST(RequestLog, LinesOfSglang) {
  const RequestLog log = parsed(
      "INFO: ready\n"
      R"({"request_parameters":"{}","id":"a","prompt_tokens":9,"cached_tokens":4,"completion_tokens":3,"e2e_latency":0.5,"queue_time":0.125,"request_received_ts":1775078550.25,"forward_entry_time":1775078550.5,"prefill_finished_time":1775078550.625})"
      "\n"
      R"({"meta_info":{"id":"b","prompt_tokens":9,"e2e_latency":0.5,"queue_time":0,"finish_reason":{"type":"stop"}},"text":""})"
      "\n"
      R"({"rid":"c","out":{"meta_info":{"prompt_tokens":9,"finish_reason":{"type":"abort"}}}})"
      "\n{\"unknown\":1}\n{\"cut\":");
  EXPECT_EQ(log.format, "sglang");
  EXPECT_EQ(log.clock, RequestClock::kWall);
  EXPECT_EQ(log.failed, 1U);
  EXPECT_EQ(log.unread, 2U);
  ASSERT_EQ(log.requests.size(), 2U);
  EXPECT_EQ(log.requests[0].arrival_ns, 1'775'078'550'250'000'000);
  EXPECT_EQ(log.requests[0].queue_ns, 125'000'000);
  EXPECT_EQ(log.requests[0].prefill_ns, 125'000'000);
  EXPECT_EQ(log.requests[0].ttft_ns, 375'000'000);
  EXPECT_EQ(log.requests[0].cached_tokens, 4U);
  EXPECT_FALSE(log.requests[1].queue_ns) << "a queue of 0 without a stage that was timed";
  EXPECT_FALSE(log.requests[1].ttft_ns);
}

TEST(RequestLog, DetailedResultsOfBenchmarks) {
  const RequestLog log = parsed(
      R"({"request_rate": Infinity, "input_lens":[5,6,7],"output_lens":[3,1,0],"ttfts":[0.5,0.25,0],"itls":[[0.1,0.2],[],[]],"start_times":[100.5,100.25,100],"errors":["","","refused: NaN"]})");
  EXPECT_EQ(log.format, "bench");
  EXPECT_EQ(log.clock, RequestClock::kOwn);
  EXPECT_EQ(log.failed, 1U);
  ASSERT_EQ(log.requests.size(), 2U);
  EXPECT_EQ(log.requests[0].id, "1") << "in order of arrival";
  EXPECT_EQ(log.requests[1].arrival_ns, 100'500'000'000);
  EXPECT_EQ(log.requests[1].e2e_ns, 800'000'000);
  EXPECT_EQ(log.requests[1].token_gaps_ns, (std::vector<int64_t>{100'000'000, 200'000'000}));
  const RequestLog bare = parsed(R"({"input_lens":[5],"ttfts":[0.5]})");
  EXPECT_EQ(bare.clock, RequestClock::kNone);
}

TEST(RequestLog, NumbersOutOfRangeAreNotKnown) {
  const RequestLog log = parsed(
      R"({"id":"a","prompt_tokens":-3,"completion_tokens":1e300,"e2e_latency":-1,"queue_time":1e12,"request_received_ts":1e30})");
  ASSERT_EQ(log.requests.size(), 1U);
  const RequestRecord& one = log.requests[0];
  EXPECT_FALSE(one.prompt_tokens || one.output_tokens || one.e2e_ns || one.queue_ns || one.arrival_ns);
}

TEST(RequestLog, OtherFilesAreRefused) {
  for (const char* text : {"", "[]", "{}", "a,b\n1,2\n", R"({"resourceSpans":[]})", R"({"traceEvents":[]})"}) {
    const auto log = parse_request_log(text, "x.json");
    ASSERT_FALSE(log) << text;
    EXPECT_NE(log.error().message.find("OTLP"), std::string::npos);
    EXPECT_EQ(log.error().file, "x.json");
  }
}

}  // namespace
}  // namespace assay
