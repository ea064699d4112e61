// The linker against one that tries every pair, on thousands of small random traces. The reference
// states the rules of trace/links.h as they are worded there and uses no stack, index or sort.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/trace_maker.h"
#include "trace/links.h"

namespace assay {
namespace {

using testing::TraceMaker;

struct Shape {
  int rows;            // of each table, at most
  int64_t line_ns;     // starts lie in [0, line_ns)
  int64_t longest_ns;  // durations in [0, longest_ns]
  uint32_t ids;        // correlation and External ids in [0, ids)
  uint32_t stride;     // between correlation ids: a large one makes them sparse
};

Trace random_trace(std::mt19937& random, const Shape& shape) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const auto start = [&] { return below(shape.line_ns); };
  const auto dur = [&] { return below(4) == 0 ? 0 : below(shape.longest_ns + 1); };
  const auto correlation = [&] { return static_cast<uint32_t>(below(shape.ids)) * shape.stride; };
  const auto external = [&] { return static_cast<uint32_t>(below(shape.ids)); };
  const char* const calls[] = {"cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync",
                               "cudaDeviceSynchronize"};
  TraceMaker maker;
  for (int64_t i = below(shape.rows + 1); i > 0; --i) {
    maker.op(below(2), "op", start(), dur(), external());
  }
  for (int64_t i = below(shape.rows + 1); i > 0; --i) {
    maker.call(below(2), calls[below(4)], start(), dur(), correlation(), external());
  }
  for (int64_t i = below(shape.rows + 1); i > 0; --i) {
    const auto kind = static_cast<ActivityKind>(below(5));
    maker.activity(kind, 0, below(2), "work", start(), dur(), correlation(), external());
  }
  return maker.build();
}

bool is_open(const Trace& trace, size_t op, ThreadId thread, int64_t at_ns) {
  return trace.ops.thread[op] == thread && trace.ops.start_ns[op] <= at_ns &&
         at_ns < trace.end_ns(OpId(op));
}

// Of the ops before `before` in table order that are open at at_ns, the last one that an op ending
// at end_ns does not outlive by more than tolerance_ns.
OpId innermost(const Trace& trace, size_t before, ThreadId thread, int64_t at_ns, int64_t end_ns,
               int64_t tolerance_ns) {
  for (size_t i = before; i-- > 0;) {
    if (is_open(trace, i, thread, at_ns) && end_ns - trace.end_ns(OpId(i)) <= tolerance_ns) {
      return OpId(i);
    }
  }
  return OpId();
}

constexpr int64_t kAnyNs = int64_t{1} << 60;

ApiCallId launch_of(const Trace& trace, uint32_t correlation) {
  ApiCallId found;
  if (correlation == 0) return found;
  for (size_t i = 0; i < trace.api_calls.size(); ++i) {
    if (trace.api_calls.correlation[i] != correlation) continue;
    if (!found || trace.api_calls.start_ns[i] < trace.api_calls.start_ns[found.index()]) {
      found = ApiCallId(i);
    }
  }
  return found;
}

OpId bearer(const Trace& trace, uint32_t external_id, int64_t start_ns) {
  OpId last_before;
  OpId first;
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    if (trace.ops.external_id[i] != external_id) continue;
    const int64_t op_start = trace.ops.start_ns[i];
    if (op_start <= start_ns &&
        (!last_before || op_start >= trace.ops.start_ns[last_before.index()])) {
      last_before = OpId(i);
    }
    if (!first || op_start < trace.ops.start_ns[first.index()]) first = OpId(i);
  }
  return last_before ? last_before : first;
}

void check(const Trace& trace) {
  const Links links = link_trace(trace);
  LinkStats expected;

  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const ThreadId thread = trace.ops.thread[i];
    const int64_t start = trace.ops.start_ns[i];
    const int64_t end = trace.end_ns(OpId(i));
    const OpId parent = innermost(trace, i, thread, start, end, 1000);
    ASSERT_EQ(links.op_parent[i], parent) << "op " << i;
    expected.overlap_split += innermost(trace, i, thread, start, end, kAnyNs) != parent;
    expected.overlap_tolerated += parent && end > trace.end_ns(parent);
  }

  for (size_t i = 0; i < trace.api_calls.size(); ++i) {
    const ApiCallId call(i);
    const int64_t start = trace.api_calls.start_ns[i];
    // Ops that start together with the call count as open.
    const OpId op =
        innermost(trace, trace.ops.size(), trace.api_calls.thread[i], start, start, kAnyNs);
    ASSERT_EQ(links.call_op[i], op) << "call " << i;

    std::vector<ActivityId> owned;
    uint64_t kernels = 0;
    const uint32_t correlation = trace.api_calls.correlation[i];
    const bool duplicate = correlation != 0 && launch_of(trace, correlation) != call;
    expected.duplicate_calls += duplicate;
    for (size_t k = 0; k < trace.activities.size(); ++k) {
      if (launch_of(trace, trace.activities.correlation[k]) != call) continue;
      owned.push_back(ActivityId(k));
      kernels += trace.activities.kind[k] == ActivityKind::kKernel;
    }
    const auto listed = links.activities_of(call);
    ASSERT_EQ(listed.size(), owned.size());
    for (size_t k = 0; k < listed.size(); ++k) {
      ASSERT_EQ(links.activity_call[listed[k].index()], call);
      if (k > 0) {
        ASSERT_LE(trace.activities.start_ns[listed[k - 1].index()],
                  trace.activities.start_ns[listed[k].index()]);
        ASSERT_NE(listed[k - 1], listed[k]);
      }
    }
    const std::string_view name = trace.text(trace.api_calls.name[i]);
    const bool graph = name == "cudaGraphLaunch";
    if (!duplicate && (graph || name == "cudaLaunchKernel")) {
      ++expected.launch_calls;
      expected.launch_calls_unlinked += owned.empty();
      expected.calls_without_op += !op;
    }
    expected.graph_launches += graph && kernels > 0;
    expected.graph_kernels += graph ? kernels : 0;
    expected.shared_correlations += !graph && kernels > 1;
  }

  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const ApiCallId call = launch_of(trace, trace.activities.correlation[i]);
    ASSERT_EQ(links.activity_call[i], call) << "activity " << i;
    const ActivityKind kind = trace.activities.kind[i];
    const int64_t dur = trace.activities.dur_ns[i];
    if (kind == ActivityKind::kKernel) {
      ++expected.kernels;
      expected.kernels_linked += bool(call);
      expected.kernels_unlinked += !call;
      expected.kernels_unlinked_ns += call ? 0 : dur;
    }
    if (kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemset) {
      ++expected.copies;
      expected.copies_linked += bool(call);
    }

    OpId op;
    if (call && links.call_op[call.index()]) {
      op = links.call_op[call.index()];
      ++expected.activity_ops_by_call;
    } else {
      uint32_t id = trace.activities.external_id[i];
      if (id == 0 && call) id = trace.api_calls.external_id[call.index()];
      const bool ignored = id != 0 && id == trace.activities.correlation[i];
      expected.external_ids_ignored += ignored;
      if (id != 0 && !ignored) {
        op = bearer(trace, id,
                    call ? trace.api_calls.start_ns[call.index()] : trace.activities.start_ns[i]);
        expected.activity_ops_by_external_id += bool(op);
      }
    }
    ASSERT_EQ(links.activity_op[i].value == OpId::kNone, !op) << "activity " << i;
    if (op) {
      // Ops that share id and start are equally good.
      const OpId got = links.activity_op[i];
      ASSERT_EQ(trace.ops.start_ns[got.index()], trace.ops.start_ns[op.index()]);
      ASSERT_EQ(trace.ops.external_id[got.index()], trace.ops.external_id[op.index()]);
    }
  }
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    if (trace.activities.kind[i] != ActivityKind::kKernel || links.activity_call[i]) continue;
    int64_t first_of_stream = INT64_MAX;
    int64_t first = INT64_MAX;
    for (size_t k = 0; k < trace.activities.size(); ++k) {
      if (trace.activities.kind[k] != ActivityKind::kKernel || !links.activity_call[k]) continue;
      const int64_t start = trace.activities.start_ns[k];
      first = std::min(first, start);
      if (trace.activities.stream[k] == trace.activities.stream[i]) {
        first_of_stream = std::min(first_of_stream, start);
      }
    }
    if (first == INT64_MAX) continue;
    if (trace.end_ns(ActivityId(i)) > (first_of_stream != INT64_MAX ? first_of_stream : first)) {
      continue;
    }
    ++expected.kernels_carried_over;
    expected.kernels_carried_over_ns += trace.activities.dur_ns[i];
  }

#define ASSAY_SAME(type, name, doc) ASSERT_EQ(links.stats.name, expected.name);
  ASSAY_LINK_STATS(ASSAY_SAME)
#undef ASSAY_SAME
}

void check_many(uint32_t seed, int rounds, const Shape& shape) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    check(random_trace(random, shape));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(LinksProperty, CrowdedNanoseconds) {
  check_many(1, 4000, {.rows = 12, .line_ns = 30, .longest_ns = 20, .ids = 8, .stride = 1});
}

TEST(LinksProperty, OverlapsAroundOneMicrosecond) {
  check_many(2, 4000, {.rows = 14, .line_ns = 6000, .longest_ns = 4000, .ids = 10, .stride = 1});
}

TEST(LinksProperty, SparseCorrelations) {
  check_many(3, 2000,
             {.rows = 12, .line_ns = 1000, .longest_ns = 200, .ids = 9, .stride = 400000000});
}

TEST(LinksProperty, LongerTraces) {
  check_many(4, 100, {.rows = 150, .line_ns = 20000, .longest_ns = 3000, .ids = 200, .stride = 3});
}

}  // namespace
}  // namespace assay
