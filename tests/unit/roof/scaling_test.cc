#include "roof/scaling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "roof/collective.h"

namespace assay {
namespace {

DeviceRoof card(const std::string& name) {
  return device_roof(FactBook::built_in(), {.name = name});
}
GpuScaling scaling(const std::string& from, const std::string& to, double ramp_s = 0) {
  return {FactBook::built_in(), card(from), card(to), ramp_s};
}

OpWork product(double m, double n, double k, ElementType math = ElementType::kBFloat16) {
  const double size = math == ElementType::kFloat8 ? 1 : 2;
  return {.kind = OpWorkKind::kProduct,
          .matrix = true,
          .math = math,
          .flop = 2 * m * n * k,
          .read_bytes = size * (m * k + n * k),
          .write_bytes = 2 * m * n};
}
OpWork stream(double bytes) { return {.kind = OpWorkKind::kElementwise, .read_bytes = bytes}; }

TEST(Scaling, OfACardToItselfIsExactlyOne) {
  for (const std::string& name : FactBook::built_in().hardware_names()) {
    const GpuScaling own = scaling(name, name, 2.5e-6);
    if (!GpuScaling::missing(own.to()).empty()) continue;
    EXPECT_EQ(own.change(), GpuChange::kNone) << name;
    for (const OpWork& work :
         {product(64, 64, 64), product(8192, 8192, 8192), stream(1e3), stream(1e9)}) {
      const KernelScale scale = own.known(work);
      EXPECT_EQ(scale.low, 1) << name;
      EXPECT_EQ(scale.middle, 1) << name;
      EXPECT_EQ(scale.high, 1) << name;
    }
    EXPECT_EQ(own.unknown().low, 1);
    EXPECT_EQ(own.unknown().high, 1);
    EXPECT_EQ(own.transfer(1e6).high, 1);
    EXPECT_EQ(own.half_width({1, 1, 1, 1, 1, 1, 1, 1, 1}), 0);
  }
}

// H100: 3 us + 2^40 FLOP / 989.4 TFLOP/s + 3 * 2^27 bytes / 3.35 TB/s = 3 + 1111.29 + 120.19 us.
// B200: 3 + 2^40 / 2250e12 + 3 * 2^27 / 7.7e12 = 3 + 488.67 + 52.29 us.
TEST(Scaling, IsTheSumOfFixedPartArithmeticAndMemory) {
  const KernelScale scale = scaling("H100", "B200").known(product(8192, 8192, 8192));
  EXPECT_NEAR(scale.middle, 543.96 / 1234.48, 1e-4);
  EXPECT_NEAR(scale.ramp, 3 / 1234.48, 1e-4);
  EXPECT_NEAR(scale.compute, 1111.29 / 1234.48, 1e-4);
  EXPECT_NEAR(scale.memory, 120.19 / 1234.48, 1e-4);
}

// A stream on H200 for H100: the ramp of 1.4 us stays, 1 GB goes from 298.5 to 208.3 us.
TEST(Scaling, OfAStreamFollowsBandwidthButForItsRamp) {
  EXPECT_NEAR(scaling("H100", "H200").known(stream(1e9)).middle, 209.73 / 299.91, 1e-4);
  EXPECT_NEAR(scaling("H100", "H200").known(stream(100)).middle, 1, 1e-4);
  // The recorded GPU's own ramp: 2.8 us and 1.4 us.
  EXPECT_NEAR(scaling("H100", "H200", 2.8e-6).known(stream(100)).middle, 0.5, 1e-4);
}

TEST(Scaling, ThereAndBackAgainIsOne) {
  for (const char* other : {"H200", "B200", "L40S", "MI300X"}) {
    const OpWork work = product(512, 4096, 4096);
    EXPECT_NEAR(
        scaling("H100", other).known(work).middle * scaling(other, "H100").known(work).middle, 1,
        1e-12);
    const KernelScale unknown = scaling("H100", other).unknown();
    EXPECT_NEAR(unknown.low * scaling(other, "H100").unknown().high, 1, 1e-12);
    EXPECT_LE(unknown.low, unknown.middle);
    EXPECT_LE(unknown.middle, unknown.high);
  }
}

TEST(Scaling, NamesWhatChanges) {
  const auto change = [](const char* a, const char* b) { return scaling(a, b).change(); };
  EXPECT_EQ(change("H100", "H200"), GpuChange::kDie);
  EXPECT_EQ(change("B200", "B300"), GpuChange::kDie);
  EXPECT_EQ(change("A100-80GB", "H100"), GpuChange::kGeneration);
  EXPECT_EQ(change("H100", "L40S"), GpuChange::kSegment);
  EXPECT_EQ(change("H100", "MI300X"), GpuChange::kMaker);
  // Nothing is known of the architecture: the widest.
  EXPECT_EQ(change("H100", "Gaudi2"), GpuChange::kMaker);
  EXPECT_EQ(GpuScaling::missing(card("Gaudi2")), "architecture, fabric, fp32_tflops");
  // A part of a card is another device than the whole of it.
  const DeviceRoof part = device_roof(
      FactBook::built_in(),
      {.name = "AMD Instinct MI250", .total_memory_bytes = 68702699520, .multiprocessors = 104});
  EXPECT_EQ(change_between(part, card("MI250")), GpuChange::kDie);
}

// FP8 on an A100 runs in BF16: 312 TFLOP/s. A card that has the units, but no published peak, gives
// nothing.
TEST(Scaling, TakesTheNextWiderTypeWhereUnitsAreMissing) {
  const OpWork fp8 = product(4096, 4096, 4096, ElementType::kFloat8);
  EXPECT_EQ(scaling("H100", "A100-80GB").lacking(fp8), "fp8");
  EXPECT_TRUE(scaling("H100", "A100-80GB").covers(fp8));
  EXPECT_EQ(usable_flop_per_s(card("A100-80GB"), fp8), 312e12);
  EXPECT_EQ(scaling("H100", "L40S").lacking(fp8), "");
  const GpuScaling max_q = scaling("H100", "RTX PRO 6000 Max-Q");
  EXPECT_EQ(max_q.lacking(fp8), "");
  EXPECT_FALSE(max_q.covers(fp8));
}

TEST(Scaling, OfATransferIsARangeWhereTheFabricChanges) {
  const GpuScaling same = scaling("H100", "B200");
  // 20 us + 90 MB at 450 and 900 GB/s.
  EXPECT_NEAR(same.transfer(90e6).middle, 120.0 / 220, 1e-9);
  EXPECT_EQ(same.transfer(90e6).low, same.transfer(90e6).high);
  const GpuScaling other = scaling("H100", "L40S");
  EXPECT_TRUE(other.fabric_changes());
  EXPECT_LT(other.transfer(90e6).low * 5, other.transfer(90e6).high);
  // The user knows the link: 45 GB/s.
  EXPECT_NEAR(other.transfer(90e6, 45e9).middle, 2020.0 / 220, 1e-9);
  EXPECT_EQ(other.transfer(90e6, 45e9).low, other.transfer(90e6, 45e9).high);
}

// ---- measured kernels ----

const std::map<std::string, std::string> kColumns = {
    {"a100", "A100-80GB"}, {"l40s", "L40S"}, {"rtxpro", "RTX PRO 6000"}, {"h100", "H100"},
    {"h200", "H200"},      {"b200", "B200"}, {"b300", "B300"},           {"gb200", "GB200"},
    {"gb300", "GB300"},    {"a40", "A40"}};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == ',') {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  return out;
}

OpWork measured_work(const std::string& kind, const std::map<std::string, std::string>& row) {
  const auto number = [&row](const char* name) { return std::stod(row.at(name)); };
  if (kind == "gemm") {
    return product(number("m"), number("n"), number("k"),
                   row.at("d") == "fp8" ? ElementType::kFloat8 : ElementType::kBFloat16);
  }
  if (kind == "streams") return stream(number("bytes"));
  const double b = number("b"), h = number("h"), kv = number("kv"), d = number("d");
  const double s = number("isl"), p = number("step");
  OpWork work{.kind = OpWorkKind::kAttention, .matrix = true, .math = ElementType::kBFloat16};
  const bool prefill = kind == "attention_context";
  work.flop = prefill ? 2 * b * h * d * s * (s + 2 * p) : 4 * b * h * d * (s + p);
  work.read_bytes = 2 * b * d * ((prefill ? s : 1) * 2 * h + 2 * (s + p) * kv);
  return work;
}

struct Errors {
  std::vector<double> logs;
  double percent(double quantile) {
    std::sort(logs.begin(), logs.end());
    const size_t at =
        std::min(logs.size() - 1, static_cast<size_t>(quantile * static_cast<double>(logs.size())));
    return 100 * (std::exp(logs[at]) - 1);
  }
};

std::map<std::string, Errors> errors_of(const std::filesystem::path& folder,
                                        const std::string& kind) {
  std::map<std::pair<std::string, std::string>, GpuScaling> pairs;
  for (const auto& [a, from] : kColumns) {
    for (const auto& [b, to] : kColumns) {
      if (a != b) pairs.emplace(std::pair(a, b), scaling(from, to));
    }
  }
  std::map<std::string, Errors> errors;
  std::ifstream file(folder / (kind + ".csv"));
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells(line);
  while (std::getline(file, line)) {
    std::map<std::string, std::string> row;
    const std::vector<std::string> values = cells(line);
    for (size_t i = 0; i < names.size(); ++i) row[names[i]] = values[i];
    const bool collective = kind == "collectives";
    const OpWork work = collective ? OpWork{} : measured_work(kind, row);
    const double bus_bytes =
        collective ? std::stod(row["bytes"]) * bus_factor(row["op"], std::stol(row["n"])) : 0;
    // A row that is faster than the peak is a wrong measurement.
    const auto usable = [&](const std::string& gpu) {
      const auto cell = row.find(gpu);
      return cell != row.end() && !cell->second.empty() &&
             std::stod(cell->second) * 1e-3 >=
                 work.flop / usable_flop_per_s(card(kColumns.at(gpu)), work);
    };
    std::map<std::string, double> ms;
    for (const auto& [gpu, name] : kColumns) {
      if (usable(gpu)) ms[gpu] = std::stod(row[gpu]);
    }
    for (const auto& [a, from_ms] : ms) {
      for (const auto& [b, to_ms] : ms) {
        if (a == b) continue;
        const GpuScaling& pair = pairs.at({a, b});
        // The rule alone, also where the fabric changes.
        const double scale =
            collective ? pair.transfer(bus_bytes, card(kColumns.at(b)).link_bytes_per_s).middle
                       : pair.known(work).middle;
        errors[std::string(gpu_change_name(pair.change()))].logs.push_back(
            std::abs(std::log(from_ms * scale / to_ms)));
      }
    }
  }
  return errors;
}

struct Expected {
  const char* kind;
  const char* change;
  double half;
  double nine_tenths;
};

void expect_errors(const std::filesystem::path& folder, const std::vector<Expected>& all) {
  for (const Expected& each : all) {
    auto errors = errors_of(folder, each.kind);
    SCOPED_TRACE(std::string(each.kind) + ", " + each.change);
    ASSERT_FALSE(errors[each.change].logs.empty());
    EXPECT_NEAR(errors[each.change].percent(0.5), each.half, 1);
    EXPECT_NEAR(errors[each.change].percent(0.9), each.nine_tenths, 2);
  }
}

// Percent off, by an independent implementation in Python.
TEST(Scaling, IsAsFarOffTheMeasuredKernelsAsCalibrated) {
  expect_errors(std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/data/scaling",
                {{"gemm", "die", 5, 20},
                 {"gemm", "generation", 15, 54},
                 {"gemm", "segment", 23, 105},
                 {"attention_context", "die", 5, 27},
                 {"attention_context", "generation", 21, 97},
                 {"attention_generation", "die", 3, 23},
                 {"attention_generation", "generation", 28, 88},
                 {"streams", "generation", 13, 32},
                 {"collectives", "die", 3, 10},
                 {"collectives", "generation", 26, 72}});
}

TEST(Scaling, IsAsFarOffTheWholeSampleAsCalibrated) {
  const std::filesystem::path folder =
      std::filesystem::path(ASSAY_SOURCE_DIR) / "../shared/spec/hardware/data";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the whole sample is not here";
  expect_errors(folder, {{"gemm", "die", 5, 21},
                         {"gemm", "generation", 14, 52},
                         {"gemm", "segment", 23, 109},
                         {"attention_context", "die", 6, 27},
                         {"attention_context", "generation", 20, 95},
                         {"attention_generation", "die", 3, 22},
                         {"attention_generation", "generation", 28, 85},
                         {"streams", "generation", 13, 31},
                         {"collectives", "die", 3, 9},
                         {"collectives", "generation", 26, 71}});
}

}  // namespace
}  // namespace assay
