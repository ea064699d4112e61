#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

#include "ingest/nvtx_ranges.h"
#include "ingest/rocprof/run.h"
#include "trace/builder.h"
#include "trace/hip_kernels.h"

namespace assay {
namespace {

// GPU number of each agent, from 0, in HIP's order.
std::map<int64_t, int64_t> gpu_ordinals(const std::vector<RocprofAgent>& agents) {
  std::map<int64_t, int64_t> ordinals;
  std::map<int64_t, int64_t> told;
  for (const RocprofAgent& agent : agents) {
    if (!agent.gpu) continue;
    ordinals[agent.id] = 0;
    if (agent.facts.ordinal >= 0) told[agent.facts.ordinal] = agent.id;
  }
  if (told.size() == ordinals.size()) {
    for (const auto& [ordinal, id] : told) ordinals[id] = ordinal;
    return ordinals;
  }
  int64_t next = 0;
  for (auto& [id, ordinal] : ordinals) ordinal = next++;
  return ordinals;
}

uint64_t product(const std::array<uint64_t, 3>& sizes) {
  return std::max<uint64_t>(sizes[0], 1) * std::max<uint64_t>(sizes[1], 1) *
         std::max<uint64_t>(sizes[2], 1);
}

uint32_t small(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, std::numeric_limits<uint32_t>::max()));
}

// Number of workgroups; a partly filled one counts.
uint64_t blocks_of(uint64_t items, uint64_t per_block) {
  return per_block == 0 ? 0 : items / per_block + (items % per_block != 0 ? 1 : 0);
}

// Kineto's name for "MEMORY_COPY_HOST_TO_DEVICE".
std::string copy_name(std::string_view recorded) {
  const auto side = [](std::string_view text) { return text.find("HOST") == 0 ? "H" : "D"; };
  const size_t to = recorded.find("_TO_");
  if (to == std::string_view::npos) return "Memcpy " + std::string(recorded);
  const bool from_host = recorded.substr(0, to).ends_with("HOST");
  return std::string("Memcpy ") + (from_host ? "H" : "D") + "to" + side(recorded.substr(to + 4));
}

class TraceMaking {
 public:
  explicit TraceMaking(RocprofRun run)
      : run_(std::move(run)), ordinals_(gpu_ordinals(run_.agents)) {}

  Trace make();

 private:
  void number_correlations();
  uint32_t correlation(uint64_t id);
  int64_t device(int64_t agent) const;
  void add_kernel(const RocprofKernel& kernel);
  void add_call(const RocprofCall& call);
  void add_copy(const RocprofCopy& copy);
  std::string_view view(StringId id) const { return run_.strings.view(id); }
  StringId text(StringId id) { return builder_.text(view(id)); }

  RocprofRun run_;
  std::map<int64_t, int64_t> ordinals_;
  TraceBuilder builder_;
  bool renumber_ = false;
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::vector<uint32_t> ranges_;
};

void TraceMaking::number_correlations() {
  const auto wide = [](uint64_t id) { return id > std::numeric_limits<uint32_t>::max(); };
  for (const RocprofKernel& kernel : run_.kernels) renumber_ |= wide(kernel.correlation);
  for (const RocprofCall& call : run_.calls) renumber_ |= wide(call.correlation);
  for (const RocprofCopy& copy : run_.copies) renumber_ |= wide(copy.correlation);
}

uint32_t TraceMaking::correlation(uint64_t id) {
  if (id == 0) return 0;
  if (!renumber_) return static_cast<uint32_t>(id);
  return numbers_.try_emplace(id, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
}

int64_t TraceMaking::device(int64_t agent) const {
  const auto found = ordinals_.find(agent);
  return found == ordinals_.end() ? agent : found->second;
}

void TraceMaking::add_kernel(const RocprofKernel& kernel) {
  if (kernel.start_ns == kNoCounterTime) return;
  if (kernel.correlation == 0) builder_.log.add(ImportCode::kMissingCorrelation);
  const ActivityKind kind = kind_of_hip_command(view(kernel.name));
  const int64_t stream = kernel.stream >= 0 ? kernel.stream : kernel.queue;
  builder_.activities.push_back({kernel.start_ns, kernel.end_ns - kernel.start_ns,
                                 text(kernel.name), builder_.stream(device(kernel.agent), stream),
                                 correlation(kernel.correlation), 0, kind});
  if (kind != ActivityKind::kKernel) return;
  if (kernel.group[0] == 0 || kernel.grid[0] == 0) return;
  std::array<uint32_t, 3> blocks = {};
  for (size_t i = 0; i < 3; ++i) {
    blocks[i] = small(
        blocks_of(std::max<uint64_t>(kernel.grid[i], 1), std::max<uint64_t>(kernel.group[i], 1)));
  }
  builder_.kernel_shapes.push_back({ActivityId(builder_.activities.size() - 1), blocks[0],
                                    blocks[1], blocks[2], small(kernel.group[0]),
                                    small(std::max<uint64_t>(kernel.group[1], 1)),
                                    small(std::max<uint64_t>(kernel.group[2], 1)),
                                    small(kernel.registers), small(kernel.shared_bytes), 0, 0});
}

// HIP calls become API calls and roctx ranges annotations; HSA and RCCL calls below them go to
// other_events.
void TraceMaking::add_call(const RocprofCall& call) {
  const ThreadId lane = builder_.thread(std::to_string(call.process), std::to_string(call.thread));
  const int64_t dur_ns = call.end_ns - call.start_ns;
  const std::string_view domain = view(call.domain);
  const bool hip =
      domain.starts_with("HIP") || (domain.empty() && view(call.name).starts_with("hip"));
  if (hip) {
    builder_.api_calls.push_back({call.start_ns, dur_ns, text(call.name), lane,
                                  correlation(call.correlation), 0, ApiKind::kRuntime});
    return;
  }
  if (domain.starts_with("MARKER_CORE")) {
    ranges_.push_back(static_cast<uint32_t>(builder_.annotations.size()));
    builder_.annotations.push_back({call.start_ns, dur_ns, text(call.name), lane, 0});
    return;
  }
  builder_.other_events.push_back(
      {call.start_ns, dur_ns, text(call.name), builder_.text(domain), lane});
}

void TraceMaking::add_copy(const RocprofCopy& copy) {
  const bool to_gpu = ordinals_.count(copy.to_agent) != 0;
  const int64_t agent =
      to_gpu || ordinals_.count(copy.from_agent) == 0 ? copy.to_agent : copy.from_agent;
  builder_.activities.push_back({copy.start_ns, copy.end_ns - copy.start_ns,
                                 builder_.text(copy_name(view(copy.name))),
                                 builder_.stream(device(agent), copy.stream),
                                 correlation(copy.correlation), 0, ActivityKind::kMemcpy});
  if (copy.bytes >= 0) {
    builder_.transfers.push_back({ActivityId(builder_.activities.size() - 1), copy.bytes});
  }
}

Trace TraceMaking::make() {
  builder_.log = run_.log;
  builder_.counts.events = run_.rows;
  number_correlations();
  for (const RocprofKernel& kernel : run_.kernels) add_kernel(kernel);
  for (const RocprofCall& call : run_.calls) add_call(call);
  for (const RocprofCopy& copy : run_.copies) add_copy(copy);
  for (const auto& [lane, name] : run_.thread_names) {
    builder_.name_lane(std::to_string(lane.first), std::to_string(lane.second), name);
  }
  add_stand_in_operators(builder_, std::move(ranges_));
  Trace trace = std::move(builder_).finish(0);
  trace.tracer = Tracer::kOther;
  for (const RocprofAgent& agent : run_.agents) {
    if (!agent.gpu) continue;
    DeviceProperties properties;
    properties.id = device(agent.id);
    properties.name = agent.facts.name.empty() ? agent.facts.architecture : agent.facts.name;
    properties.multiprocessors = static_cast<int64_t>(agent.facts.compute_units);
    trace.devices.push_back(std::move(properties));
  }
  std::sort(trace.devices.begin(), trace.devices.end(),
            [](const DeviceProperties& a, const DeviceProperties& b) { return a.id < b.id; });
  trace.metadata.insert(trace.metadata.begin(), run_.metadata.begin(), run_.metadata.end());
  trace.metadata.insert(trace.metadata.begin(), {"profiler", run_.format});
  trace.content_bytes = run_.content_bytes;
  return trace;
}

// Fills the table of values; sums instances of one counter.
void fill_values(const RocprofRun& run, const std::vector<uint32_t>& place, CounterPass& pass) {
  std::map<std::string, std::vector<StringId>> by_name;
  for (const RocprofValue& value : run.values) {
    std::vector<StringId>& ids = by_name[std::string(run.strings.view(value.counter))];
    if (ids.empty()) ids.push_back(value.counter);
  }
  std::unordered_map<uint32_t, size_t> columns;
  for (const auto& [name, ids] : by_name) {
    columns[ids.front().value] = pass.counters.size();
    pass.counters.push_back(name);
  }
  const double missing = std::numeric_limits<double>::quiet_NaN();
  pass.values.assign(pass.dispatches.size() * pass.counters.size(), missing);
  for (const RocprofValue& value : run.values) {
    const size_t row = place[value.kernel];
    double& sum = pass.values[row * pass.counters.size() + columns[value.counter.value]];
    sum = sum == sum ? sum + value.value : value.value;
  }
}

}  // namespace

bool RocprofRun::take_times(bool told, int64_t& start_ns, int64_t& end_ns) {
  const bool sane =
      told && std::max(start_ns, end_ns) <= kLatestNs && std::min(start_ns, end_ns) >= -kLatestNs;
  if (!sane) {
    log.add(told ? ImportCode::kTimestampOverflow : ImportCode::kMissingTimestamp);
    ++rows_skipped;
    return false;
  }
  if (end_ns < start_ns) log.add(ImportCode::kNegativeDuration);
  end_ns = std::max(start_ns, end_ns);
  return true;
}

Result<Trace> rocprof_trace(RocprofRun run) {
  if (run.kernels.empty() && !run.rounded_time.empty()) {
    return Error{ErrorCode::kNotATrace,
                 "times such as " + run.rounded_time +
                     " were rounded when a spreadsheet wrote this file, and kernels are shorter "
                     "than that; give the file as the profiler wrote it",
                 "", -1};
  }
  if (run.kernels.empty()) {
    return Error{ErrorCode::kNotATrace,
                 "no kernel with times in this run of rocprofv3; record with rocprofv3 "
                 "--kernel-trace --hip-runtime-trace",
                 "", -1};
  }
  if (std::max({run.kernels.size(), run.calls.size(), run.copies.size()}) >= UINT32_MAX) {
    return Error{ErrorCode::kUnsupported, "more than 2^32 rows in one table", "", -1};
  }
  return TraceMaking(std::move(run)).make();
}

CounterPass rocprof_pass(const RocprofRun& run, const std::string& source) {
  CounterPass pass;
  pass.source = source;
  pass.format = run.format;
  pass.rows_skipped = run.rows_skipped;
  pass.truncated = run.truncated;
  std::vector<uint32_t> order(run.kernels.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return run.kernels[a].dispatch < run.kernels[b].dispatch;
  });
  std::vector<uint32_t> place(run.kernels.size());
  std::unordered_map<uint32_t, uint32_t> names;
  for (const uint32_t row : order) {
    const RocprofKernel& kernel = run.kernels[row];
    place[row] = static_cast<uint32_t>(pass.dispatches.size());
    const auto [name, is_new] =
        names.try_emplace(kernel.name.value, static_cast<uint32_t>(pass.kernels.size()));
    if (is_new) pass.kernels.emplace_back(run.strings.view(kernel.name));
    CounterDispatch dispatch;
    dispatch.order = kernel.dispatch;
    dispatch.device = kernel.agent;
    dispatch.process = kernel.process;
    dispatch.thread = kernel.thread;
    dispatch.kernel = name->second;
    if (kernel.group[0] > 0 && kernel.grid[0] > 0) {
      dispatch.blocks = 1;
      for (size_t i = 0; i < 3; ++i) {
        dispatch.blocks *= std::max<uint64_t>(1, blocks_of(kernel.grid[i], kernel.group[i]));
      }
      dispatch.threads_per_block = product(kernel.group);
    } else if (kernel.group_items > 0 && kernel.grid_items > 0) {
      dispatch.blocks = blocks_of(kernel.grid_items, kernel.group_items);
      dispatch.threads_per_block = kernel.group_items;
    }
    dispatch.start_ns = kernel.start_ns;
    dispatch.end_ns = kernel.end_ns;
    pass.dispatches.push_back(dispatch);
  }
  fill_values(run, place, pass);
  const std::map<int64_t, int64_t> ordinals = gpu_ordinals(run.agents);
  for (const RocprofAgent& agent : run.agents) {
    if (!agent.gpu) continue;
    pass.devices.push_back(agent.facts);
    pass.devices.back().ordinal = ordinals.at(agent.id);
  }
  for (const RocprofCall& call : run.calls) {
    if (!run.strings.view(call.domain).starts_with("MARKER_CORE")) continue;
    pass.ranges.push_back({std::string(run.strings.view(call.name)), call.start_ns, call.end_ns});
  }
  return pass;
}

}  // namespace assay
