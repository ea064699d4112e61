// Calls that wait for the device whatever their name says: launches that return after their kernel
// (CUDA_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL, backends without queues), and the waits of runtimes
// whose names are in no table. Told by what they do: nearly every longer call of the name goes on
// until just after the end of the last work handed over before it.

#include <algorithm>

#include "flow/build.h"
#include "flow/timed.h"

namespace assay {
namespace {

constexpr int64_t kLeastNs = 20'000;        // shorter calls end beside a kernel by chance
constexpr int64_t kShortReturnNs = 20'000;  // longer ones are a fifth of the call at most
constexpr uint64_t kLeastCalls = 8;

struct OfName {
  uint64_t calls = 0;
  uint64_t waits = 0;
};

// The last end of a call's own work.
int64_t own_end_ns(const FlowRun& run, const FlowCall& call) {
  int64_t end_ns = INT64_MIN;
  for (uint32_t k = 0; k < call.work_count; ++k) {
    end_ns = std::max(end_ns, run.works[run.works_of_calls[call.first_work + k]].end_ns);
  }
  return end_ns;
}

// Whether the call spends most of its time with that work, and returns soon after its end.
bool ends_with(const FlowCall& call, int64_t work_end_ns) {
  const int64_t dur_ns = call.end_ns - call.start_ns;
  return work_end_ns <= call.end_ns &&
         call.end_ns - work_end_ns <= std::max(kShortReturnNs, dur_ns / 5) &&
         work_end_ns - call.start_ns >= dur_ns / 2;
}

}  // namespace

std::vector<bool> waiting_calls(const FlowRun& run) {
  const auto& names = run.trace->api_calls.name;
  std::vector<Timed> order;
  order.reserve(run.calls.size());
  for (uint32_t c = 0; c < run.calls.size(); ++c) order.push_back({run.calls[c].start_ns, c});
  sort_runs(order);
  std::vector<OfName> of_name(run.trace->strings.size());
  std::vector<bool> waits(run.calls.size(), false);
  int64_t last_end_ns = INT64_MIN;  // of the work of calls that began before
  for (const Timed& at : order) {
    const FlowCall& call = run.calls[at.row];
    last_end_ns = std::max(last_end_ns, own_end_ns(run, call));
    if (call.end_ns - call.start_ns < kLeastNs) continue;
    OfName& name = of_name[names[call.row.index()].index()];
    waits[at.row] = last_end_ns != INT64_MIN && ends_with(call, last_end_ns);
    ++name.calls;
    name.waits += waits[at.row];
  }
  for (uint32_t c = 0; c < run.calls.size(); ++c) {
    const OfName& name = of_name[names[run.calls[c].row.index()].index()];
    const bool told = name.calls >= kLeastCalls && name.waits * 10 >= name.calls * 9;
    waits[c] = waits[c] && told;
  }
  return waits;
}

}  // namespace assay
