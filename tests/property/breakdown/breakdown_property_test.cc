// Random traces against second, slower computations.

#include <algorithm>
#include <array>
#include <chrono>
#include <random>

#include "breakdown/breakdown.h"
#include "breakdown/lcs.h"
#include "breakdown/overhead.h"
#include "breakdown/structure.h"
#include "support/random.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using assay::testing::TraceMaker;

struct Scene {
  int64_t streams = 1;  // of compute
  bool split_comm = false;
};

// Random kernels and collectives. With split_comm every collective is given in two halves.
Trace random_trace(uint64_t seed, const Scene& scene) {
  Dice dice(seed);
  TraceMaker maker;
  maker.op(1, "aten::all", 0, 1'000'000);
  uint32_t id = 0;
  const auto add = [&](const char* name, int64_t stream, int64_t start, int64_t dur, int64_t lead) {
    ++id;
    maker.call(1, "cudaLaunchKernel", std::max<int64_t>(start - lead, 1), 1, id);
    maker.kernel(0, stream, name, start, dur, id);
  };
  for (int64_t stream = 0; stream < scene.streams; ++stream) {
    int64_t now = 100 + dice.below(50);
    for (int k = 0; k < 60; ++k) {
      const int64_t dur = 1 + dice.below(60);
      add("gemm", 7 + stream, now, dur, dice.below(80));
      now += dur + (dice.below(3) == 0 ? 0 : dice.below(90));
    }
  }
  int64_t now = 100;
  for (int k = 0; k < 20; ++k) {
    const int64_t dur = 2 + dice.below(150);
    const int64_t lead = dice.below(30);
    const int64_t half = dur / 2;
    if (scene.split_comm) {
      add("ncclDevKernel_AllReduce", 20, now, half, lead);
      add("ncclDevKernel_AllReduce", 20, now + half, dur - half, lead + half);
    } else {
      add("ncclDevKernel_AllReduce", 20, now, dur, lead);
    }
    now += dur + dice.below(100);
  }
  return maker.build();
}

BreakdownReport analyze(const Trace& trace) {
  const Links links = link_trace(trace);
  auto report = analyze_breakdown(trace, links, find_iterations(trace, links), BreakdownOptions{});
  EXPECT_TRUE(report.has_value());
  return *std::move(report);
}

TEST(BreakdownProperty, BubbleSplitsIntoNonNegativePartsNanosecondByNanosecond) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Trace trace = random_trace(seed, {.streams = 1 + static_cast<int64_t>(seed % 3)});
    const BreakdownReport report = analyze(trace);
    int64_t end_before = -1;
    for (const KernelLevel& row : report.rows) {
      if (!row.compute) continue;
      int64_t prep = 0;
      int64_t call = 0;
      int64_t wait = 0;
      int64_t alone = 0;
      int64_t copy = 0;
      for (int64_t t = end_before; end_before >= 0 && t < row.t_ks_ns; ++t) {
        const bool in_comm =
            std::any_of(report.rows.begin(), report.rows.end(), [t](const KernelLevel& other) {
              return other.comm && other.t_ks_ns <= t && t < other.t_ke_ns;
            });
        const bool in_copy =
            std::any_of(report.rows.begin(), report.rows.end(), [t](const KernelLevel& other) {
              return other.op_type == OpType::kCopy && other.t_ks_ns <= t && t < other.t_ke_ns;
            });
        const bool launched = t >= row.t_l_ns;
        if (in_comm) {
          ++(launched ? wait : alone);
        } else if (in_copy) {
          ++copy;
        } else {
          ++(launched ? call : prep);
        }
      }
      ASSERT_LE(row.prep_ns, prep) << "seed " << seed;
      ASSERT_LE(row.call_ns, call) << "seed " << seed;
      ASSERT_EQ(row.prep_ns + row.call_ns + row.other_idle_ns, prep + call) << "seed " << seed;
      ASSERT_EQ(row.comm_alone_ns, alone) << "seed " << seed;
      ASSERT_EQ(row.copy_ns, copy) << "seed " << seed;
      ASSERT_EQ(row.comm_wait_ns, wait) << "seed " << seed;
      end_before = std::max(end_before, row.t_ke_ns);
    }
  }
}

TEST(BreakdownProperty, BubblePartsTileTheBubblesKernelByKernel) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Trace trace = random_trace(seed, {.streams = 1 + static_cast<int64_t>(seed % 3)});
    const BreakdownReport report = analyze(trace);
    // A host that waits while collectives run moves part of prep to the wait.
    std::vector<Interval> blocked = blocked_host(trace, link_trace(trace));
    std::vector<KernelLevel> rows = report.rows;
    if (seed % 2 == 0) {
      blocked = {{300, 700}, {1200, 2600}};
      for (KernelLevel& row : rows) row.inner_bubble_ns = 0;
      measure_gpu(rows, blocked, {}, {}, true);
    }
    std::vector<std::array<int64_t, 4>> sums(rows.size());
    int64_t last_end = 0;
    for (const BubblePart& part : bubble_parts(rows, blocked, {})) {
      ASSERT_LT(part.span.start_ns, part.span.end_ns);
      ASSERT_GE(part.span.start_ns, last_end);
      last_end = part.span.end_ns;
      sums[part.row][static_cast<size_t>(part.kind)] += part.span.end_ns - part.span.start_ns;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].compute) continue;
      ASSERT_EQ(sums[i][0] + sums[i][1], rows[i].prep_ns + rows[i].call_ns + rows[i].other_idle_ns)
          << "seed " << seed << " row " << i;
      ASSERT_EQ(sums[i][3], rows[i].comm_alone_ns + rows[i].copy_ns) << "seed " << seed;
      ASSERT_EQ(sums[i][2], rows[i].comm_wait_ns) << "seed " << seed << " row " << i;
    }
  }
}

TEST(BreakdownProperty, OverlapIsTheUnionNanosecondByNanosecond) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Trace trace = random_trace(seed, {.streams = 2});
    for (const BreakdownReport report = analyze(trace); const KernelLevel& row : report.rows) {
      if (!row.compute) continue;
      int64_t beside = 0;
      for (int64_t t = row.t_ks_ns; t < row.t_ke_ns; ++t) {
        beside += std::any_of(report.rows.begin(), report.rows.end(), [t](const KernelLevel& o) {
          return o.comm && o.t_ks_ns <= t && t < o.t_ke_ns;
        });
      }
      ASSERT_EQ(row.overlap_ns, beside) << "seed " << seed;
    }
  }
}

TEST(BreakdownProperty, PartsAddUpToTheSpanExactly) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Trace trace = random_trace(seed, {.streams = 1 + static_cast<int64_t>(seed % 4)});
    const BreakdownReport report = analyze(trace);
    LevelSums sums;
    int64_t first = INT64_MAX;
    int64_t last = 0;
    for (const KernelLevel& row : report.rows) {
      if (!row.compute) continue;
      sums.add(row);
      first = std::min(first, row.t_ks_ns);
      last = std::max(last, row.t_ke_ns);
    }
    ASSERT_EQ(sums.dur_ns - sums.concurrent_ns + sums.bubble_ns(), last - first);
    if (seed % 4 == 0) {
      ASSERT_EQ(sums.concurrent_ns, 0) << "one stream runs in order";
    }
    int64_t spans = 0;
    for (const LevelSpan& span : report.spans) spans += span.span_ns;
    ASSERT_EQ(spans, last - first);
  }
}

TEST(BreakdownProperty, SplittingACollectiveChangesNothing) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const BreakdownReport whole = analyze(random_trace(seed, {.streams = 2}));
    const BreakdownReport split = analyze(random_trace(seed, {.streams = 2, .split_comm = true}));
    LevelSums a;
    LevelSums b;
    for (const KernelLevel& row : whole.rows) {
      if (row.compute) a.add(row);
    }
    for (const KernelLevel& row : split.rows) {
      if (row.compute) b.add(row);
    }
    ASSERT_EQ(a.overlap_ns, b.overlap_ns);
    ASSERT_EQ(a.comm_wait_ns, b.comm_wait_ns);
    ASSERT_EQ(a.launch_ns, b.launch_ns);
    ASSERT_LE(a.overlap_ns, a.dur_ns);
  }
}

TEST(BreakdownProperty, CellsHoldEveryActivityOnce) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const BreakdownReport report = analyze(random_trace(seed, {.streams = 3}));
    LevelSums rows;
    LevelSums cells;
    LevelSums kernels;
    for (const KernelLevel& row : report.rows) rows.add(row);
    for (const LevelCell& cell : report.cells) cells.add(cell.sums);
    for (const LevelKernelCell& cell : report.kernels) kernels.add(cell.sums);
    for (const LevelSums& other : {cells, kernels}) {
      ASSERT_EQ(rows.kernels, other.kernels);
      ASSERT_EQ(rows.dur_ns, other.dur_ns);
      ASSERT_EQ(rows.launch_ns, other.launch_ns);
      ASSERT_EQ(rows.overlap_ns, other.overlap_ns);
    }
  }
}

TEST(BreakdownProperty, RepeatingBlocksRepeatAndPlantedOnesAreFound) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    std::vector<uint32_t> block;
    const int64_t period = 4 + dice.below(12);
    for (int64_t i = 0; i < period; ++i) block.push_back(static_cast<uint32_t>(dice.below(6)));
    block[0] = 100;  // no smaller period inside
    std::vector<uint32_t> tokens = {50, 51};
    const int64_t repeats = 3 + dice.below(8);
    for (int64_t r = 0; r < repeats; ++r) tokens.insert(tokens.end(), block.begin(), block.end());
    tokens.push_back(52);
    const RepeatingBlock found = find_repeating_block(tokens);
    ASSERT_EQ(found.period, static_cast<size_t>(period));
    ASSERT_EQ(found.repeats, static_cast<size_t>(repeats));
    ASSERT_LE(found.begin + found.covered() + found.spare, tokens.size());
    for (size_t i = found.begin; i + found.period < found.begin + found.covered(); ++i) {
      ASSERT_EQ(tokens[i], tokens[i + found.period]);
    }
  }
}

std::vector<uint32_t> random_tokens(Dice& dice, int64_t length, int64_t names) {
  std::vector<uint32_t> tokens;
  for (int64_t i = 0; i < length; ++i) tokens.push_back(static_cast<uint32_t>(dice.below(names)));
  return tokens;
}

size_t common_length_of_table(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      table[i + 1][j + 1] =
          a[i] == b[j] ? table[i][j] + 1 : std::max(table[i][j + 1], table[i + 1][j]);
    }
  }
  return table[a.size()][b.size()];
}

TEST(BreakdownProperty, TheCommonLengthIsThatOfTheWholeTable) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const int64_t names = 2 + dice.below(40);
    const std::vector<uint32_t> a = random_tokens(dice, dice.below(200), names);
    const std::vector<uint32_t> b = random_tokens(dice, dice.below(200), names);
    ASSERT_EQ(common_length(a, b), common_length_of_table(a, b)) << seed;
    const CommonEnds ends = common_ends(a, b);
    ASSERT_LE(ends.begin + ends.end, std::min(a.size(), b.size()));
    ASSERT_LE(ends.begin + ends.end, common_length(a, b));
  }
}

TEST(BreakdownProperty, LengthsOfBeginsAndEndsAreThoseOfTheirOwnTables) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Dice dice(seed);
    const int64_t names = 2 + dice.below(20);
    const std::vector<uint32_t> a = random_tokens(dice, dice.below(90), names);
    const std::vector<uint32_t> b = random_tokens(dice, dice.below(150), names);
    const std::vector<size_t> begins = common_lengths(a, b);
    const SuffixLengths ends(a, b);
    ASSERT_EQ(begins.size(), a.size() + 1);
    for (size_t i = 0; i <= a.size(); ++i) {
      const auto middle = a.begin() + static_cast<std::ptrdiff_t>(i);
      ASSERT_EQ(begins[i], common_length_of_table({a.begin(), middle}, b)) << seed << " " << i;
      const size_t j = static_cast<size_t>(dice.below(static_cast<int64_t>(b.size()) + 1));
      const std::vector<uint32_t> end(b.begin() + static_cast<std::ptrdiff_t>(j), b.end());
      ASSERT_EQ(ends.at(i, j), common_length_of_table({middle, a.end()}, end)) << seed << " " << i;
    }
  }
}

// A run of blocks of `period` units: the first and the last block have other units in a part of
// them, so that the run begins and ends in the middle of a layer.
struct LongRun {
  std::vector<uint32_t> tokens;
  std::vector<BlockUnit> units;

  LongRun(size_t period, size_t whole, size_t differing) {
    Dice dice(period);
    std::vector<uint32_t> block = random_tokens(dice, static_cast<int64_t>(period), 200);
    block[0] = 999;
    std::vector<uint32_t> first = block;
    std::vector<uint32_t> last = block;
    for (size_t k = 0; k < differing; ++k) first[k] = last[period - 1 - k] = 1000;
    add(first);
    for (size_t k = 0; k < whole; ++k) add(block);
    add(last);
  }
  void add(const std::vector<uint32_t>& block) {
    for (const uint32_t token : block) {
      tokens.push_back(token);
      const std::string name = "k" + std::to_string(token);
      units.push_back({name, token % 10 == 3 ? OpType::kGemm : OpType::kVector, 10, false});
    }
  }
  double seconds() const {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(find_block_layers(tokens, units).layers.empty());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

// Where a block of 3000 units begins is tried at some of its places alone, and the layers around
// the run are found all the same.
TEST(BreakdownProperty, TheEndsOfARunOfLongBlocksAreLayers) {
  for (const size_t differing : {50u, 400u, 890u}) {
    const LongRun run(3000, 5, differing);
    EXPECT_EQ(find_block_layers(run.tokens, run.units).layers.size(), 7u) << differing;
  }
}

TEST(BreakdownProperty, LongerBlocksCostLittleMore) {
  const LongRun shorter(500, 400, 100);
  const LongRun longer(4000, 50, 800);
  const double usual = std::min(shorter.seconds(), shorter.seconds());
  EXPECT_LT(longer.seconds(), 15 * usual) << "as many units, blocks of 8 times the length";
}

}  // namespace
}  // namespace assay
