#include "flow/device_work.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "records/facts.h"
#include "roof/peaks.h"

namespace assay {
namespace {

// Memory-bound kernels that a compiler fuses with their neighbors.
bool fuses(KernelKind kind) {
  switch (kind) {
    case KernelKind::kElementwise:
    case KernelKind::kCopy:
    case KernelKind::kNorm:
    case KernelKind::kSoftmax:
    case KernelKind::kReduce:
    case KernelKind::kQuantize:
      return true;
    default:
      return false;
  }
}

struct Chain {
  std::vector<uint32_t> names;
  int64_t ns = 0;
  int64_t longest_ns = 0;
};

struct Runs {
  uint64_t count = 0;
  int64_t saves_ns = 0;
};
using RunsByNames = std::map<std::vector<uint32_t>, Runs>;

void close(Chain& chain, KernelChains& found, RunsByNames& runs) {
  if (chain.names.size() > 1) {
    ++found.chains;
    found.kernels += chain.names.size();
    found.ns += chain.ns;
    found.saves_ns += chain.ns - chain.longest_ns;
    Runs& same = runs[chain.names];
    ++same.count;
    same.saves_ns += chain.ns - chain.longest_ns;
  }
  chain = {};
}

void fill_most(const RunsByNames& runs, KernelChains& found) {
  const auto most = std::max_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.second.saves_ns < b.second.saves_ns;
  });
  if (most == runs.end()) return;
  for (const uint32_t name : most->first) found.names.push_back(StringId(name));
  found.runs = most->second.count;
}

double rate_of(const DeviceRoof& roof, const char* attribute) {
  const auto at = roof.flop_per_s.find(attribute);
  return at == roof.flop_per_s.end() ? 0 : at->second;
}

}  // namespace

bool is_compiled(const Trace& trace, const KernelNames& kernels) {
  const ActivityTable& rows = trace.activities;
  std::unordered_map<uint32_t, int64_t> by_name;
  for (size_t a = 0; a < rows.size(); ++a) {
    if (rows.kind[a] == ActivityKind::kKernel) by_name[rows.name[a].value] += rows.dur_ns[a];
  }
  int64_t compiled_ns = 0;
  int64_t eager_ns = 0;
  for (const auto& [name, ns] : by_name) {
    const KernelFacts& facts = kernels.of(StringId(name));
    const bool native = trace.text(StringId(name)).find("at::native::") != std::string_view::npos;
    if (facts.library == "inductor") {
      compiled_ns += ns;
    } else if (native && fuses(facts.kind)) {
      eager_ns += ns;
    }
  }
  return compiled_ns > 0 && compiled_ns >= eager_ns;
}

KernelChains kernel_chains(const Trace& trace, Interval window, const KernelNames& kernels) {
  const ActivityTable& rows = trace.activities;
  std::vector<std::pair<int64_t, size_t>> order;  // begin, row
  for (size_t a = 0; a < rows.size(); ++a) {
    const bool inside = rows.start_ns[a] >= window.start_ns && rows.start_ns[a] < window.end_ns;
    if (inside && rows.kind[a] != ActivityKind::kSync) order.push_back({rows.start_ns[a], a});
  }
  std::sort(order.begin(), order.end());
  KernelChains found;
  RunsByNames runs;
  std::map<uint32_t, Chain> open;  // by stream
  for (const auto& [start_ns, a] : order) {
    Chain& chain = open[rows.stream[a].value];
    const bool kernel = rows.kind[a] == ActivityKind::kKernel;
    if (!kernel || !fuses(kernels.of(rows.name[a]).kind)) {
      close(chain, found, runs);
      continue;
    }
    chain.names.push_back(rows.name[a].value);
    chain.ns += rows.dur_ns[a];
    chain.longest_ns = std::max(chain.longest_ns, rows.dur_ns[a]);
  }
  for (auto& [stream, chain] : open) close(chain, found, runs);
  fill_most(runs, found);
  return found;
}

ProductWork product_work(const Trace& trace, Interval window, const KernelNames& kernels) {
  const ActivityTable& rows = trace.activities;
  ProductWork found;
  std::unordered_map<uint32_t, int64_t> by_name;
  for (size_t a = 0; a < rows.size(); ++a) {
    const bool inside = rows.start_ns[a] >= window.start_ns && rows.start_ns[a] < window.end_ns;
    if (!inside || rows.kind[a] != ActivityKind::kKernel) continue;
    const KernelFacts& facts = kernels.of(rows.name[a]);
    const bool gemm = facts.kind == KernelKind::kGemm;
    const bool half = gemm && (facts.data_type == "fp16" || facts.data_type == "bf16");
    const bool fp32 = (gemm || facts.kind == KernelKind::kConv) && facts.data_type == "fp32";
    if (!half && !fp32) continue;
    TypedWork& of = half ? found.half : found.fp32;
    of.ns += rows.dur_ns[a];
    const int64_t ns = by_name[rows.name[a].value] += rows.dur_ns[a];
    if (ns <= of.kernel_ns) continue;
    of.kernel_ns = ns;
    of.kernel = trace.text(rows.name[a]);
  }
  return found;
}

MatrixTypes matrix_types(const Trace& trace) {
  if (trace.devices.empty()) return {};
  const DeviceRoof roof = trace_roof(FactBook::built_in(), trace, trace.devices.front().id);
  if (!roof.exists()) return {};
  const double fp32 = std::max(rate_of(roof, "fp32_tflops"), rate_of(roof, "fp32_matrix_tflops"));
  const double tf32 = rate_of(roof, "tf32_tflops");
  const double half = rate_of(roof, "tflops");
  return {.known = true,
          .tf32 = tf32 > fp32,
          .bf16 = half > fp32 && rate_of(roof, "bf16_tflops") == 0,  // listed only if it is slower
          .fp8 = rate_of(roof, "fp8_tflops") > 0,
          .ridge = roof.memory_bytes_per_s > 0 ? half / roof.memory_bytes_per_s : 0,
          .over_fp32 = fp32 > 0 ? std::max(tf32, half) / fp32 : 0};
}

}  // namespace assay
