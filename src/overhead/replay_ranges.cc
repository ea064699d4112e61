#include "overhead/replay_ranges.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

namespace assay {
namespace {

constexpr std::string_view kPrefix = "aten_dispatch|";
constexpr int64_t kClockNoiseNs = 10'000;

// "aten_dispatch|12|37" is of entry 12.
std::optional<uint64_t> entry_of(std::string_view label) {
  if (label.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  label.remove_prefix(kPrefix.size());
  uint64_t entry = 0;
  const auto [end, code] = std::from_chars(label.data(), label.data() + label.size(), entry);
  if (code != std::errc() || end == label.data() + label.size() || *end != '|') return std::nullopt;
  return entry;
}

struct Samples {
  ReplayCandidate candidate;
  std::vector<int64_t> dispatch, launch, duration;
  size_t last_range = SIZE_MAX;  // last range with a sample
};

struct EntrySamples {
  uint64_t ranges = 0;
  uint64_t left_out = 0;
  std::vector<Samples> kernels;
};

class Collector {
 public:
  Collector(const Trace& trace, const Links& links) : trace_(trace), links_(links) {
    shapes_.assign(trace.activities.size(), UINT32_MAX);
    for (size_t i = 0; i < trace.kernel_shapes.size(); ++i) {
      shapes_[trace.kernel_shapes.activity[i].index()] = static_cast<uint32_t>(i);
    }
    for (size_t i = 0; i < trace.api_calls.size(); ++i) calls_.push_back(static_cast<uint32_t>(i));
    std::sort(calls_.begin(), calls_.end(), [this](uint32_t a, uint32_t b) {
      return std::tuple(trace_.api_calls.start_ns[a], a) <
             std::tuple(trace_.api_calls.start_ns[b], b);
    });
  }

  std::map<uint64_t, EntrySamples> collect() {
    for (size_t range = 0; range < trace_.annotations.size(); ++range) {
      const auto entry = entry_of(trace_.text(trace_.annotations.name[range]));
      if (!entry) continue;
      EntrySamples& samples = found_[*entry];
      ++samples.ranges;
      take_range(range, samples);
    }
    return std::move(found_);
  }

 private:
  void take_range(size_t range, EntrySamples& samples) {
    const int64_t begin_ns = trace_.annotations.start_ns[range];
    const int64_t end_ns = begin_ns + trace_.annotations.dur_ns[range];
    auto call = std::lower_bound(
        calls_.begin(), calls_.end(), begin_ns,
        [this](uint32_t row, int64_t ns) { return trace_.api_calls.start_ns[row] < ns; });
    for (; call != calls_.end() && trace_.api_calls.start_ns[*call] < end_ns; ++call) {
      if (trace_.api_calls.thread[*call] != trace_.annotations.thread[range]) continue;
      for (const ActivityId kernel : links_.activities_of(ApiCallId(*call))) {
        if (trace_.activities.kind[kernel.index()] != ActivityKind::kKernel) continue;
        take_launch(range, begin_ns, *call, kernel, samples);
      }
    }
  }

  void take_launch(size_t range, int64_t begin_ns, uint32_t call, ActivityId kernel,
                   EntrySamples& samples) {
    const int64_t call_ns = trace_.api_calls.start_ns[call];
    const int64_t launch_ns = trace_.activities.start_ns[kernel.index()] - call_ns;
    if (launch_ns <= -kClockNoiseNs) {
      ++samples.left_out;
      return;
    }
    Samples& of_kernel = samples_of(kernel, samples);
    ++of_kernel.candidate.count;
    if (of_kernel.last_range == range) return;
    of_kernel.last_range = range;
    of_kernel.dispatch.push_back(call_ns - begin_ns);
    of_kernel.launch.push_back(std::max<int64_t>(0, launch_ns));
    of_kernel.duration.push_back(trace_.activities.dur_ns[kernel.index()]);
  }

  Samples& samples_of(ActivityId kernel, EntrySamples& samples) const {
    ReplayCandidate candidate;
    candidate.name = trace_.text(trace_.activities.name[kernel.index()]);
    if (const uint32_t row = shapes_[kernel.index()]; row != UINT32_MAX) {
      const KernelShapeTable& shapes = trace_.kernel_shapes;
      candidate.grid = {shapes.grid_x[row], shapes.grid_y[row], shapes.grid_z[row]};
      candidate.block = {shapes.block_x[row], shapes.block_y[row], shapes.block_z[row]};
      candidate.shared_memory_bytes = shapes.shared_memory_bytes[row];
      candidate.registers = shapes.registers[row];
    }
    const auto key = [](const ReplayCandidate& c) {
      return std::tie(c.name, c.grid, c.block, c.shared_memory_bytes, c.registers);
    };
    for (Samples& known : samples.kernels) {
      if (key(known.candidate) == key(candidate)) return known;
    }
    samples.kernels.push_back({std::move(candidate), {}, {}, {}, SIZE_MAX});
    return samples.kernels.back();
  }

  const Trace& trace_;
  const Links& links_;
  std::vector<uint32_t> shapes_;  // row of kernel_shapes per activity
  std::vector<uint32_t> calls_;   // by start
  std::map<uint64_t, EntrySamples> found_;
};

}  // namespace

std::map<uint64_t, ReplayedKernels> replayed_kernels(const Trace& trace, const Links& links) {
  std::map<uint64_t, ReplayedKernels> result;
  for (auto& [entry, samples] : Collector(trace, links).collect()) {
    ReplayedKernels& kernels = result[entry];
    kernels.ranges = samples.ranges;
    kernels.left_out = samples.left_out;
    for (Samples& of_kernel : samples.kernels) {
      of_kernel.candidate.dispatch = sample_stats(std::move(of_kernel.dispatch));
      of_kernel.candidate.launch = sample_stats(std::move(of_kernel.launch));
      of_kernel.candidate.duration = sample_stats(std::move(of_kernel.duration));
      kernels.candidates.push_back(std::move(of_kernel.candidate));
    }
  }
  return result;
}

}  // namespace assay
