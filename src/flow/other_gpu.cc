#include "flow/other_gpu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "flow/gain_finder.h"
#include "flow/untraced.h"
#include "flow/whatif.h"

namespace assay {
namespace {

// Below this share of known work, a middle value would rest on guesses.
constexpr double kLeastKnown = 0.5;
constexpr double kSomeUnlinked = 0.01;
// Above it, gaps before kernels without a launch call decide how long the run is.
constexpr double kMuchUnlinked = 0.1;
constexpr int kBisections = 16;
constexpr double kLeastFactor = 1.0 / 1024;
constexpr double kMostFactor = 64;
constexpr double kGpuBinds = 4096;  // with kernels this many times longer, the GPU binds any run
constexpr double kLonger = 1.05;

// The fastest, the middle and the slowest of the hosts that a run may have.
constexpr size_t kHosts = 3;
constexpr size_t kMiddleHost = 1;
constexpr size_t kRecordedHost = kHosts;

// Replays of one run with other durations of its kernels, and another host.
class Replays {
 public:
  Replays(const FlowModel& model, const Windows& iterations, const GainFinder& finder,
          const OtherGpuOptions& options)
      : run_(model.run), finder_(finder), trial_(finder.slots()) {
    host_ = {options.host.low, options.host.middle, options.host.high};
    if (!options.row_cost_ns) return;
    const UntracedReplay untraced(model, iterations);
    for (size_t host = 0; host < kHosts; ++host) {
      const RecordingCost cost = recording_cost(CostShape::kRows, (*options.row_cost_ns)[host] / 2);
      const std::vector<int64_t> lags = untraced.lags(cost);
      for (uint32_t edge = 0; edge < lags.size(); ++edge) {
        const int64_t recorded_ns = model.graph.lag_ns[edge];
        if (lags[edge] == recorded_ns || recorded_ns <= 0) continue;
        untraced_[host].emplace_back(
            edge, static_cast<double>(lags[edge]) / static_cast<double>(recorded_ns));
      }
    }
  }

  // Time in ns from the begin of the window to the end of the last device work.
  double run_ns(const std::vector<float>& scales, size_t host,
                Residuals residuals = Residuals::kKeep) {
    Edit edit;
    edit.cause.fill(1);
    edit.work.fill(1);
    edit.works_scale = scales;
    if (host != kRecordedHost) edit.host = host_[host];
    const Edit* const one = &edit;
    trial_.editor.lags(sum_of({&one, 1}), trial_.lags);
    if (host != kRecordedHost) {
      for (const auto& [edge, left] : untraced_[host]) {
        int64_t& lag_ns = trial_.lags.lag_ns[edge];
        lag_ns = static_cast<int64_t>(left * static_cast<double>(lag_ns));
      }
    }
    return static_cast<double>(finder_.run_ns(trial_.lags, trial_, residuals));
  }
  // The same with one factor for all kernels and collectives.
  double run_ns(double factor, size_t host, Residuals residuals = Residuals::kKeep) {
    std::vector<float> scales(run_.works.size(), 1);
    for (size_t w = 0; w < scales.size(); ++w) {
      if (is_kernel(run_.works[w])) scales[w] = static_cast<float>(factor);
    }
    return run_ns(scales, host, residuals);
  }

  static bool is_kernel(const FlowWork& work) {
    return work.kind == WorkKind::kCompute || work.kind == WorkKind::kCollective;
  }

 private:
  const FlowRun& run_;
  const GainFinder& finder_;
  Trial trial_;
  std::array<double, kHosts> host_;  // factors of the host's time
  std::array<std::vector<std::pair<uint32_t, double>>, kHosts> untraced_;  // factors of edges
};

// Derivative of the run's time with respect to the kernel time factor.
double slope(Replays& replays, double factor) {
  constexpr double kStep = 1.02;
  return (replays.run_ns(factor * kStep, kMiddleHost) -
          replays.run_ns(factor / kStep, kMiddleHost)) /
         (factor * kStep - factor / kStep);
}

// The factor at which `above` becomes true, by bisection of its logarithm; `above` is false at
// `low`.
template <typename F>
double turn(double low, double high, F above) {
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::sqrt(low * high);
    (above(middle) ? high : low) = middle;
  }
  return std::sqrt(low * high);
}

// The run is a longest path, hence convex in the factor: its slope only grows.
double knee(Replays& replays) {
  const double most = slope(replays, kGpuBinds);
  const auto gpu_binds = [&](double factor) { return slope(replays, factor) * 2 > most; };
  if (most <= 0 || gpu_binds(kLeastFactor)) return 0;
  return turn(kLeastFactor, kGpuBinds, gpu_binds);
}

double slack(Replays& replays, double now_ns) {
  const auto is_longer = [&](double factor) {
    return replays.run_ns(factor, kMiddleHost) > kLonger * now_ns;
  };
  return is_longer(kMostFactor) ? turn(1, kMostFactor, is_longer) : 0;
}

int64_t reserved_bytes(const FlowRun& run) {
  int64_t most = -1;
  for (const int64_t bytes : run.trace->memory_events.total_reserved_bytes)
    most = std::max(most, bytes);
  return most;
}

class Explorer {
 public:
  Explorer(const FlowModel& model, const Windows& iterations, const FlowReport& report,
           const OtherGpuOptions& options)
      : run_(model.run),
        report_(report),
        options_(options),
        finder_(model, iterations, report, false),
        replays_(model, iterations, finder_, options) {}

  OtherGpus explore() {
    OtherGpus found;
    found.recorded = recorded_gpu(run_, options_.roof);
    found.recorded_missing = GpuScaling::missing(found.recorded);
    found.gpu_count = std::max<uint32_t>(1, static_cast<uint32_t>(report_.devices.size()));
    found.reserved_bytes = reserved_bytes(run_);
    found.refusal = refusal_of_replay(report_);
    found.recorded_ns = finder_.run_ns();
    for (const FlowWork& work : run_.works) {
      if (Replays::is_kernel(work)) found.kernel_ns += work.end_ns - work.start_ns;
    }
    const FlowEvidence& evidence = report_.evidence;
    found.unlinked_share = 1 - share(evidence.linked_ns, evidence.work_ns);
    if (found.refusal != EditRefusal::kNone) return found;
    if (found.unlinked_share > kSomeUnlinked) others_.push_back({Residuals::kDrop});
    if (found.unlinked_share > kMuchUnlinked) others_.push_back({Residuals::kPin});
    now(found);
    if (found.host_known()) bound(found);
    for (const OtherGpu& gpu : options_.gpus) found.gpus.push_back(on(gpu, found));
    for (const RunOnGpu& gpu : found.gpus) {
      found.known_share = std::max(found.known_share, gpu.known_share);
    }
    return found;
  }

 private:
  // Replays with another assumption on gaps before kernels without a launch call. Either such a
  // kernel waited for earlier kernels: kDrop has no such gaps. Or the host launched late: with kPin
  // the kernel never starts earlier than recorded.
  struct OtherReplays {
    Residuals residuals;
    std::array<double, kHosts> now_ns = {};
  };

  void now(OtherGpus& found) {
    for (size_t h = 0; h < kHosts; ++h) {
      now_ns_[h] = replays_.run_ns(1.0, h);
      host_ns_[h] = replays_.run_ns(0.0, h);
      for (OtherReplays& other : others_) {
        other.now_ns[h] = replays_.run_ns(1.0, h, other.residuals);
      }
    }
    found.now_ns = {now_ns_[0], now_ns_[1], now_ns_[2]};
    const double recorded_ns = std::max(replays_.run_ns(0.0, kRecordedHost), 1.0);
    found.host = {.source = options_.host.source,
                  .low = host_ns_[0] / recorded_ns,
                  .middle = host_ns_[1] / recorded_ns,
                  .high = host_ns_[2] / recorded_ns,
                  .untraced = options_.row_cost_ns.has_value(),
                  .other = options_.host};
    if (found.host.untraced && found.host.source == HostPaceSource::kRecorded) {
      found.host.source = HostPaceSource::kUntraced;
    }
  }

  void bound(OtherGpus& found) {
    std::array<double, kHosts> gains{};
    for (size_t h = 0; h < kHosts; ++h) gains[h] = now_ns_[h] / std::max(host_ns_[h], 1.0);
    found.host_ns = {host_ns_[0], host_ns_[1], host_ns_[2]};
    found.bound_gain = {*std::min_element(gains.begin(), gains.end()), gains[kMiddleHost],
                        *std::max_element(gains.begin(), gains.end())};
    for (const OtherReplays& other : others_) {
      for (size_t h = 0; h < kHosts; ++h) {
        const double least_ns = replays_.run_ns(0.0, h, other.residuals);
        const double gain = other.now_ns[h] / std::max(least_ns, 1.0);
        found.bound_gain.low = std::min(found.bound_gain.low, gain);
        found.bound_gain.high = std::max(found.bound_gain.high, gain);
        found.host_ns.low = std::min(found.host_ns.low, least_ns);
        found.host_ns.high = std::max(found.host_ns.high, least_ns);
      }
    }
    found.knee = knee(replays_);
    found.slack_5_percent = slack(replays_, now_ns_[kMiddleHost]);
  }

  RunOnGpu on(const OtherGpu& gpu, const OtherGpus& found) {
    RunOnGpu out;
    out.gpu = gpu;
    const FactBook& facts =
        options_.roof.facts == nullptr ? FactBook::built_in() : *options_.roof.facts;
    out.roof = device_roof(facts, {}, gpu.name);
    out.missing = GpuScaling::missing(out.roof);
    if (!out.missing.empty() || !found.recorded_missing.empty()) return out;
    out.change = change_between(found.recorded, out.roof);
    out.fits = found.reserved_bytes < 0 ||
               static_cast<double>(found.reserved_bytes) <= out.roof.memory_bytes;
    const WorkScales scales = work_scales(run_, gpu, options_.roof);
    out.kernel_ns = scales.kernel_ns;
    out.known_share = share(scales.known_ns, scales.kernel_ns);
    out.has_middle = (out.known_share >= kLeastKnown && found.host_known()) ||
                     out.change == GpuChange::kNone;
    out.fabric_changes = scales.fabric_changes;
    out.families = scales.families;
    out.lacking_ns = scales.lacking_ns;
    if (!out.fits) return out;
    replay(scales, out);
    if (!found.host_known()) {
      follow_kernels(found, out);
      return out;
    }
    const auto binds = [&](double factor, size_t host) {
      return factor < found.knee * host_ns_[host] / std::max(host_ns_[kMiddleHost], 1.0);
    };
    out.host_binds = binds(out.kernels.middle, kMiddleHost);
    out.binds_sure = binds(out.kernels.low, kHosts - 1) == out.host_binds &&
                     binds(out.kernels.high, 0) == out.host_binds;
    return out;
  }

  // The run is a longest path and grows with every duration, so the corners of the intervals bound
  // it.
  void replay(const WorkScales& scales, RunOnGpu& out) {
    const std::array<const std::vector<float>*, 3> kernels = {&scales.low, &scales.middle,
                                                              &scales.high};
    out.run_ns = {INFINITY, 0, 0};
    out.gain = {INFINITY, 0, 0};
    for (size_t k = 0; k < kernels.size(); ++k) {
      for (size_t h = 0; h < kHosts; ++h) {
        const double ns = replays_.run_ns(*kernels[k], h);
        const double gain = now_ns_[h] / std::max(ns, 1.0);
        out.run_ns.low = std::min(out.run_ns.low, ns);
        out.run_ns.high = std::max(out.run_ns.high, ns);
        out.gain.low = std::min(out.gain.low, gain);
        out.gain.high = std::max(out.gain.high, gain);
        for (const OtherReplays& other : others_) {
          const double there_ns = replays_.run_ns(*kernels[k], h, other.residuals);
          const double other_gain = other.now_ns[h] / std::max(there_ns, 1.0);
          out.gain.low = std::min(out.gain.low, other_gain);
          out.gain.high = std::max(out.gain.high, other_gain);
          out.run_ns.low = std::min(out.run_ns.low, now_ns_[h] / other_gain);
          out.run_ns.high = std::max(out.run_ns.high, now_ns_[h] / other_gain);
        }
        if (k != 1 || h != kMiddleHost) continue;
        out.run_ns.middle = ns;
        out.gain.middle = gain;
      }
    }
    out.kernels = {factor(scales.low), factor(scales.middle), factor(scales.high)};
  }

  // Widens the intervals if the host's part is unknown: at the other extreme, all time scales with
  // the kernels.
  static void follow_kernels(const OtherGpus& found, RunOnGpu& out) {
    out.gain.low = std::min(out.gain.low, 1 / out.kernels.high);
    out.gain.high = std::max(out.gain.high, 1 / out.kernels.low);
    out.run_ns.low = std::min(out.run_ns.low, found.now_ns.low * out.kernels.low);
    out.run_ns.high = std::max(out.run_ns.high, found.now_ns.high * out.kernels.high);
  }

  double factor(const std::vector<float>& scales) const {
    double was = 0;
    double is = 0;
    for (size_t w = 0; w < scales.size(); ++w) {
      if (!Replays::is_kernel(run_.works[w])) continue;
      const auto ns = static_cast<double>(run_.works[w].end_ns - run_.works[w].start_ns);
      was += ns;
      is += ns * scales[w];
    }
    return was > 0 ? is / was : 1;
  }

  const FlowRun& run_;
  const FlowReport& report_;
  const OtherGpuOptions& options_;
  const GainFinder finder_;
  Replays replays_;
  std::array<double, kHosts> now_ns_{};   // with recorded kernels
  std::array<double, kHosts> host_ns_{};  // without kernels
  std::vector<OtherReplays> others_;
};

}  // namespace

OtherGpus explore_gpus(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                       const OtherGpuOptions& options) {
  return Explorer(model, iterations, report, options).explore();
}

}  // namespace assay
