// Calls that wait for the device whatever their name says: launches that return after their kernel
// (CUDA_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL, backends without queues), and the waits of runtimes
// whose names are in no table. Told by what they do: nearly every longer call of the name goes on
// until just after the end of the last work handed over before it. Of calls that release memory the
// first of a series waits and the others find the device idle: each is told by itself.

#include <algorithm>
#include <string_view>

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

// The usual time of calls that release memory, by name: what a wait comes on top of.
std::vector<int64_t> usual_releases_ns(const FlowRun& run) {
  std::vector<std::vector<int64_t>> durations(run.trace->strings.size());
  for (const FlowCall& call : run.calls) {
    if (run.links->role_of(*run.trace, call.row) != ApiRole::kFree) continue;
    durations[run.trace->api_calls.name[call.row.index()].index()].push_back(call.end_ns -
                                                                             call.start_ns);
  }
  std::vector<int64_t> usual(durations.size(), 0);
  for (size_t name = 0; name < durations.size(); ++name) {
    if (!durations[name].empty()) usual[name] = quantile_ns(durations[name], 0.5, 0);
  }
  return usual;
}

// The last end of a call's own work.
int64_t own_end_ns(const FlowRun& run, const FlowCall& call) {
  int64_t end_ns = INT64_MIN;
  for (uint32_t k = 0; k < call.work_count; ++k) {
    end_ns = std::max(end_ns, run.works[run.works_of_calls[call.first_work + k]].end_ns);
  }
  return end_ns;
}

// Whether the call spends most of its time with that work, and returns soon after its end, or not
// much later than what it does itself takes.
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
  const std::vector<int64_t> release_ns = usual_releases_ns(run);
  std::vector<OfName> of_name(run.trace->strings.size());
  std::vector<bool> waits(run.calls.size(), false);
  int64_t last_end_ns = INT64_MIN;  // of the work of calls that began before
  for (const Timed& at : order) {
    const FlowCall& call = run.calls[at.row];
    last_end_ns = std::max(last_end_ns, own_end_ns(run, call));
    if (call.end_ns - call.start_ns < kLeastNs) continue;
    const size_t id = names[call.row.index()].index();
    OfName& name = of_name[id];
    waits[at.row] = last_end_ns != INT64_MIN && ends_with(call, last_end_ns, release_ns[id]);
    ++name.calls;
    name.waits += waits[at.row];
  }
  for (uint32_t c = 0; c < run.calls.size(); ++c) {
    const OfName& name = of_name[names[run.calls[c].row.index()].index()];
    const std::string_view text = run.trace->text(names[run.calls[c].row.index()]);
    const bool releases = run.links->role_of(*run.trace, run.calls[c].row) == ApiRole::kFree &&
                          text.find("Async") == std::string_view::npos;
    const bool told = releases || (name.calls >= kLeastCalls && name.waits * 10 >= name.calls * 9);
    waits[c] = waits[c] && told;
  }
  return waits;
}

}  // namespace assay
