#include "flow/other_gpu.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "flow/gain_finder.h"
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

// Replays of one run with other durations of its kernels, and another pace of its host.
class Replays {
 public:
  Replays(const FlowModel& model, const GainFinder& finder)
      : run_(model.run), finder_(finder), trial_(finder.slots()) {}

  // Time in ns from the begin of the window to the end of the last device work.
  double run_ns(const std::vector<float>& scales, double host,
                Residuals residuals = Residuals::kKeep) {
    Edit edit;
    edit.cause.fill(1);
    edit.work.fill(1);
    edit.works_scale = scales;
    edit.host = host;
    const Edit* const one = &edit;
    trial_.editor.lags(sum_of({&one, 1}), trial_.lags);
    return static_cast<double>(finder_.run_ns(trial_.lags, trial_, residuals));
  }
  // The same with one factor for all kernels and collectives.
  double run_ns(double factor, double host, Residuals residuals = Residuals::kKeep) {
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
};

// Derivative of the run's time with respect to the kernel time factor.
double slope(Replays& replays, double factor, double host) {
  constexpr double kStep = 1.02;
  return (replays.run_ns(factor * kStep, host) - replays.run_ns(factor / kStep, host)) /
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
double knee(Replays& replays, double host) {
  const double most = slope(replays, kGpuBinds, host);
  const auto gpu_binds = [&](double factor) { return slope(replays, factor, host) * 2 > most; };
  if (most <= 0 || gpu_binds(kLeastFactor)) return 0;
  return turn(kLeastFactor, kGpuBinds, gpu_binds);
}

double slack(Replays& replays, double host, double now_ns) {
  const auto is_longer = [&](double factor) {
    return replays.run_ns(factor, host) > kLonger * now_ns;
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
        replays_(model, finder_) {}

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
    std::array<double, 3> now_ns = {};
  };

  void now(OtherGpus& found) {
    const double host_only_ns = replays_.run_ns(0.0, 1);
    const auto own_ns = static_cast<int64_t>(host_only_ns - replays_.run_ns(0.0, 0));
    found.host = host_pace(report_, own_ns, options_.as_recorded, options_.host);
    hosts_ = {found.host.low, found.host.middle, found.host.high};
    for (size_t h = 0; h < hosts_.size(); ++h) {
      now_ns_[h] = replays_.run_ns(1.0, hosts_[h]);
      for (OtherReplays& other : others_) {
        other.now_ns[h] = replays_.run_ns(1.0, hosts_[h], other.residuals);
      }
    }
    found.now_ns = {now_ns_[0], now_ns_[1], now_ns_[2]};
  }

  void bound(OtherGpus& found) {
    std::array<double, 3> host_ns{};
    std::array<double, 3> gains{};
    for (size_t h = 0; h < hosts_.size(); ++h) {
      host_ns[h] = replays_.run_ns(0.0, hosts_[h]);
      gains[h] = now_ns_[h] / std::max(host_ns[h], 1.0);
    }
    found.host_ns = {host_ns[0], host_ns[1], host_ns[2]};
    found.bound_gain = {*std::min_element(gains.begin(), gains.end()), gains[1],
                        *std::max_element(gains.begin(), gains.end())};
    for (const OtherReplays& other : others_) {
      for (size_t h = 0; h < hosts_.size(); ++h) {
        const double least_ns = replays_.run_ns(0.0, hosts_[h], other.residuals);
        const double gain = other.now_ns[h] / std::max(least_ns, 1.0);
        found.bound_gain.low = std::min(found.bound_gain.low, gain);
        found.bound_gain.high = std::max(found.bound_gain.high, gain);
        found.host_ns.low = std::min(found.host_ns.low, least_ns);
        found.host_ns.high = std::max(found.host_ns.high, least_ns);
      }
    }
    found.knee = knee(replays_, hosts_[1]);
    found.slack_5_percent = slack(replays_, hosts_[1], now_ns_[1]);
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
    const auto binds = [&](double factor, double host) {
      return factor < found.knee * host / found.host.middle;
    };
    out.host_binds = binds(out.kernels.middle, found.host.middle);
    out.binds_sure = binds(out.kernels.low, found.host.high) == out.host_binds &&
                     binds(out.kernels.high, found.host.low) == out.host_binds;
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
      for (size_t h = 0; h < hosts_.size(); ++h) {
        const double ns = replays_.run_ns(*kernels[k], hosts_[h]);
        const double gain = now_ns_[h] / std::max(ns, 1.0);
        out.run_ns.low = std::min(out.run_ns.low, ns);
        out.run_ns.high = std::max(out.run_ns.high, ns);
        out.gain.low = std::min(out.gain.low, gain);
        out.gain.high = std::max(out.gain.high, gain);
        for (const OtherReplays& other : others_) {
          const double there_ns = replays_.run_ns(*kernels[k], hosts_[h], other.residuals);
          const double other_gain = other.now_ns[h] / std::max(there_ns, 1.0);
          out.gain.low = std::min(out.gain.low, other_gain);
          out.gain.high = std::max(out.gain.high, other_gain);
          out.run_ns.low = std::min(out.run_ns.low, now_ns_[h] / other_gain);
          out.run_ns.high = std::max(out.run_ns.high, now_ns_[h] / other_gain);
        }
        if (k != 1 || h != 1) continue;
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
  std::array<double, 3> hosts_{};
  std::array<double, 3> now_ns_{};
  std::vector<OtherReplays> others_;
};

}  // namespace

OtherGpus explore_gpus(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                       const OtherGpuOptions& options) {
  return Explorer(model, iterations, report, options).explore();
}

}  // namespace assay
