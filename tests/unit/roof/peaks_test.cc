#include "roof/peaks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "roof/collective.h"

namespace assay {
namespace {

DeviceRoof roof_of(const char* name, int64_t memory = 0, int64_t units = 0) {
  return device_roof(FactBook::built_in(),
                     {.name = name, .total_memory_bytes = memory, .multiprocessors = units});
}

OpWork product(ElementType math, double flop = 1) {
  return {.kind = OpWorkKind::kProduct, .matrix = true, .math = math, .flop = flop};
}

TEST(DeviceRoof, IsFoundByTheNameThatTracesHave) {
  const DeviceRoof h100 = roof_of("NVIDIA H100 80GB HBM3", 85045149696, 132);
  ASSERT_TRUE(h100.exists()) << h100.why_none;
  EXPECT_TRUE(h100.part.empty());
  EXPECT_DOUBLE_EQ(h100.memory_bytes_per_s, 3.35e12);
  EXPECT_DOUBLE_EQ(peak_flop_per_s(h100, product(ElementType::kBFloat16)), 989.4e12);
  EXPECT_DOUBLE_EQ(peak_flop_per_s(h100, product(ElementType::kTf32)), 494.7e12);
  EXPECT_DOUBLE_EQ(peak_flop_per_s(h100, product(ElementType::kFloat32)), 66.9e12);
  EXPECT_DOUBLE_EQ(peak_flop_per_s(h100, product(ElementType::kFloat8)), 1978.9e12);
  EXPECT_TRUE(std::isnan(peak_flop_per_s(h100, product(ElementType::kFloat4Pair))));
}

TEST(DeviceRoof, EveryRequestedCardHasOne) {
  for (const char* name : {"Tesla V100-SXM2-32GB",
                           "NVIDIA A100-SXM4-40GB",
                           "NVIDIA A100-SXM4-80GB",
                           "NVIDIA A100-PCIE-40GB",
                           "NVIDIA A10",
                           "NVIDIA L4",
                           "NVIDIA L40S",
                           "NVIDIA H100 PCIe",
                           "NVIDIA H100 NVL",
                           "NVIDIA H200",
                           "NVIDIA B200",
                           "NVIDIA B300",
                           "AMD Instinct MI100",
                           "AMD Instinct MI210",
                           "AMD Instinct MI250X",
                           "AMD Instinct MI300X",
                           "AMD Instinct MI325X",
                           "AMD Instinct MI355X",
                           "NVIDIA GeForce RTX 3090",
                           "NVIDIA GeForce RTX 4090",
                           "NVIDIA GeForce RTX 5090",
                           "AMD Instinct MI300X VF",
                           "NVIDIA H800",
                           "NVIDIA H20",
                           "Tesla T4",
                           "Tesla V100-PCIE-16GB",
                           "Tesla V100-PCIE-32GB",
                           "AMD Instinct MI300A",
                           "AMD Instinct MI350X"}) {
    EXPECT_TRUE(roof_of(name).exists()) << name;
  }
}

// 228 of the 304 compute units of an MI300X at its clock: 1307.4 TFLOPS times 0.75. Not those of
// its bigger sibling, whose name is as long.
TEST(DeviceRoof, SiblingsHaveTheirOwnPeaks) {
  const DeviceRoof apu = roof_of("AMD Instinct MI300A");
  EXPECT_NEAR(peak_flop_per_s(apu, product(ElementType::kBFloat16)), 1307.4e12 * 0.75, 0.1e12);
  EXPECT_DOUBLE_EQ(apu.memory_bytes_per_s, 5.3e12);
  const DeviceRoof pcie = roof_of("Tesla V100-PCIE-16GB");
  EXPECT_DOUBLE_EQ(peak_flop_per_s(pcie, product(ElementType::kFloat16)), 112e12);
  const DeviceRoof mi350 = roof_of("AMD Instinct MI350X");
  // 256 units of 256 FLOP a clock at 2.2 GHz.
  EXPECT_NEAR(peak_flop_per_s(mi350, product(ElementType::kFloat32)), 256 * 256 * 2.2e9, 0.1e12);
  EXPECT_TRUE(std::isnan(peak_flop_per_s(mi350, product(ElementType::kTf32))));
  const DeviceRoof t4 = roof_of("Tesla T4");
  EXPECT_DOUBLE_EQ(peak_flop_per_s(t4, product(ElementType::kInt8)), 130e12);
}

TEST(DeviceRoof, AnUnknownOneIsNamed) {
  EXPECT_NE(roof_of("NVIDIA Foo 9").why_none.find("\"NVIDIA Foo 9\""), std::string::npos);
  EXPECT_NE(roof_of("").why_none.find("does not name its GPU"), std::string::npos);
}

// One die of the two of an MI250X: programs see half of the card.
TEST(DeviceRoof, APartOfACardHasItsPart) {
  const DeviceRoof die = roof_of("AMD Instinct MI250X", 68719476736, 110);
  EXPECT_DOUBLE_EQ(die.memory_bytes_per_s, 3.2768e12 / 2);
  EXPECT_DOUBLE_EQ(peak_flop_per_s(die, product(ElementType::kFloat16)), 383.0e12 / 2);
  EXPECT_EQ(die.part, "50 % of the card's compute units and 50 % of its memory");
}

// A card as a trace describes it when a program has all of it.
DeviceProperties whole_card(const std::string& name) {
  const auto values = FactBook::built_in().values("hardware", name);
  const auto value = [&](const char* key) {
    return values.contains(key) ? values.at(key).value : 0.0;
  };
  return {.name = name,
          .total_memory_bytes = static_cast<int64_t>(value("memory_gb") * 1024 * 1024 * 1024),
          .multiprocessors = static_cast<int64_t>(value("compute_units"))};
}

// On whichever GPU the trace was recorded, faster cards of the data sheets are faster.
TEST(DeviceRoof, NamedCardsKeepTheOrderOfTheirDataSheets) {
  const FactBook& facts = FactBook::built_in();
  OpWork moves;
  moves.read_bytes = 1e9;
  const OpWork multiplies = product(ElementType::kFloat16, 1e12);
  std::vector<DeviceProperties> recorded = {{.total_memory_bytes = 85'045'149'696}};
  for (const std::string& name : facts.hardware_names()) recorded.push_back(whole_card(name));
  for (const DeviceProperties& device : recorded) {
    for (const std::string& name : facts.hardware_names()) {
      const DeviceRoof roof = device_roof(facts, device, name);
      ASSERT_TRUE(roof.exists()) << roof.why_none;
      const HardwareFacts& sheet = *facts.hardware(name);
      const std::string both = name + " for a trace of " + device.name;
      EXPECT_EQ(roof.part, "") << both;
      EXPECT_DOUBLE_EQ(roof_time(roof, moves).at_least_s(), 1e-3 / sheet.bandwidth_tb_s) << both;
      EXPECT_DOUBLE_EQ(roof_time(roof, multiplies).compute_s, 1 / sheet.tflops) << both;
    }
  }
}

TEST(DeviceRoof, NamedCardIsWholeUnlessTheTraceSaysPartition) {
  const FactBook& facts = FactBook::built_in();
  const DeviceProperties die = {
      .name = "AMD Instinct MI250X", .total_memory_bytes = 68'719'476'736, .multiprocessors = 110};
  EXPECT_DOUBLE_EQ(device_roof(facts, die, "MI250X").memory_bytes_per_s, 3.2768e12 / 2);
  EXPECT_DOUBLE_EQ(device_roof(facts, die, "MI300X").memory_bytes_per_s, 5.3e12);
  // ROCm leaves names out: the user names the GPU of the trace.
  DeviceProperties nameless = die;
  nameless.name.clear();
  EXPECT_DOUBLE_EQ(device_roof(facts, nameless, "MI250X").memory_bytes_per_s, 3.2768e12 / 2);
  // An H100's units are no equal part of an MI300X's.
  nameless.multiprocessors = 132;
  EXPECT_DOUBLE_EQ(device_roof(facts, nameless, "MI300X").memory_bytes_per_s, 5.3e12);
}

TEST(RoofTime, IsTheLongerOfComputeAndMemory) {
  const DeviceRoof a100 = roof_of("NVIDIA A100-SXM4-80GB");
  OpWork work = product(ElementType::kBFloat16, 312e9);  // 1 ms
  work.read_bytes = 2.039e9;                             // 1 ms
  work.write_bytes = 2.039e9;                            // and another
  const RoofTime time = roof_time(a100, work);
  EXPECT_DOUBLE_EQ(time.compute_s, 1e-3);
  EXPECT_DOUBLE_EQ(time.at_least_s(), 2e-3);
  EXPECT_FALSE(time.compute_bound());
  work.write_bytes = 0;
  work.flop *= 3;
  EXPECT_TRUE(roof_time(a100, work).compute_bound());
}

TEST(Collectives, BusFactorsAreThoseOfTheLibrariesOwnTests) {
  EXPECT_EQ(bus_factor("all_reduce", 8), 1.75);
  EXPECT_EQ(bus_factor("all_gather", 4), 0.75);
  EXPECT_EQ(bus_factor("broadcast", 8), 1);
  const MessageSize gathered = message_size("all_gather", "BFloat16", 100, 800, 8);
  EXPECT_EQ(gathered.bytes, 1600);
  EXPECT_EQ(gathered.factor, 0.875);
  EXPECT_EQ(message_size("all_reduce", "Float", -1, -1, 8).bytes, 0);
  EXPECT_EQ(message_size("all_reduce", "Unheard", 8, 8, 8).bytes, 0);
  // Tokens to experts: 100 go out, 140 come in; how many of them stay is not told.
  const MessageSize uneven = message_size("all_to_all", "BFloat16", 100, 140, 8);
  EXPECT_EQ(uneven.bytes, 280);
  EXPECT_EQ(uneven.factor, 0);
  EXPECT_EQ(message_size("all_to_all", "BFloat16", 100, 100, 8).factor, 0.875);
}

// Cards of 25 GB/s for each of eight GPUs. Two full machines: eight rings cross the border. One
// rank on each: one. All-to-all of 16: 8 of 15 parts leave by the rank's own card.
TEST(Collectives, GroupsOverMachinesAreBoundByTheirNetwork) {
  constexpr double kNic = 25e9;
  const auto bus = [](const char* kind, const char* ranks, int64_t size, int64_t machine = 8) {
    return network_bus_bytes_per_s(kind, place_of_group(ranks, size, machine), size, kNic);
  };
  // Of 1 byte for each of 16 ranks a machine sends half to the other one and gets half of the sum,
  // 1 in all, by eight cards: 1 / 8 of a card's second. As a ring counts it that is 2 * 15 / 16.
  EXPECT_DOUBLE_EQ(bus("all_reduce", "", 16), 8 * kNic * 2 * 15 / 16);
  EXPECT_DOUBLE_EQ(bus("all_reduce", "[0, 8, 16, 24]", 4), kNic);
  EXPECT_DOUBLE_EQ(bus("all_gather", "[0, 1, 8, 9]", 4), 2 * kNic * 3 / 4 * 2);
  EXPECT_DOUBLE_EQ(bus("broadcast", "[0, 1, 8, 9]", 4), 2 * kNic);
  EXPECT_DOUBLE_EQ(bus("all_to_all", "", 16), kNic * 15 / 8);
  EXPECT_DOUBLE_EQ(bus("all_gather", "", 8, 4), 4 * kNic * 7 / 8 * 2);  // machines of four
  EXPECT_EQ(bus("all_reduce", "[0, 1, 2, 3]", 4), 0);                   // one machine
  EXPECT_EQ(bus("all_reduce", "[0, 1, 8]", 3), 0);                      // uneven
  EXPECT_EQ(bus("all_reduce", "", 12), 0);                              // not told
  EXPECT_EQ(bus("send_recv", "[0, 8]", 2), 0);
}

// PyTorch writes down the first 30 ranks of a group.
TEST(Collectives, UsesTheListedRanksOfATruncatedGroup) {
  const GroupPlace strided = place_of_group("[0, 8, 16, 24, ...]", 32, 8);
  EXPECT_EQ(strided.machines, 32);
  EXPECT_EQ(strided.each, 1);
  const GroupPlace pairs = place_of_group("[0, 1, 8, 9, 16, ...]", 40, 8);
  EXPECT_EQ(pairs.machines, 20);
  EXPECT_EQ(pairs.each, 2);
  EXPECT_EQ(place_of_group("[0, 1, 8, ...]", 33, 8).each, 0);  // 33 ranks, two on each
  EXPECT_EQ(place_of_group("[1e300, 2]", 2, 8).machines, 1);   // no ranks: as if not told
}

TEST(DeviceRoof, TheCacheHasARateWhereItWasPublished) {
  const FactBook facts = FactBook::built_in();
  EXPECT_DOUBLE_EQ(device_roof(facts, {.name = "NVIDIA A100-SXM4-80GB"}).cache_bytes_per_s,
                   7.219e12);
  EXPECT_EQ(device_roof(facts, {.name = "NVIDIA H100 80GB HBM3"}).cache_bytes_per_s, 0);
  EXPECT_EQ(device_roof(facts, {.name = "NVIDIA A100-SXM4-80GB"}).nic_bytes_per_s, 25e9);
}

}  // namespace
}  // namespace assay
