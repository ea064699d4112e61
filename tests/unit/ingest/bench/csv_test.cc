#include <gtest/gtest.h>

#include <cmath>

#include "support/bench_file.h"

namespace assay {
namespace {

class BenchCsv : public testing::BenchFile {};

constexpr char kHeader[] =
    "Hardware,Num of Hardware,Framework,Model,Input Output Length,Batch Size,Latency,Throughput";

TEST_F(BenchCsv, ReadsLlmInferenceBench) {
  const auto table = read(std::string(kHeader) + "\nNvidia H100 GPU,2,vLLM,m,128,16,2,2048\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->format, "llm-inference-bench");
  ASSERT_EQ(table->rows.size(), 1U);
  const BenchRow& row = table->rows[0];
  EXPECT_EQ(row.hardware, "Nvidia H100 GPU");
  EXPECT_EQ(row.devices, 2);
  EXPECT_EQ(row.in_len, 128);
  EXPECT_EQ(row.out_len, 128);
  EXPECT_EQ(row.batch, 16);
  EXPECT_EQ(row.latency_s, 2);
  EXPECT_EQ(row.tokens_per_s, 2048);
  EXPECT_EQ(row.line, 2);
  EXPECT_TRUE(table->oddities.empty());
}

TEST_F(BenchCsv, BlankLinesLowerCaseTitlesSpacesAndWindowsEndsAreFine) {
  const auto table = read(
      "hardware,num of hardware,framework,model ,input output length, batch size,latency,"
      "throughput,kv_cache_dtype\r\n\r\n H ,1,vLLM,m ,128,16,2,2048,fp8\r\nH,1,vLLM,m,128,32,2,"
      "4096,fp8\r\n");
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].model, "m");
  EXPECT_EQ(table->rows[0].hardware, "H");
  EXPECT_EQ(table->rows[0].variant.text(), "kv fp8");
  EXPECT_EQ(table->rows[1].line, 4);
  EXPECT_EQ(count(*table, "blank_line"), 1U);
}

TEST_F(BenchCsv, DetectsMilliwattsByTheirSize) {
  const auto table = read(std::string(kHeader) + ",avg_power\nH,1,v,m,128,16,2,2048,222122.27\n");
  ASSERT_TRUE(table);
  EXPECT_NEAR(table->rows[0].power_w, 222.12227, 1e-9);
  EXPECT_EQ(count(*table, "power_in_milliwatts"), 1U);
}

TEST_F(BenchCsv, ACommaWithoutQuotesIsJoinedWhereOnlyOnePlaceFits) {
  const auto table = read(
      "Hardware,Num of Hardware,Framework,Model,Input Output Length,Batch Size,Parallelism Type,"
      "Latency,Throughput\nH,4,v,m,128,16,Hybrid TP = 2, EP = 2,2,2048\n");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(table->rows[0].variant.text(), "Hybrid TP = 2, EP = 2");
  EXPECT_EQ(table->rows[0].tokens_per_s, 2048);
  EXPECT_EQ(count(*table, "unquoted_comma"), 1U);
}

TEST_F(BenchCsv, AmbiguousSurplusCellsAreDropped) {
  const auto table =
      read(std::string(kHeader) + "\nH,1,a,b,m,128,16,2,2048\nH,1,v,m,128,16,2,2048\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(count(*table, "surplus_cells"), 1U);
}

TEST_F(BenchCsv, TextInNumbersAndMissingCellsAreUnknownNeverZero) {
  const auto table =
      read(std::string(kHeader) + "\nH,1,v,m,128,16,2,OOM\nH,1,v,m,128,,2,2048\nH,1,v,m,128,16\n");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 3U);
  // 256 tokens x 16 in 2 s, from the latency.
  EXPECT_EQ(table->rows[0].tokens_per_s, 2048);
  EXPECT_TRUE(std::isnan(table->rows[1].batch));
  EXPECT_TRUE(std::isnan(table->rows[2].tokens_per_s));
  EXPECT_EQ(count(*table, "text_in_number"), 1U);
  EXPECT_EQ(count(*table, "missing_cell"), 3U);
  EXPECT_EQ(count(*table, "throughput_from_latency"), 1U);
}

TEST_F(BenchCsv, ColumnsAndConstantsOptionsAddMissingValues) {
  const auto table = read("Prompt, size;bb,Speed (tok/s)\n\"1,024\",8,500\n", {"ii=Prompt"}, {});
  EXPECT_FALSE(table);
  const auto mapped = read("Prompt,Streams,Speed (tok/s),Took [ms]\n\"1,024\",8,500,20480\n",
                           {"ii=Prompt,bb=Streams,throughput=Speed (tok/s)", "latency=Took [ms]"},
                           {"oo=256,n=4,hardware=Nvidia H100, SXM"});
  ASSERT_TRUE(mapped) << mapped.error().describe();
  const BenchRow& row = mapped->rows[0];
  EXPECT_EQ(row.in_len, 1024);
  EXPECT_EQ(row.out_len, 256);
  EXPECT_EQ(row.batch, 8);
  EXPECT_EQ(row.devices, 4);
  EXPECT_EQ(row.hardware, "Nvidia H100, SXM");
  EXPECT_NEAR(row.latency_s, 20.48, 1e-12);  // 1280 x 8 / 500: the identity holds
  EXPECT_EQ(count(*mapped, "identity_failed"), 0U);
}

TEST_F(BenchCsv, TheIdentityFindsMeanings) {
  const auto table = read(
      "len,bb,latency,throughput,framework\n"
      "100,10,2,1000,ok\n"        // 200 x 10 / 2
      "100,10,2,500,output\n"     // 100 x 10 / 2
      "100,10,2,100,llama.cpp\n"  // 200 x 1 / 2
      "100,10,2,1234,wrong\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[1].tokens_per_s, 1000);
  EXPECT_EQ(table->rows[1].output_tokens_per_s, 500);
  EXPECT_EQ(table->rows[2].tokens_per_s, 100);
  EXPECT_EQ(table->rows[3].tokens_per_s, 1234);
  for (const char* code : {"output_tokens_only", "one_sequence_identity", "identity_failed"}) {
    EXPECT_EQ(count(*table, code), 1U) << code;
  }
}

TEST_F(BenchCsv, AUnitThatTheWholeColumnHasIsConverted) {
  const auto millis = read(
      "len,bb,latency,throughput\n100,10,2000,1000\n100,20,4000,1000\n"
      "100,30,6300,1000\n100,40,8000,\n");  // the third is 5 % off; the last has no throughput
  ASSERT_TRUE(millis);
  EXPECT_EQ(count(*millis, "latency_in_milliseconds"), 4U);
  EXPECT_DOUBLE_EQ(millis->rows[1].latency_s, 4);
  EXPECT_DOUBLE_EQ(millis->rows[3].tokens_per_s, 1000);
  const auto requests = read("len,bb,latency,throughput\n100,10,2,5\n100,20,4,5\n");
  ASSERT_TRUE(requests);
  EXPECT_EQ(count(*requests, "throughput_in_requests"), 2U);
  EXPECT_DOUBLE_EQ(requests->rows[0].tokens_per_s, 1000);
}

TEST_F(BenchCsv, MixedUnitsAreDroppedAndCounted) {
  const auto table = read(
      "len,bb,latency,throughput\n"
      "100,10,2,1000\n100,20,4,1000\n100,30,6,1000\n"
      "100,40,8,5\n"         // requests per second
      "100,50,10000,1000\n"  // ms
      "100,60,12,\n");       // of unknown unit
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 3U);
  EXPECT_EQ(count(*table, "mixed_units"), 3U);
  EXPECT_EQ(find(*table, "mixed_units")->weight, OddityWeight::kWarning);
  EXPECT_EQ(count(*table, "throughput_from_latency"), 0U);
}

TEST_F(BenchCsv, FactorMetByChanceIsNotAUnit) {
  // Concurrency and mean latency of a client: the identity does not hold at all.
  const auto table = read(
      "len,bb,latency,throughput\n100,10,2,700\n100,20,4,1200\n100,30,6,600\n100,40,8,5\n"
      "100,50,10,800\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 5U);
  EXPECT_EQ(count(*table, "identity_failed"), 5U);
}

TEST_F(BenchCsv, RequestsPerSecondShowUnitsIfThereIsNoLatency) {
  const auto output =
      read("ii,oo,bb,throughput,requests_per_second\n100,50,1,100,2\n100,50,2,600,4\n");
  ASSERT_TRUE(output);
  EXPECT_EQ(count(*output, "output_tokens_only"), 1U);  // 2 x 50
  EXPECT_EQ(output->rows[0].tokens_per_s, 300);
  EXPECT_EQ(output->rows[0].output_tokens_per_s, 100);
  EXPECT_EQ(output->rows[1].tokens_per_s, 600);  // 4 x 150
  const auto mixed =
      read("ii,oo,bb,throughput,requests_per_second\n100,50,1,300,2\n100,50,2,4,4\n");
  ASSERT_TRUE(mixed);
  ASSERT_EQ(mixed->rows.size(), 1U);
  EXPECT_EQ(count(*mixed, "mixed_units"), 1U);
  const auto requests =
      read("ii,oo,bb,throughput,requests_per_second\n100,50,1,2,2\n100,50,2,4,4\n");
  EXPECT_EQ(requests->rows[1].tokens_per_s, 600);
  const auto wrong = read("ii,oo,bb,throughput,requests_per_second\n100,50,1,777,2\n");
  EXPECT_EQ(count(*wrong, "identity_failed"), 1U);
  EXPECT_EQ(wrong->rows[0].tokens_per_s, 777);
}

TEST_F(BenchCsv, DetectsRequestsPerSecondByTheTitle) {
  for (const char* title : {"throughput (req/s)", "requests_per_second", "Request Throughput"}) {
    const auto table = read("ii,oo,bb," + std::string(title) + "\n128,64,1,2\n");
    ASSERT_TRUE(table) << title;
    EXPECT_DOUBLE_EQ(table->rows[0].tokens_per_s, 384) << title;
    EXPECT_EQ(count(*table, "throughput_from_requests"), 1U);
  }
  const auto mapped =
      read("ii,oo,bb,requests_per_second\n128,64,1,2\n", {"throughput=requests_per_second"});
  ASSERT_TRUE(mapped);
  EXPECT_DOUBLE_EQ(mapped->rows[0].tokens_per_s, 384);
  const auto named = read("ii,oo,bb,latency_ms\n128,64,1,500\n");
  ASSERT_TRUE(named);
  EXPECT_DOUBLE_EQ(named->rows[0].latency_s, 0.5);
  EXPECT_EQ(count(*named, "unit_in_title"), 1U);
}

TEST_F(BenchCsv, AMappedThroughputIsReadInTheUnitThatItsTitleNames) {
  const struct {
    const char* title;
    double tokens_per_s;  // of "6" in a row of 192 tokens, 4 sequences, 2 devices
  } cases[] = {{"Throughput (ktok/s)", 6000},
               {"Throughput [Mtok/s]", 6e6},
               {"Tokens per minute", 0.1},
               {"tokens/hour", 6.0 / 3600},
               {"Throughput (tok/s/GPU)", 12},
               {"TPS per GPU", 12},
               {"Tokens/s/user", 24},
               {"tokens per second per request", 24},
               {"Throughput (req/s)", 6 * 192},
               {"req/min", 0.1 * 192},
               {"ktok/s/gpu", 12000},
               {"Throughput per GPU", 12},
               {"tok_s", 6},
               {"t/s", 6},
               {"Throughput (mean)", 6},
               {"rpm", 0.1 * 192}};
  for (const auto& c : cases) {
    const std::string title = c.title;
    const auto table = read("n,ii,oo,bb," + title + "\n2,128,64,4,6\n", {"throughput=" + title});
    ASSERT_TRUE(table) << title << ": " << table.error().describe();
    EXPECT_DOUBLE_EQ(table->rows[0].tokens_per_s, c.tokens_per_s) << title;
  }
}

TEST_F(BenchCsv, RejectsATitleWithAnUnknownUnitByName) {
  for (const char* title :
       {"Throughput (tok/s/node)", "Throughput (tok/s/W)", "steps/s", "tokens/request",
        "Throughput (ms)", "tok_s_gpu", "images per second"}) {
    const auto table = read("n,ii,oo,bb," + std::string(title) + "\n2,128,64,4,6\n",
                            {"throughput=" + std::string(title)});
    ASSERT_FALSE(table) << title;
    EXPECT_NE(table.error().message.find(title), std::string::npos);
  }
  for (const char* title :
       {"Time (ms/token)", "Latency (tok/s)", "latency_min", "delay per token"}) {
    const auto table = read("ii,oo,bb," + std::string(title) + "\n128,64,4,6\n",
                            {"latency=" + std::string(title)});
    EXPECT_FALSE(table) << title;
  }
  // Per device needs their number, per device of a batch size nothing helps.
  EXPECT_FALSE(read("ii,oo,bb,x tok/s/GPU\n128,64,4,6\n", {"throughput=x tok/s/GPU"}));
  EXPECT_EQ(read("ii,oo,bb,x tok/s/GPU\n128,64,4,6\n", {"throughput=x tok/s/GPU"}, {"n=8"})
                ->rows[0]
                .tokens_per_s,
            48);
  EXPECT_FALSE(read("ii,oo,Batch per GPU,throughput\n128,64,4,6\n", {"bb=Batch per GPU"}));
}

TEST_F(BenchCsv, LatenciesAreReadInTheUnitThatTheirTitleNames) {
  const std::pair<const char*, double> cases[] = {
      {"Latency (min)", 360}, {"Latency (minutes)", 360},  {"delay (ms)", 0.006},
      {"delay_us", 6e-6},     {"Latency (\u00b5s)", 6e-6}, {"wall hours", 21600}};
  for (const auto& [title, seconds] : cases) {
    const auto table = read("ii,oo,bb," + std::string(title) + "\n128,64,4,6\n",
                            {"latency=" + std::string(title)});
    ASSERT_TRUE(table) << title << ": " << table.error().describe();
    EXPECT_DOUBLE_EQ(table->rows[0].latency_s, seconds) << title;
  }
}

// 192 tokens x 2 requests per second x 3 s: 6 ran at a time.
TEST_F(BenchCsv, ARequestRateLimitsTheBatchSizeThatWasReached) {
  const auto table = read(
      "ii,oo,max_concurrency,request_rate,latency,throughput\n128,64,256,2,3,384\n"
      "128,64,4,inf,1,768\n128,64,256,2,,384\n");
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].batch, 6);
  EXPECT_EQ(table->rows[1].batch, 4);
  EXPECT_EQ(count(*table, "limited_by_request_rate"), 1U);
  EXPECT_EQ(find(*table, "request_rate_without_latency")->dropped, 1U);
}

TEST_F(BenchCsv, LatencyThatCanHardlyBeSecondsIsWarnedOf) {
  const auto odd = read("ii,oo,bb,latency\n128,64,1,551\n128,64,2,557\n");
  ASSERT_TRUE(odd);
  EXPECT_EQ(count(*odd, "latency_unit_doubtful"), 2U);
  EXPECT_EQ(find(*odd, "latency_unit_doubtful")->weight, OddityWeight::kWarning);
  EXPECT_EQ(count(*read("ii,oo,bb,latency\n128,64,1,5.51\n"), "latency_unit_doubtful"), 0U);
  EXPECT_EQ(count(*read("ii,oo,bb,latency (s)\n128,64,1,551\n"), "latency_unit_doubtful"), 0U);
}

TEST_F(BenchCsv, LayoutVersionAndPrecisionMakeTheVariant) {
  const auto table = read(
      "len,bb,throughput,precision,kv_cache_dtype,tp,pp,ep_size,engine_version\n"
      "100,1,10,fp8,auto,4,1,1,0.9.1\n"
      "100,1,10,fp8,fp8,2,2,1,0.9.1\n"
      "100,1,10,,,8,,8,\n");
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_EQ(table->rows[0].variant.text(), "fp8, v0.9.1");
  EXPECT_EQ(table->rows[0].devices, 4);
  EXPECT_EQ(table->rows[1].variant.text(), "fp8, kv fp8, tp2 pp2, v0.9.1");
  EXPECT_EQ(table->rows[1].devices, 4);
  EXPECT_EQ(table->rows[2].variant.text(), "tp8 ep8");
  EXPECT_EQ(table->rows[2].devices, 8);
  EXPECT_EQ(table->rows[1].variant,
            (BenchVariant{"fp8, kv fp8", ParallelLayout{2, 2, 1, 1}, "v0.9.1"}));
  EXPECT_EQ(table->rows[1].precision.kv_bytes, 1);
  EXPECT_FALSE(table->rows[0].variant.layout);  // one group of all devices is the plain case
  // A count of its own beside the layout.
  const auto counted = read("len,bb,throughput,tp,num_gpus\n100,1,10,4,8\n100,1,10,8,8\n");
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->rows[0].devices, 8);
  EXPECT_EQ(counted->rows[0].variant.text(), "tp4");
  EXPECT_EQ(counted->rows[1].variant.text(), "");
}

TEST_F(BenchCsv, APersonsVariantIsTakenApartToo) {
  const auto table = read("len,bb,throughput,variant\n100,1,10,\"v0.9.1, tp2 ep4, fp8, tpx\"\n");
  ASSERT_TRUE(table) << table.error().describe();
  const BenchVariant& variant = table->rows[0].variant;
  EXPECT_EQ(variant.words, "fp8, tpx");
  ASSERT_TRUE(variant.layout);
  EXPECT_EQ(*variant.layout, (ParallelLayout{2, 1, 1, 4}));
  EXPECT_EQ(variant.version, "v0.9.1");
  EXPECT_EQ(variant.text(), "fp8, tpx, tp2 ep4, v0.9.1");
  EXPECT_EQ(table->rows[0].devices, 1);  // words tell no number of devices
  const auto meta = read("len,bb,throughput\n100,1,10\n", {}, {"variant=int4, vnightly-3, tp1"});
  EXPECT_DOUBLE_EQ(meta->rows[0].precision.weight_bytes, 0.52);
  EXPECT_EQ(meta->rows[0].variant, (BenchVariant{"int4", ParallelLayout{}, "vnightly-3"}));
  EXPECT_EQ(meta->rows[0].variant.text(), "int4, tp1, vnightly-3");
  for (const char* words : {"tp", "tp2x", "tp0", "tp2 fast", "very fast", "tp99999999999"}) {
    const auto plain = read("len,bb,throughput\n100,1,10\n", {}, {std::string("variant=") + words});
    EXPECT_EQ(plain->rows[0].variant, (BenchVariant{words, {}, ""})) << words;
  }
}

TEST_F(BenchCsv, SemicolonsTabsAndDecimalCommasAreRead) {
  const auto semicolons = read("ii;oo;bb;throughput\n128;64;1;348,237\n128;64;4;1394,872\n");
  ASSERT_TRUE(semicolons) << semicolons.error().describe();
  EXPECT_DOUBLE_EQ(semicolons->rows[0].tokens_per_s, 348.237);
  EXPECT_DOUBLE_EQ(semicolons->rows[1].tokens_per_s, 1394.872);
  EXPECT_EQ(count(*semicolons, "decimal_comma"), 2U);
  const auto tabs = read("ii\too\tbb\tthroughput\n128\t64\t1\t348.24\n");
  ASSERT_TRUE(tabs);
  EXPECT_DOUBLE_EQ(tabs->rows[0].tokens_per_s, 348.24);
  // What one column shows holds in all.
  const auto quoted = read("ii,oo,bb,latency,throughput\n128,64,1,\"1041,820\",\"348,240\"\n");
  ASSERT_TRUE(quoted);
  EXPECT_DOUBLE_EQ(quoted->rows[0].tokens_per_s, 348.24);
  EXPECT_DOUBLE_EQ(quoted->rows[0].latency_s, 1041.82);
}

TEST_F(BenchCsv, NumbersThatMayBeReadAThousandTimesApartAreRefused) {
  const auto either = read("ii;oo;bb;throughput\n128;64;1;348,237\n");
  ASSERT_FALSE(either);
  EXPECT_NE(either.error().message.find("'348,237' (line 2)"), std::string::npos);
  const auto both = read("ii;oo;bb;throughput\n128;64;1;348,2\n128;64;2;688.5\n");
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().message.find("decimal comma"), std::string::npos);
  // In a table of commas, quotes are around thousands, as ever.
  EXPECT_EQ(read("ii,oo,bb,throughput\n128,64,1,\"1,234\"\n")->rows[0].tokens_per_s, 1234);
}

TEST_F(BenchCsv, HeadersThatRepeatAreSkippedAndUnitsOfTitlesAndCommasAreExact) {
  const auto repeated = read("len,bb,throughput\n100,1,10\nlen,bb,throughput\n100,2,20\n");
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->rows.size(), 2U);
  EXPECT_EQ(count(*repeated, "repeated_header"), 1U);
  const auto micro = read("len,bb,latency_us\n100,1,2500000\n");
  ASSERT_TRUE(micro);
  EXPECT_DOUBLE_EQ(micro->rows[0].latency_s, 2.5);
  const auto rate = read("ii,oo,bb,throughput (rps)\n100,50,1,2\n");
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->rows[0].tokens_per_s, 300);
  // A comma in front separates no thousands.
  const auto comma = read("len,bb,throughput\n100,1,\",234,567\"\n100,2,20\n");
  ASSERT_TRUE(comma);
  EXPECT_EQ(count(*comma, "text_in_number"), 1U);
}

TEST_F(BenchCsv, AUnitIsTheColumnsOnlyWhereNineOfTenRowsHaveIt) {
  // Four of five in milliseconds, one that nothing explains: neither converted nor kept in silence.
  const auto table = read(
      "len,bb,latency,throughput\n100,10,2000,1000\n100,20,4000,1000\n100,30,6000,1000\n"
      "100,40,8000,1000\n100,50,77,1000\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(count(*table, "latency_in_milliseconds"), 0U);
  EXPECT_EQ(count(*table, "mixed_units"), 5U);
}

TEST_F(BenchCsv, Utf16IsRefusedByName) {
  const auto table = read(std::string("\xFF\xFEi\0i\0", 6));
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("UTF-16"), std::string::npos);
}

TEST_F(BenchCsv, ARoleIsGivenOnce) {
  const auto table = read("a,b,bb,throughput\n1,2,3,4\n", {"ii=a,oo=b", "ii=b"});
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("ii twice: 'a' and 'b'"), std::string::npos);
}

TEST_F(BenchCsv, UnitsInCellsWinOverTheTitle) {
  const auto table =
      read("len,bb,latency,throughput\n100,10,2 s,1000\n100,20,4000 ms,1000 tok/s\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0].latency_s, 2);
  EXPECT_EQ(table->rows[1].latency_s, 4);
  EXPECT_EQ(count(*table, "unit_in_cell"), 3U);
}

TEST_F(BenchCsv, DetectsATableByItsTitles) {
  EXPECT_TRUE(looks_like_bench("\n\nlen;bb;latency (ms)\n1;2;3"));
  EXPECT_TRUE(looks_like_bench("isl\tbatch size\ttokens/s"));
  EXPECT_TRUE(looks_like_bench("Metric,avg,min\nTime To First Token (ms),1,2\n"));
  EXPECT_FALSE(looks_like_bench("throughput,latency\n1,2\n"));  // of what?
  EXPECT_FALSE(looks_like_bench("Kind,Agent_Id,Start_Timestamp,End_Timestamp\n"));
  EXPECT_FALSE(looks_like_bench("timestamp,power.draw [W]\n"));
  EXPECT_FALSE(looks_like_bench(std::string("\xFF\xFEi\0i\0", 6)));
  EXPECT_FALSE(looks_like_bench(""));
}

TEST_F(BenchCsv, RejectsOtherTablesByName) {
  const auto vidur = read("time_stats.emb.min,num_tokens\n1,2\n");
  ASSERT_FALSE(vidur);
  EXPECT_EQ(vidur.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(vidur.error().message.find("Vidur"), std::string::npos);
  EXPECT_FALSE(read("TIMESTAMP,ContextTokens,GeneratedTokens\n0,1,2\n"));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("len,bb,throughput\n"));
  const auto lacking = read("len,throughput\n1,2\n");
  ASSERT_FALSE(lacking);
  EXPECT_NE(lacking.error().message.find("bb (batch size)"), std::string::npos);
  const auto unknown = read("len,bb,throughput\n1,2,3\n", {"speed=throughput"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no such role"), std::string::npos);
}

}  // namespace
}  // namespace assay
