// Row extraction against a quadratic reference, and the invariants of spec/overhead 8, on random
// traces with nested and overlapping frames, several threads, graphs, copies, orphans and clock
// trouble.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "overhead/overhead.h"
#include "overhead/unique_kernels.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr uint32_t kSeeds = 800;

class Random {
 public:
  explicit Random(uint32_t seed) : rng_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }
  const char* pick(std::initializer_list<const char*> names) {
    return names.begin()[below(static_cast<int64_t>(names.size()))];
  }

 private:
  std::mt19937_64 rng_;
};

void add_span(Random& random, TraceMaker& maker, int64_t thread, int64_t from, int64_t to) {
  const int64_t start = from + random.below((to - from) / 4 + 1);
  const int64_t dur = random.below(to - start + 1);
  switch (random.below(3)) {
    case 0:
      // Frames need not nest.
      maker.frame(thread, random.pick({"nn.Module: A_0", "f.py(3): g"}), start,
                  dur + random.below(200));
      break;
    default:
      maker.op(
          thread,
          random.pick({"aten::mm", "aten::add", "MmBackward0", "lib::custom", "ProfilerStep#3"}),
          start, dur);
  }
  if (dur > 50 && random.below(10) < 8) add_span(random, maker, thread, start, start + dur);
  if (dur > 50 && random.below(10) < 4) {
    add_span(random, maker, thread, start + dur / 2, start + dur);
  }
}

Trace random_trace(uint32_t seed, bool with_ops) {
  Random random(seed);
  TraceMaker maker;
  uint32_t correlation = 0;
  for (int64_t round = 0; round < 4 + random.below(12); ++round) {
    const int64_t thread = 1 + random.below(3);
    const int64_t from = random.below(100'000);
    const int64_t to = from + 100 + random.below(3'000);
    if (with_ops) add_span(random, maker, thread, from, to);
    if (random.below(3) == 0) maker.annotation(thread, "aten::range", from, to - from);
    if (random.below(3) == 0) maker.annotation(thread, "label", from, random.below(4'000));
    for (int64_t launch = 0; launch < random.below(5); ++launch) {
      ++correlation;
      const int64_t call_ns = from + random.below(to - from);
      const bool graph = random.below(6) == 0;
      if (random.below(8) > 0) {
        maker.call(thread, graph ? "cudaGraphLaunch" : "cudaLaunchKernel", call_ns,
                   random.below(300), correlation);
      }
      if (random.below(6) == 0) {
        maker.copy(0, 7, "Memcpy DtoD", call_ns + random.below(900), 10, correlation);
      }
      for (int64_t k = 0; k < (graph ? random.below(4) : 1); ++k) {
        maker.kernel(random.below(2), 7 + random.below(2),
                     random.pick({"void f<int>(int)", "void cutlass::Kernel<x>(P)", "nvjet_a"}),
                     call_ns - 11'000 * random.below(2) + random.below(12'000), random.below(900),
                     correlation);
      }
    }
    if (random.below(3) == 0) {
      maker.call(thread, "cudaDeviceSynchronize", from + random.below(3'000), random.below(5'000),
                 0);
    }
  }
  return maker.build();
}

Windows random_windows(uint32_t seed) {
  Random random(seed + 77);
  Windows windows{.source = WindowSource::kLabel, .windows = {}};
  int64_t at = random.below(20'000);
  while (at < 100'000) {
    const int64_t end = at + 1 + random.below(30'000);
    windows.windows.push_back({"w", at, end});
    at = end + random.below(5'000);
  }
  return windows;
}

// ---- the quadratic reference
// ---------------------------------------------------------------------

bool starts_with(const Trace& trace, StringId name, std::string_view prefix) {
  return trace.text(name).starts_with(prefix);
}

// Latest-starting frame (of equal starts any) open at a time; INT64_MAX without one.
int64_t innermost_frame(const Trace& trace, ThreadId thread, int64_t time_ns) {
  int64_t best = INT64_MAX;
  for (size_t f = 0; f < trace.frames.size(); ++f) {
    const int64_t start = trace.frames.start_ns[f];
    if (trace.frames.thread[f] != thread || start > time_ns) continue;
    if (start + trace.frames.dur_ns[f] <= time_ns) continue;
    if (best == INT64_MAX || start > best) best = start;
  }
  return best;
}

int64_t outermost_frame(const Trace& trace, ThreadId thread, int64_t time_ns) {
  int64_t best = INT64_MAX;
  for (size_t f = 0; f < trace.frames.size(); ++f) {
    const int64_t start = trace.frames.start_ns[f];
    if (trace.frames.thread[f] != thread || start > time_ns) continue;
    if (start + trace.frames.dur_ns[f] > time_ns) best = std::min(best, start);
  }
  return best;
}

// The operators around a call, innermost first, steps left out.
std::vector<OpId> chain(const Trace& trace, const Links& links, OpId op) {
  std::vector<OpId> ops;
  for (; op; op = links.op_parent[op.index()]) {
    if (!starts_with(trace, trace.ops.name[op.index()], "ProfilerStep#")) ops.push_back(op);
  }
  return ops;
}

struct Expected {
  OpId op;
  int64_t t_py_ns = 0;
  int64_t t_dispatch_ns = 0;
  int64_t root_ns = 0;
  int64_t py_ns = 0;  // where exclusive T_Py may begin
  bool without_py = false;
  bool single_launch = false;
};

Expected expect_host(const Trace& trace, const Links& links, ApiCallId call) {
  Expected expected;
  const int64_t call_ns = trace.api_calls.start_ns[call.index()];
  const ThreadId thread = trace.api_calls.thread[call.index()];
  expected.root_ns = std::min(call_ns, outermost_frame(trace, thread, call_ns));
  const std::vector<OpId> around = chain(trace, links, links.call_op[call.index()]);
  if (around.empty()) return expected;
  expected.root_ns = std::min(expected.root_ns, trace.ops.start_ns[around.back().index()]);
  const auto aten = std::find_if(around.begin(), around.end(), [&](OpId op) {
    return starts_with(trace, trace.ops.name[op.index()], "aten::");
  });
  expected.op = aten != around.end() ? *aten : around.front();
  const int64_t start_ns = trace.ops.start_ns[expected.op.index()];
  expected.t_dispatch_ns = call_ns - start_ns;

  int64_t torch_ns = innermost_frame(trace, thread, start_ns);
  if (torch_ns == INT64_MAX) {
    bool above = false;
    for (OpId op : around) {
      if (above && torch_ns == INT64_MAX &&
          !starts_with(trace, trace.ops.name[op.index()], "aten::")) {
        torch_ns = trace.ops.start_ns[op.index()];
      }
      above |= op == expected.op;
    }
  }
  expected.without_py = torch_ns == INT64_MAX;
  expected.py_ns = expected.without_py ? start_ns : torch_ns;
  for (size_t o = 0; o < around.back().index() && !expected.without_py; ++o) {
    const std::vector<OpId> above = chain(trace, links, OpId(o));
    const bool outermost = !above.empty() && above.back() == OpId(o);
    if (!outermost || trace.ops.thread[o] != thread) continue;
    expected.py_ns = std::min(start_ns, std::max(expected.py_ns, trace.end_ns(OpId(o))));
  }
  if (!expected.without_py) expected.t_py_ns = start_ns - torch_ns;

  size_t launches = 0;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    if (links.activities_of(ApiCallId(c)).empty()) continue;
    for (OpId op = links.call_op[c]; op; op = links.op_parent[op.index()]) {
      launches += op == expected.op ? 1 : 0;
    }
  }
  expected.single_launch = launches == 1;
  return expected;
}

TEST(HostOverheadRowsProperty, AgreeWithAQuadraticReference) {
  uint64_t with_py = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Trace trace = random_trace(seed, true);
    if (trace.ops.size() == 0) continue;
    const Links links = link_trace(trace);
    for (const HostOverheadRow& row :
         extract_overhead_rows(trace, links, random_windows(seed), {}).rows) {
      if (!row.call) continue;
      const Expected expected = expect_host(trace, links, row.call);
      ASSERT_EQ(row.op, expected.op) << seed;
      ASSERT_EQ(row.root_ns, expected.root_ns) << seed;
      ASSERT_EQ(row.single_launch, expected.single_launch) << seed;
      if (row.follower) continue;
      ASSERT_EQ(row.cost.t_py_ns, expected.t_py_ns) << seed;
      ASSERT_EQ(row.py_ns, expected.op ? expected.py_ns : row.entry_ns) << seed;
      ASSERT_EQ(row.cost.t_dispatch_ns, expected.t_dispatch_ns) << seed;
      ASSERT_EQ(row.without_py, expected.without_py && expected.op) << seed;
      with_py += row.cost.t_py_ns > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(with_py, 500u);
}

// ---- invariants
// ----------------------------------------------------------------------------------

void expect_consistent(const HostOverheadWindow& window) {
  const HostOverheadSums& sums = window.sums;
  EXPECT_EQ(sums.ft_ns + sums.ct_ns + sums.kt_ns, sums.t_orch_ns);
  EXPECT_EQ(sums.t_py_ns + sums.ft_dispatch_ns, sums.ft_ns);
  EXPECT_GE(sums.ct_ns, 0);
  EXPECT_EQ(sums.hdbi.has_value(), sums.n > 0 && sums.t_orch_ns > 0);
  const ExclusiveOverhead& tiles = window.exclusive;
  EXPECT_EQ(tiles.py_ns + tiles.dispatch_ns + tiles.call_ns, tiles.total_ns);
  EXPECT_GE(
      std::min({tiles.py_ns, tiles.dispatch_ns, tiles.call_ns, tiles.between_ns, tiles.waiting_ns}),
      0);
  EXPECT_LE(tiles.total_ns + tiles.between_ns + tiles.waiting_ns, tiles.threads_span_ns);
  const HostOverheadOrphans& orphans = window.orphans;
  EXPECT_EQ(sums.n, sums.n_launch + orphans.without_call + orphans.graph_followers +
                        orphans.shared_followers);
  EXPECT_LE(orphans.without_op + orphans.without_py, sums.n_launch);
}

TEST(HostOverheadProperty, PartsAddUpAndNoRankIsLost) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Trace trace = random_trace(seed, seed % 4 != 0);
    const Links links = link_trace(trace);
    HostOverheadOptions options;
    constexpr HostOverheadMode kModes[] = {HostOverheadMode::kExclusive, HostOverheadMode::kPaper,
                                           HostOverheadMode::kCode};
    options.mode = kModes[seed % 3];
    options.count_copies = seed % 4 == 1;
    options.base_weighting = seed % 5 < 2 ? BaseWeighting::kKernel : BaseWeighting::kInvocation;
    const auto report = analyze_overhead(trace, links, random_windows(seed), options);
    ASSERT_TRUE(report);
    expect_consistent(report->whole);
    const bool literal = is_literal(options.mode);
    EXPECT_EQ(literal ? report->whole.literal.t_orch_ns : report->whole.exclusive.total_ns,
              report->whole.sums.t_orch_ns);
    uint64_t in_windows = 0;
    int64_t orch_ns = 0;
    for (const HostOverheadWindow& window : report->windows) {
      expect_consistent(window);
      EXPECT_EQ(literal ? window.literal.t_orch_ns : window.exclusive.total_ns,
                window.sums.t_orch_ns);
      in_windows += window.sums.n;
      orch_ns += window.sums.t_orch_ns;
    }
    EXPECT_LE(orch_ns, report->whole.sums.t_orch_ns);
    const auto outside =
        std::count_if(report->rows.begin(), report->rows.end(),
                      [](const HostOverheadRow& row) { return row.window == UINT32_MAX; });
    EXPECT_EQ(in_windows + static_cast<uint64_t>(outside), report->whole.sums.n) << seed;
    EXPECT_EQ(report->rows.size(), report->whole.sums.n);
  }
}

TEST(HostOverheadProperty, FamiliesAddUpToTheWhole) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Trace trace = random_trace(seed, true);
    const auto report = analyze_overhead(trace, link_trace(trace), random_windows(seed), {});
    ASSERT_TRUE(report);
    HostOverheadSums sums;
    for (const FamilyOverhead& family : report->families) {
      sums.n += family.kernels;
      sums.t_py_ns += family.t_py_ns;
      sums.ft_dispatch_ns += family.ft_dispatch_ns;
      sums.ct_ns += family.ct_ns;
      sums.kt_ns += family.kt_ns;
      sums.t_orch_ns += family.t_orch_ns;
      sums.t_device_ns += family.t_device_ns;
    }
    const HostOverheadSums& whole = report->whole.sums;
    EXPECT_EQ(sums.n, whole.n);
    EXPECT_EQ(sums.t_py_ns, whole.t_py_ns);
    EXPECT_EQ(sums.ft_dispatch_ns, whole.ft_dispatch_ns);
    EXPECT_EQ(sums.ct_ns, whole.ct_ns);
    EXPECT_EQ(sums.kt_ns, whole.kt_ns);
    EXPECT_EQ(sums.t_orch_ns, whole.t_orch_ns);
    EXPECT_EQ(sums.t_device_ns, whole.t_device_ns);
  }
}

// Tiles may not overlap: no instant of a thread is charged twice.
TEST(HostOverheadProperty, TilesOfAThreadAreDisjoint) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Trace trace = random_trace(seed, true);
    const Links links = link_trace(trace);
    const Windows windows = random_windows(seed);
    const auto report = analyze_overhead(trace, links, windows, {});
    ASSERT_TRUE(report);
    // Charged time of a thread cannot exceed what lies between its first root and last call end,
    // and all threads together cannot exceed the sum of those.
    std::map<ThreadId, std::pair<int64_t, int64_t>> spans;
    for (const HostOverheadRow& row : report->rows) {
      if (!row.owns_call()) continue;
      const auto [place, added] = spans.try_emplace(trace.api_calls.thread[row.call.index()],
                                                    row.root_ns, trace.end_ns(row.call));
      place->second.first = std::min(place->second.first, row.root_ns);
      place->second.second = std::max(place->second.second, trace.end_ns(row.call));
    }
    int64_t span_ns = 0;
    for (const auto& [thread, span] : spans) span_ns += span.second - span.first;
    const ExclusiveOverhead& overhead = report->whole.exclusive;
    EXPECT_LE(overhead.total_ns + overhead.between_ns + overhead.waiting_ns, span_ns);
    EXPECT_LE(report->whole.sums.t_orch_ns, span_ns);
    EXPECT_LE(report->whole.exclusive.threads_span_ns, span_ns);
    // A window's tiles are part of the whole's, whatever they are charged to: a window does not see
    // the launches before it, so that Python there may be other work in the whole.
    int64_t windows_ns = 0;
    for (const HostOverheadWindow& window : report->windows) {
      windows_ns +=
          window.exclusive.total_ns + window.exclusive.between_ns + window.exclusive.waiting_ns;
    }
    EXPECT_LE(windows_ns, overhead.total_ns + overhead.between_ns + overhead.waiting_ns) << seed;
  }
}

// Spec/flow 7, written out: only the first launch of an operator is charged for Python, and never
// for what happened before the launch or the operator before it.
TEST(HostOverheadProperty, PythonIsChargedOnceAndNotBeforeTheLastLaunch) {
  uint64_t charged = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Trace trace = random_trace(seed, true);
    const Links links = link_trace(trace);
    const auto report = analyze_overhead(trace, links, random_windows(seed), {});
    ASSERT_TRUE(report);
    for (const HostOverheadRow& row : report->rows) {
      if (!row.owns_call()) continue;
      int64_t begin_ns = row.py_ns;
      for (const HostOverheadRow& other : report->rows) {
        const bool before =
            other.owns_call() && other.call < row.call &&
            trace.api_calls.thread[other.call.index()] == trace.api_calls.thread[row.call.index()];
        if (before) begin_ns = std::max(begin_ns, trace.end_ns(other.call));
      }
      EXPECT_LE(row.exclusive.py_ns, std::max<int64_t>(0, row.entry_ns - begin_ns)) << seed;
      EXPECT_LE(row.exclusive.py_ns, row.cost.t_py_ns) << seed;
      // Of a backward pass the engine's way to its operator is dispatch, too.
      const int64_t call_ns = trace.api_calls.start_ns[row.call.index()];
      EXPECT_LE(row.exclusive.dispatch_ns, call_ns - row.entry_ns) << seed;
      EXPECT_LE(row.exclusive.py_ns + row.exclusive.dispatch_ns,
                row.cost.t_py_ns + row.cost.t_dispatch_ns)
          << seed;
      charged += row.exclusive.py_ns > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(charged, 200u);
}

std::vector<KernelCost> random_costs(Random& random) {
  std::vector<KernelCost> rows(1 + static_cast<size_t>(random.below(12)));
  for (KernelCost& row : rows) {
    row.library = random.below(2) == 0;
    row.invocations = 1 + static_cast<uint64_t>(random.below(9));
    row.t_py_ns = random.below(5'000);
    row.t_dispatch_ns = 200 + random.below(20'000);
    row.t_launch_ns = random.below(9'000);
    row.dur_ns = 1 + random.below(50'000);
  }
  return rows;
}

uint64_t launches(const std::vector<KernelCost>& rows) {
  return std::accumulate(rows.begin(), rows.end(), uint64_t{0},
                         [](uint64_t sum, const KernelCost& row) { return sum + row.invocations; });
}

TEST(SumOverheadProperty, InvariantsOfTheEquations) {
  Random random(4711);
  for (int round = 0; round < 500; ++round) {
    std::vector<KernelCost> rows = random_costs(random);
    const uint64_t n = launches(rows);
    const HostOverheadMode mode =
        round % 2 == 0 ? HostOverheadMode::kPaper : HostOverheadMode::kCode;
    const int64_t base = dispatch_base(rows, BaseWeighting::kInvocation).value_or(0);
    const HostOverheadSums sums = sum_overhead(rows, mode, base, 4500, n);

    std::vector<KernelCost> scaled = rows;
    for (KernelCost& row : scaled) {
      row.t_py_ns *= 7;
      row.t_dispatch_ns *= 7;
      row.t_launch_ns = *row.t_launch_ns * 7;
      row.dur_ns *= 7;
    }
    EXPECT_NEAR(*sum_overhead(scaled, mode, base * 7, 4500 * 7, n).hdbi, *sums.hdbi, 1e-12);

    EXPECT_LT(*sum_overhead(rows, mode, base, 4501, n).hdbi, *sums.hdbi);

    std::vector<KernelCost> slower = rows;
    for (KernelCost& row : slower) row.t_py_ns += 13;
    EXPECT_EQ(sum_overhead(slower, mode, base, 4500, n).t_orch_ns,
              sums.t_orch_ns + 13 * static_cast<int64_t>(n));

    std::vector<KernelCost> turned = rows;
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    EXPECT_EQ(sum_overhead(turned, mode, base, 4500, n).t_orch_ns, sums.t_orch_ns);
    for (const auto weighting : {BaseWeighting::kKernel, BaseWeighting::kInvocation}) {
      EXPECT_EQ(dispatch_base(turned, weighting), dispatch_base(rows, weighting));
    }

    std::vector<KernelCost> native = rows;
    for (KernelCost& row : native) row.library = false;
    EXPECT_EQ(sum_overhead(native, mode, base, 4500, n).ct_ns, 0);
    EXPECT_GE(sums.ct_ns, 0);
    const double t_dev = static_cast<double>(sums.t_device_ns);
    EXPECT_NEAR(static_cast<double>(sums.t_orch_ns) / t_dev, (1 - *sums.hdbi) / *sums.hdbi, 1e-9);
  }
}

TEST(SumOverheadProperty, MergingEqualRowsChangesNothingByInvocation) {
  Random random(815);
  for (int round = 0; round < 300; ++round) {
    std::vector<KernelCost> split = random_costs(random);
    split.push_back(split.front());
    std::vector<KernelCost> merged(split.begin(), split.end() - 1);
    merged.front().invocations *= 2;
    EXPECT_EQ(dispatch_base(split, BaseWeighting::kInvocation),
              dispatch_base(merged, BaseWeighting::kInvocation));
    EXPECT_EQ(
        sum_overhead(split, HostOverheadMode::kPaper, 6000, 4500, launches(split)).t_orch_ns,
        sum_overhead(merged, HostOverheadMode::kPaper, 6000, 4500, launches(merged)).t_orch_ns);
  }
  // By kernel it does: the median of {1, 9} is not that of {1, 1, 9}.
  KernelCost low;
  low.t_dispatch_ns = 1000;
  KernelCost high;
  high.t_dispatch_ns = 9000;
  EXPECT_NE(dispatch_base({low, low, high}, BaseWeighting::kKernel),
            dispatch_base({low, high}, BaseWeighting::kKernel));
}

}  // namespace
}  // namespace assay
