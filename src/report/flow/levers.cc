// The levers of one trace: a lever's gain is that of a replay without what it removes.

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "kernels/kernel.h"
#include "kernels/name.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "flow/advice.h"
#include "report/flow/sentences.h"
#include "flow/host_stalls.h"
#include "report/flow/section.h"

namespace assay {
namespace {

class Levers {
 public:
  explicit Levers(const FlowAnswer& answer) : answer_(answer) {}

  std::vector<Lever> find() {
    if (answer_.tried == nullptr || undecided(answer_.verdict.bound)) return {};
    add_device_work();
    // A graph takes launches off the host; pauses stay.
    const bool pauses = answer_.verdict.pauses.ns > 0;
    // Nor does it hold what the host computes itself.
    const bool graph = answer_.verdict.computed.names.empty() &&
                       add(FirstLever::kGraphOrCompile, EditKind::kGraph, "cuda_graph", graphs(),
                           "replay with one launch in each iteration");
    if (pauses) {
      add(FirstLever::kLessHostWork, EditKind::kPauses, "cheaper_host", cheaper_host(),
          "replay in which the host never pauses for 0.3 ms or more");
    } else if (!graph) {
      add(FirstLever::kGraphOrCompile, EditKind::kHost, "cheaper_host", cheaper_host(),
          "replay in which the host's own work costs nothing");
    }
    if (core_helps()) {
      add(FirstLever::kNone, EditKind::kFasterCpu, "faster_cpu",
          "run the launching thread on a CPU core 1.3 times as fast",
          "replay with host time and calls that do not wait divided by 1.3");
    }
    add(FirstLever::kMoreInputWorkers, EditKind::kInput, "input",
        "load data beside the device's work: more workers, or preprocessing ahead",
        "replay in which loading data costs nothing");
    add(FirstLever::kRemoveSync, EditKind::kSync, "remove_syncs", remove_syncs(),
        "replay in which no call waits for the device");
    add(FirstLever::kCachingAllocator, EditKind::kAlloc, "allocation",
        "keep device memory instead of allocating and freeing it: a pool, or the caching "
        "allocator",
        "replay in which allocation calls cost nothing");
    add(FirstLever::kFewerCopies, EditKind::kCopies, "copies",
        "copy less, from pinned memory, beside kernels", "replay in which copies take no time");
    add(FirstLever::kOverlapCommunication, EditKind::kComm, "communication",
        "hide or shrink communication (its time includes waiting for other ranks)",
        "replay in which collectives take no time");
    add(FirstLever::kFasterKernel, EditKind::kAttention, "attention",
        "compute attention in one kernel (scaled_dot_product_attention)",
        "replay in which a softmax between two products, and all between them, takes no time");
    add_devices_at_once();
    rank();
    std::vector<Lever> levers;
    for (Ranked& ranked : levers_) levers.push_back(std::move(ranked.lever));
    return levers;
  }

 private:
  struct Ranked {
    Lever lever;
    bool leads = false;
  };

  // The one on the leading cause comes first, if it gives half of what the largest gives.
  void rank() {
    int64_t most_ns = 0;
    for (const Ranked& ranked : levers_) most_ns = std::max(most_ns, ranked.lever.gain_ns);
    for (Ranked& ranked : levers_) {
      ranked.leads = ranked.leads && ranked.lever.gain_ns * 2 >= most_ns;
    }
    std::stable_sort(levers_.begin(), levers_.end(), [](const Ranked& a, const Ranked& b) {
      if (a.leads != b.leads) return a.leads;
      return a.lever.gain_ns > b.lever.gain_ns;
    });
  }

  static bool undecided(BoundBy bound) {
    return bound == BoundBy::kUnseenWork || bound == BoundBy::kTooLittle ||
           bound == BoundBy::kNoGpu || bound == BoundBy::kNoHost || bound == BoundBy::kNotLoaded ||
           bound == BoundBy::kColdStart;
  }

  bool pytorch() const { return answer_.verdict.program.kind == ProgramKind::kPyTorch; }

  std::string cheaper_host() const {
    switch (host_advice(answer_)) {
      case HostAdvice::kBetweenGraphs:
        return "do less on the host between the graphs";
      case HostAdvice::kShortenOne:
        return "shorten " + clean_text(pause_name(answer_)) + ", or let the GPU run beside it";
      case HostAdvice::kRecordHost:
        return "find out what the host does in its pauses, which are not recorded";
      case HostAdvice::kSteadyHost:
        return "keep the host from standing still";
      case HostAdvice::kMoveToDevice:
        return "compute on the GPU what the host computes, or let the GPU run beside it";
      case HostAdvice::kLessHost:
        return "do less on the host between launches, or let the GPU run beside it";
      case HostAdvice::kFewerLaunches:
        return "fewer, larger launches" + std::string(pytorch() ? ": torch.compile" : "");
      case HostAdvice::kGraphs:
        break;
    }
    const std::string graphs = answer_.verdict.program.hip ? "HIP graphs" : "CUDA graphs";
    if (pytorch()) {
      return "take the host off the path: " + graphs + ", torch.compile, or a faster CPU core";
    }
    return "take the host off the path: " + graphs +
           ", larger pieces of work, or a faster CPU core";
  }

  // What stands still does not run faster on a faster core.
  bool core_helps() const {
    const HostAdvice advice = host_advice(answer_);
    return advice != HostAdvice::kRecordHost && advice != HostAdvice::kSteadyHost;
  }

  std::string remove_syncs() const {
    return pytorch() ? "do not wait for the device in the loop (.item(), .cpu(), synchronize)"
                     : "do not wait for the device between pieces of work";
  }

  std::string graphs() const {
    const std::string graph = answer_.verdict.program.hip ? "HIP graph" : "CUDA graph";
    return "launch each iteration as one " + graph + (pytorch() ? " (or torch.compile)" : "");
  }

  // Gains below 1 % of the window are no levers. Returns whether it is one.
  bool add(FirstLever lever, EditKind kind, std::string key, std::string what, std::string basis) {
    const int64_t window_ns = answer_.report.window_ns();
    const TriedLever* tried = find_tried(answer_, {kind});
    if (tried == nullptr) return false;
    const int64_t gain_ns = tried->alone.run_ns;
    if (gain_ns <= 0 || gain_ns * 100 < window_ns) return false;
    if (lever == FirstLever::kFasterKernel && in_few_iterations(*tried)) return false;
    levers_.push_back({{.key = std::move(key),
                        .what = std::move(what),
                        .edit = edit_text(tried->edit.request),
                        .gain_ns = gain_ns,
                        .share_of_window = share(gain_ns, window_ns),
                        .predicted = tried->edit.predicted,
                        .basis = std::move(basis),
                        .at_most_ns = gain_ns},
                       lever == leading()});
    return true;
  }

  // What devices that take turns would save if each had an equal part of the work at once.
  void add_devices_at_once() {
    const FlowReport& report = answer_.report;
    if (!answer_.verdict.turns) return;
    const int64_t window_ns = report.window_ns();
    const int64_t each_ns = (report.total.window_ns - report.total.idle_ns) /
                            static_cast<int64_t>(report.devices.size());
    const int64_t gain_ns = report.overlap.any_ns - each_ns;
    levers_.push_back({{.key = "devices_at_once",
                        .what = "let the devices work at the same time",
                        .edit = "",
                        .gain_ns = gain_ns,
                        .share_of_window = share(gain_ns, window_ns),
                        .predicted = false,
                        .basis = "all device work in equal parts on all devices at once",
                        .at_most_ns = gain_ns},
                       leading() == FirstLever::kDevicesAtOnce});
  }

  FirstLever leading() const {
    const FirstLever lever = answer_.verdict.lever;
    const bool pauses = answer_.verdict.pauses.ns > 0;
    if (lever == FirstLever::kLessHostWork && !pauses) return FirstLever::kGraphOrCompile;
    return lever == FirstLever::kBalanceRanks ? FirstLever::kOverlapCommunication : lever;
  }

  void add_device_work() {
    const std::vector<KindShare>& kinds = answer_.verdict.kinds;
    if (kinds.empty()) return;
    const KindShare& kind = kinds.front();
    const std::string longest = describe_kernel(answer_.trace.text(kind.longest));
    const bool known = kind.kind != KernelKind::kOther;
    const std::string what =
        known ? std::string(kernel_kind_name(kind.kind)) + " kernels cheaper, first " + longest
              : longest + " cheaper";
    add(FirstLever::kFasterKernel, known ? EditKind::kFamily : EditKind::kKernels, "device_work",
        "make " + what, "replay in which these kernels take no time");
  }

  const FlowAnswer& answer_;
  std::vector<Ranked> levers_;
};

}  // namespace

std::vector<Lever> flow_levers(const FlowAnswer& answer) { return Levers(answer).find(); }

std::string levers_text(const std::vector<Lever>& levers) {
  if (levers.empty()) return "";
  constexpr size_t kShown = 3;
  std::string text = levers.size() == 1 ? "The lever: " : "The biggest levers: ";
  for (size_t i = 0; i < levers.size() && i < kShown; ++i) {
    if (i > 0) text += "; ";
    text += levers[i].what + " (" + lever_gain_words(levers[i]) + ")";
  }
  return text + ".";
}

}  // namespace assay
