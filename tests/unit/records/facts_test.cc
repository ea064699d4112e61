#include "records/facts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(Facts, BuiltInTextIsTheDataFileAndReadsWithoutError) {
  std::ifstream file(ASSAY_SOURCE_DIR "/data/facts.ini");
  std::stringstream text;
  text << file.rdbuf();
  FactBook book;
  ASSERT_TRUE(book.add(text.str(), "facts.ini"));
  EXPECT_EQ(book.model_names(), FactBook::built_in().model_names());
  EXPECT_EQ(book.hardware_names(), FactBook::built_in().hardware_names());
  for (const std::string& name : book.model_names()) {
    EXPECT_NE(book.model(name), nullptr) << name;
    for (const auto& [attribute, fact] : book.values("model", name)) EXPECT_NE(fact.source, "");
  }
  EXPECT_EQ(book.hardware_names().size(),
            70U);  // four more are known by their sensor alone, five by their peaks
  EXPECT_EQ(book.values("hardware", "RTX A5000").at("sensor_gain").value, 0.908);
  for (const std::string& name : book.hardware_names()) {
    EXPECT_NE(book.hardware(name), nullptr) << name;
    for (const auto& [attribute, fact] : book.values("hardware", name)) EXPECT_NE(fact.source, "");
  }
}

// A remark ("PCIe 4.0 x16") is no source: each value of a device is from a document that is named.
TEST(Facts, TheSourceOfEachValueOfADeviceNamesADocument) {
  const std::vector<std::string> documents = {
      "data sheet",    "white paper",       "https://",    "product page",
      "product brief", "technical brief",   "arXiv",       "Hot Chips",
      "SC24",          "Prabhakar",         "CUDA driver", "estimate",
      "twice FP32",    "architecture brief"};
  const FactBook& book = FactBook::built_in();
  for (const std::string& name : book.hardware_names()) {
    for (const auto& [attribute, fact] : book.values("hardware", name)) {
      const bool named = std::any_of(
          documents.begin(), documents.end(),
          [&fact](const std::string& word) { return fact.source.find(word) != std::string::npos; });
      EXPECT_TRUE(named) << name << ", " << attribute << ": " << fact.source;
    }
  }
}

// As drivers call them; a smaller or a later card of the series is another device.
TEST(Facts, NamesOfDriversFindTheCardThatRuns) {
  const std::pair<const char*, double> told[] = {{"NVIDIA A10G", 70},
                                                 {"NVIDIA A10", 125},
                                                 {"NVIDIA A30", 165},
                                                 {"NVIDIA A40", 149.7},
                                                 {"NVIDIA A800-SXM4-80GB", 312},
                                                 {"NVIDIA RTX A6000", 154.8},
                                                 {"NVIDIA RTX A5000", 111.1},
                                                 {"NVIDIA RTX 6000 Ada Generation", 364.25},
                                                 {"NVIDIA L40", 181.05},
                                                 {"NVIDIA L40S", 362.05},
                                                 {"NVIDIA L20", 119.5},
                                                 {"NVIDIA GeForce RTX 2080 Ti", 53.8},
                                                 {"NVIDIA GeForce RTX 3060", 25.4},
                                                 {"NVIDIA GeForce RTX 3070", 40.6},
                                                 {"NVIDIA GeForce RTX 3080", 59.5},
                                                 {"NVIDIA GeForce RTX 3090", 71.2},
                                                 {"NVIDIA GeForce RTX 3090 Ti", 80},
                                                 {"NVIDIA GeForce RTX 4070 Ti", 80.2},
                                                 {"NVIDIA GeForce RTX 4080", 97.5},
                                                 {"NVIDIA GeForce RTX 5080", 112.6},
                                                 {"Tesla V100S-PCIE-32GB", 130},
                                                 {"Quadro RTX 8000", 130.5},
                                                 {"AMD Instinct MI60", 29.5},
                                                 {"AMD Radeon RX 7900 XTX", 122.88},
                                                 {"AMD Radeon PRO W7900", 122.6},
                                                 {"AMD Radeon RX 9070 XT", 194.6}};
  const FactBook& book = FactBook::built_in();
  for (const auto& [name, tflops] : told) {
    const auto values = book.values("hardware", name);
    ASSERT_TRUE(values.contains("tflops")) << name;
    EXPECT_EQ(values.at("tflops").value, tflops) << name;
  }
  for (const char* name : {"AMD Instinct MI308X", "AMD Instinct MI300X HF", "Orin",
                           "NVIDIA GeForce RTX 4080 Laptop GPU", "NVIDIA H100 64GB HBM2"})
    EXPECT_TRUE(book.values("hardware", name).empty()) << name;
}

TEST(Facts, KnowsTheModelsAndDevicesOfTheBenchmark) {
  const FactBook& book = FactBook::built_in();
  const ModelFacts* mixtral = book.model("mistralai/Mixtral-8x7B-v0.1");
  ASSERT_NE(mixtral, nullptr);
  EXPECT_EQ(mixtral->parameters_b, 46.70);
  EXPECT_EQ(mixtral->active_b, 12.88);
  EXPECT_EQ(mixtral->experts, 8);
  const ModelFacts* llama = book.model("meta-llama/Meta-Llama-3-8B");
  ASSERT_NE(llama, nullptr);
  // K and V, 2 bytes each, 32 layers of 8 heads of 128: 131,072 bytes.
  EXPECT_DOUBLE_EQ(llama->kv_gb_per_token(), 131072e-9);
  const HardwareFacts* h100 = book.hardware("Nvidia H100 GPU");
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(h100->tflops, 989.4);
  EXPECT_EQ(h100->bandwidth_tb_s, 3.35);
}

TEST(Facts, NamesOfDriversAndFineTunedVariantsAreFound) {
  const FactBook& book = FactBook::built_in();
  EXPECT_EQ(book.hardware("NVIDIA H100 80GB HBM3"), book.hardware("Nvidia H100 GPU"));
  EXPECT_EQ(book.hardware("NVIDIA A100-SXM4-80GB")->memory_gb, 80);
  EXPECT_EQ(book.model("meta-llama/Llama-3.1-8B-Instruct"), book.model("llama-3.1-8b"));
  EXPECT_EQ(book.model("meta-llama/Llama-2-7b-chat-hf"), book.model("Llama-2-7b"));
  // Another name's, too: 3.3 has the shapes of 3.1.
  EXPECT_EQ(book.model("meta-llama/Llama-3.3-70B-Instruct"), book.model("Llama-3.1-70B"));
  EXPECT_EQ(book.model("somebody/new-model"), nullptr);
  EXPECT_EQ(book.model(""), nullptr);
}

TEST(Facts, NamesOfPublishedTablesAreFound) {
  const FactBook& book = FactBook::built_in();
  for (const char* name : {"H100-SXM5-80GB", "NVIDIA H100-SXM-80GB", "h100_sxm"})
    EXPECT_EQ(book.hardware(name), book.hardware("Nvidia H100 GPU")) << name;
  for (const char* name : {"gb200", "gb300", "b300_sxm", "b200_sxm", "RTX 4090", "V100",
                           "NVIDIA GeForce RTX 4090", "Tesla V100-SXM2-32GB", "NVIDIA L40S"})
    EXPECT_NE(book.hardware(name), nullptr) << name;
  EXPECT_EQ(book.hardware("NVIDIA H100-NVL-94GB")->memory_gb, 94);
  EXPECT_EQ(book.hardware("NVIDIA GH200 Grace Hopper Superchip 144GB")->memory_gb, 144);
  EXPECT_EQ(book.model("deepseek-ai/DeepSeek-R1"), book.model("DeepSeek-V3"));
  // A latent vector of 512 + 64 values, 2 bytes each, in 61 layers: 70,272 bytes.
  EXPECT_DOUBLE_EQ(book.model("DeepSeek-V3")->kv_gb_per_token(), 70272e-9);
  // 92 layers of 8 heads of 128; 62 layers of as many; 12 of 48 layers of 2 heads of 256.
  EXPECT_DOUBLE_EQ(book.model("zai-org/GLM-4.6-FP8")->kv_gb_per_token(), 376832e-9);
  EXPECT_DOUBLE_EQ(book.model("GLM-4.5")->kv_gb_per_token(), 376832e-9);
  EXPECT_DOUBLE_EQ(book.model("Qwen3-Coder-480B-A35B-Instruct")->kv_gb_per_token(), 253952e-9);
  EXPECT_DOUBLE_EQ(book.model("Qwen/Qwen3-Next-80B-A3B-Thinking")->kv_gb_per_token(), 24576e-9);
  EXPECT_DOUBLE_EQ(book.model("deepseek-ai/DeepSeek-V3.2-Exp")->kv_gb_per_token(), 70272e-9);
  for (const char* name :
       {"Qwen/Qwen3-Coder-30B-A3B-Instruct", "meta-llama/Llama-3.3-70B-Instruct",
        "moonshotai/Kimi-K2-Instruct-0905", "DeepSeek-V3.1-Terminus", "zai-org/GLM-4.5-Air",
        "Qwen/Qwen3-235B-A22B-Instruct-2507", "openai/gpt-oss-120b", "MiniMaxAI/MiniMax-M2"})
    EXPECT_NE(book.model(name), nullptr) << name;
  // Keys and values, 64 layers of 8 heads of 128, 2 bytes each.
  EXPECT_DOUBLE_EQ(book.model("nvidia/Qwen3-32B-NVFP4")->kv_gb_per_token(), 262144e-9);
}

// Tables write a card with its memory; one of other memory is another card.
TEST(Facts, MemoryAfterTheNameSelectsTheDevice) {
  const FactBook& facts = FactBook::built_in();
  EXPECT_EQ(facts.hardware("L4 24GB"), facts.hardware("L4"));
  EXPECT_EQ(facts.hardware("NVIDIA RTX 4090 24 GB"), facts.hardware("RTX 4090"));
  EXPECT_EQ(facts.hardware("A10G-24GB"), facts.hardware("A10G"));
  EXPECT_NE(facts.hardware("A100 PCIe 80GB"), facts.hardware("A100 PCIe 40GB"));
  EXPECT_EQ(facts.hardware("RTX 4090 48GB"), nullptr);
  EXPECT_EQ(facts.hardware("24GB"), nullptr);
}

TEST(Facts, AVendorAloneOrAnotherVendorsDeviceIsUnknown) {
  const FactBook& book = FactBook::built_in();
  for (const char* name : {"AMD", "Intel", "Nvidia", "Habana", "Intel A100", "AMD H100", "A11"})
    EXPECT_EQ(book.hardware(name), nullptr) << name;
  EXPECT_EQ(book.model("meta-llama/"), nullptr);
  EXPECT_NE(book.hardware("Intel Gaudi2"), nullptr);
}

TEST(Facts, ValuesOfAUserWinAndTheOthersStay) {
  FactBook book = FactBook::built_in();
  ASSERT_TRUE(
      book.add("[hardware H100]\nbandwidth_tb_s = 2.0 ; measured\n"
               "[model mine]\nparameters_b=1\nlayers=2\nkv_heads=3\nhead_dim=4\nhidden=6000\n"));
  const HardwareFacts* h100 = book.hardware("Nvidia H100 GPU");
  EXPECT_EQ(h100->bandwidth_tb_s, 2.0);
  EXPECT_EQ(h100->memory_gb, 80);
  EXPECT_EQ(book.values("hardware", "H100").at("bandwidth_tb_s").source, "measured");
  ASSERT_NE(book.model("mine"), nullptr);
  EXPECT_EQ(book.model("mine")->active_b, 1);
}

TEST(Facts, AnIncompleteSectionIsUnknown) {
  FactBook book;
  ASSERT_TRUE(book.add("[hardware mine]\ntflops = 100\n"));
  EXPECT_EQ(book.hardware("mine"), nullptr);
}

TEST(Facts, ErrorsNameTheLineAndChangeNothing) {
  FactBook book;
  const auto error_of = [&book](const char* text) {
    const Status status = book.add(text, "my.ini");
    return status ? std::string() : status.error().describe();
  };
  EXPECT_THAT(error_of("[model a]\nlayers = many\n"), HasSubstr("my.ini: line 2: layers needs"));
  EXPECT_THAT(error_of("[model a]\nlayers = -1\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("[model a]\ntflops = 1\n"), HasSubstr("a model has no 'tflops'"));
  EXPECT_THAT(error_of("layers = 3\n"), HasSubstr("expected a [section]"));
  EXPECT_THAT(error_of("[robot a]\n"), HasSubstr("[hardware NAME], [architecture NAME] or [change NAME]"));
  EXPECT_TRUE(book.model_names().empty());
}

TEST(Facts, RejectsContradictionsAtTheirLine) {
  FactBook book;
  const auto error_of = [&book](const std::string& text) {
    const Status status = book.add(text, "my.ini");
    return status ? std::string() : status.error().describe();
  };
  EXPECT_THAT(error_of("[model a]\nparameters_b = 8\nactive_b = 80\nlayers = 3\n"),
              HasSubstr("line 3: active_b 80 is above parameters_b 8"));
  EXPECT_THAT(error_of("[model a]\nexperts = 8\nexperts_used = 9\n"),
              HasSubstr("line 3: experts_used 9 is above experts 8"));
  EXPECT_THAT(error_of("[model a]\nheads = 28\nkv_heads = 8\n"),
              HasSubstr("line 2: heads 28 and kv_heads 8 do not go together"));
  EXPECT_THAT(error_of("[hardware g]\ntflops = 989\nfp8_tflops = 500\n"),
              HasSubstr("line 3: fp8_tflops 500 is below tflops 989"));
  EXPECT_THAT(error_of("[hardware g]\ntflops = 989\nbandwidth_tb_s = 3350\n"),
              HasSubstr("0.2952 FLOP per byte"));
  EXPECT_THAT(error_of("[hardware g]\nmemory_gb = 141000\n"), HasSubstr("is it in GB?"));
  EXPECT_TRUE(book.model_names().empty());
  EXPECT_TRUE(book.hardware_names().empty());
  // Chips that keep weights in on-chip memory are no mistake: 2.35 FLOP per byte.
  EXPECT_EQ(error_of("[hardware l]\ntflops = 188\nbandwidth_tb_s = 80\nmemory_gb = 0.23\n"), "");
  // A megabyte's number, and a rack's; sparsity and four bits in one, bandwidth in another unit.
  const std::string gpu = "[hardware h]\ntflops = 989\nbandwidth_tb_s = 3.35\n";
  EXPECT_THAT(error_of(gpu + "memory_gb = 8000\n"), HasSubstr("line 4: memory_gb 8000 is no"));
  EXPECT_THAT(error_of("[hardware h]\ntflops = 9889\nbandwidth_tb_s = 3.35\n"),
              HasSubstr("are 2952 FLOP per byte"));
  // 12 x 32 x 4096^2 are 6.4 x 10^9; an expert model may have every expert's, thrice at most.
  const std::string layers = "layers = 32\nhidden = 4096\n";
  EXPECT_THAT(
      error_of("[model m]\nparameters_b = 700\n" + layers),
      HasSubstr("line 2: parameters_b 700 and layers 32 of hidden 4096, which suggest 6.4"));
  EXPECT_THAT(error_of("[model n]\nparameters_b = 0.5\n" + layers),
              HasSubstr("line 2: parameters"));
  EXPECT_THAT(error_of("[model o]\nparameters_b = 700\nactive_b = 7\nexperts = 8\n" + layers),
              HasSubstr("parameters_b 700"));
  EXPECT_THAT(error_of("[model p]\nparameters_b = 700\nactive_b = 90\nexperts = 128\n" + layers),
              HasSubstr("line 3: active_b 90"));
  EXPECT_EQ(error_of("[model q]\nparameters_b = 46.7\nactive_b = 12.9\nexperts = 8\n" + layers),
            "");
  EXPECT_EQ(error_of("[model r]\nparameters_b = 46.7\nexperts = 8\n" + layers), "");
  // An on-chip memory's bandwidth, and a small model of which most is the vocabulary.
  EXPECT_EQ(error_of("[hardware i]\ntflops = 188\nbandwidth_tb_s = 80\nmemory_gb = 0.23\n"), "");
  EXPECT_EQ(error_of("[model s]\nparameters_b = 0.27\nlayers = 18\nhidden = 640\n"), "");
  // Values of an earlier file count: the later one tells which line brings the contradiction.
  EXPECT_EQ(error_of("[model b]\nparameters_b = 8\n"), "");
  EXPECT_THAT(error_of("# more\n[model b]\nactive_b = 9\n"), HasSubstr("line 3: active_b 9"));
  EXPECT_EQ(error_of("[model b]\nactive_b = 7\nheads = 28\nkv_heads = 3.5\n"), "");
}

}  // namespace
}  // namespace assay
