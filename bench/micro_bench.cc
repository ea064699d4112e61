// The innermost loops of the reader, one at a time: bytes and items per second. run.py is about the
// whole; this is for finding out which part of it moved.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/decimal.h"
#include "base/intervals.h"
#include "base/string_pool.h"

namespace assay {
namespace {

// Times as Kineto writes them: epoch microseconds with three decimals.
void bench_parse_time(benchmark::State& state) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1024; ++i) {
    texts.push_back(std::to_string(6520618855031 + i * 7) + "." + std::to_string(100 + i % 900));
  }
  int64_t bytes = 0;
  for (auto _ : state) {
    for (const std::string& text : texts) {
      int64_t ns = 0;
      DecimalShape shape;
      benchmark::DoNotOptimize(parse_decimal(text, 3, ns, shape));
      benchmark::DoNotOptimize(ns);
      bytes += static_cast<int64_t>(text.size());
    }
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(texts.size()));
}
BENCHMARK(bench_parse_time);

// Kernel names: long, alike, and few. The argument is the number of distinct ones.
void bench_intern(benchmark::State& state) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < state.range(0); ++i) {
    names.push_back("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_" +
                    std::to_string(i) + "<float>, std::array<char*, 3ul> >(int, float)");
  }
  StringPool pool;
  int64_t bytes = 0;
  for (auto _ : state) {
    for (const std::string& name : names) {
      benchmark::DoNotOptimize(pool.intern(name));
      bytes += static_cast<int64_t>(name.size());
    }
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bench_intern)->Arg(64)->Arg(4096);

// Kernels of two streams, half of them overlapping the one before.
void bench_union(benchmark::State& state) {
  std::vector<Interval> intervals;
  for (int64_t i = 0; i < state.range(0); ++i) {
    intervals.push_back({i * 1000, i * 1000 + (i % 2 == 0 ? 1500 : 500)});
  }
  for (auto _ : state) benchmark::DoNotOptimize(union_ns(intervals));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bench_union)->Arg(1 << 16);

}  // namespace
}  // namespace assay
