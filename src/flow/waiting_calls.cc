// Detects calls that wait for the device, whatever their name. Some launches return after their
// kernel (CUDA_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL, backends without queues), and no table lists
// every wait of a runtime. Evidence: nearly every longer call of the name lasts until just after
// the end of the last work launched before it. Device clocks that differ by some microseconds hide
// this for short kernels, and a slow launch may overlap a short kernel by chance. So calls with
// long kernels decide if there are any: a launch that does not wait returns long before their end.
// Of calls that release memory, the first of a series waits and the others find the device idle, so
// each counts individually.

#include <algorithm>
#include <string_view>

#include "flow/build.h"
#include "flow/timed.h"

namespace assay {
namespace {

constexpr int64_t kLeastNs = 20'000;        // shorter calls end with a kernel by chance
// Return time; longer if the call is long, see ends_with().
constexpr int64_t kShortReturnNs = 20'000;
constexpr uint64_t kLeastCalls = 8;

// Counts calls that are long enough to decide.
struct Votes {
  uint64_t calls = 0;
  uint64_t waits = 0;

  void add(bool waited) {
    ++calls;
    waits += waited;
  }
  bool decide() const { return calls >= kLeastCalls; }
  bool agree() const { return decide() && waits * 10 >= calls * 9; }
};

struct OfName {
  Votes all;
  Votes long_kernels;  // calls with own kernels longer than two typical calls

  bool all_wait() const { return long_kernels.decide() ? long_kernels.agree() : all.agree(); }
};

// Median duration of calls, per StringId.
std::vector<int64_t> typical_calls_ns(const FlowRun& run) {
  std::vector<std::vector<int64_t>> durations(run.trace->strings.size());
  for (const FlowCall& call : run.calls) {
    durations[run.trace->api_calls.name[call.row.index()].index()].push_back(call.end_ns -
                                                                             call.start_ns);
  }
  std::vector<int64_t> typical(durations.size(), 0);
  for (size_t name = 0; name < durations.size(); ++name) {
    if (!durations[name].empty()) typical[name] = quantile_ns(durations[name], 0.5, 0);
  }
  return typical;
}

// The last end of a call's own work; INT64_MIN without work.
int64_t own_end_ns(const FlowRun& run, const FlowCall& call) {
  int64_t end_ns = INT64_MIN;
  for (uint32_t k = 0; k < call.work_count; ++k) {
    end_ns = std::max(end_ns, run.works[run.works_of_calls[call.first_work + k]].end_ns);
  }
  return end_ns;
}

// From the first begin to the last end of a call's own kernels. 0 if the call copies: a host that
// stages bytes stays in the call without waiting.
int64_t own_kernels_ns(const FlowRun& run, const FlowCall& call) {
  int64_t start_ns = INT64_MAX;
  for (uint32_t k = 0; k < call.work_count; ++k) {
    const FlowWork& work = run.works[run.works_of_calls[call.first_work + k]];
    if (work.kind == WorkKind::kCopy || work.kind == WorkKind::kFill) return 0;
    start_ns = std::min(start_ns, work.start_ns);
  }
  return call.work_count == 0 ? 0 : own_end_ns(run, call) - start_ns;
}

// True if the call lasts mostly until that work ends, and returns soon after.
bool ends_with(const FlowCall& call, int64_t work_end_ns, int64_t own_ns) {
  const int64_t dur_ns = call.end_ns - call.start_ns;
  return work_end_ns <= call.end_ns &&
         call.end_ns - work_end_ns <= std::max({kShortReturnNs, dur_ns / 5, 3 * own_ns}) &&
         work_end_ns - call.start_ns >= dur_ns / 2;
}

}  // namespace

std::vector<bool> waiting_calls(const FlowRun& run) {
  const auto& names = run.trace->api_calls.name;
  std::vector<Timed> order;
  order.reserve(run.calls.size());
  for (uint32_t c = 0; c < run.calls.size(); ++c) order.push_back({run.calls[c].start_ns, c});
  sort_runs(order);
  const std::vector<int64_t> typical_ns = typical_calls_ns(run);
  std::vector<OfName> of_name(run.trace->strings.size());
  std::vector<bool> waits(run.calls.size(), false);
  std::vector<bool> holds(run.calls.size(), false);  // lasts until its own kernels end
  int64_t last_end_ns = INT64_MIN;  // of works of calls so far
  for (const Timed& at : order) {
    const FlowCall& call = run.calls[at.row];
    const int64_t own_ns = own_end_ns(run, call);
    last_end_ns = std::max(last_end_ns, own_ns);
    const size_t id = names[call.row.index()].index();
    OfName& name = of_name[id];
    const int64_t kernels_ns = own_kernels_ns(run, call);
    if (kernels_ns > 2 * std::max(typical_ns[id], kLeastNs)) {
      // A tenth allows for clock differences.
      name.long_kernels.add(own_ns - call.end_ns <= kernels_ns / 10);
    }
    if (call.end_ns - call.start_ns < kLeastNs) continue;
    const bool releases = run.links->role_of(*run.trace, call.row) == ApiRole::kFree;
    waits[at.row] = last_end_ns != INT64_MIN &&
                    ends_with(call, last_end_ns, releases ? typical_ns[id] : 0);
    name.all.add(waits[at.row]);
    holds[at.row] = kernels_ns > 0 && own_ns <= call.end_ns;
  }
  for (uint32_t c = 0; c < run.calls.size(); ++c) {
    const OfName& name = of_name[names[run.calls[c].row.index()].index()];
    const std::string_view text = run.trace->text(names[run.calls[c].row.index()]);
    const bool releases = run.links->role_of(*run.trace, run.calls[c].row) == ApiRole::kFree &&
                          text.find("Async") == std::string_view::npos;
    waits[c] = (waits[c] && (releases || name.all_wait())) ||
               (holds[c] && name.long_kernels.agree());
  }
  return waits;
}

}  // namespace assay
