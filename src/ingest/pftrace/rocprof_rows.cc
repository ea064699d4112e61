#include "ingest/pftrace/rocprof_rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace assay {
namespace {

enum class RocprofKind : uint8_t { kNone, kKernel, kCopy, kCall, kMarker };

struct RocprofCategory {
  std::string_view name;
  RocprofKind kind;
  std::string_view domain;  // of calls, as the other formats name it
};

// The names of rocprofiler-systems have "rocm_" before them.
constexpr std::array<RocprofCategory, 10> kRocprofCategories = {{
    {"kernel_dispatch", RocprofKind::kKernel, ""},
    {"memory_copy", RocprofKind::kCopy, ""},
    {"hip_api", RocprofKind::kCall, "HIP_API"},
    {"hsa_api", RocprofKind::kCall, "HSA_API"},
    {"marker_api", RocprofKind::kMarker, "MARKER_CORE_API"},
    {"rccl_api", RocprofKind::kCall, "RCCL_API"},
    {"rccl", RocprofKind::kCall, "RCCL_API"},
    {"rocdecode_api", RocprofKind::kCall, "ROCDECODE_API"},
    {"rocjpeg_api", RocprofKind::kCall, "ROCJPEG_API"},
    {"scratch_memory", RocprofKind::kCall, "SCRATCH_MEMORY"},
}};

const RocprofCategory* category_named(std::string_view name) {
  constexpr std::string_view kSystems = "rocm_";
  const bool systems = name.starts_with(kSystems);
  if (systems) name.remove_prefix(kSystems.size());
  for (const RocprofCategory& one : kRocprofCategories) {
    // "rccl" alone is a category of rocprofiler-systems, and a word that others may use.
    if (one.name == name && (systems || name != "rccl")) return &one;
  }
  return nullptr;
}

// An agent as an annotation or a track names it: a number, "Agent-4", "GPU-0", "CPU-1".
struct AgentName {
  int64_t number = -1;
  bool of_gpus = false;  // counts GPUs alone, as HIP does
  bool of_cpus = false;
};

std::optional<int64_t> number_at(std::string_view text, size_t at) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + at) return std::nullopt;
  return number;
}

AgentName agent_in(std::string_view text) {
  AgentName agent;
  const size_t digits = text.find_first_of("0123456789");
  if (digits == std::string_view::npos) return agent;
  agent.number = number_at(text, digits).value_or(-1);
  agent.of_gpus = text.starts_with("GPU");
  agent.of_cpus = text.starts_with("CPU");
  return agent;
}

// The number in brackets after a word: 3 for "STREAM" in "COMPUTE AGENT [1] STREAM [3] (GPU)".
std::optional<int64_t> bracketed(std::string_view text, std::string_view word) {
  const size_t found = text.find(word);
  if (found == std::string_view::npos) return std::nullopt;
  return number_at(text, found + word.size());
}

// The sizes in "(256,1,1)", or a single number.
struct Sizes {
  std::array<uint64_t, 3> axes = {};
  uint64_t total = 0;  // if only that is recorded
};

Sizes sizes_in(std::string_view text) {
  Sizes sizes;
  if (!text.starts_with("(")) return sizes;
  size_t at = 1;
  for (uint64_t& axis : sizes.axes) {
    const auto value = number_at(text, at);
    if (!value || *value < 0) return {};
    axis = static_cast<uint64_t>(*value);
    at = text.find(',', at);
    if (at == std::string_view::npos) break;
    ++at;
  }
  return sizes;
}

// Annotations of one slice by their meaning.
struct Told {
  std::optional<int64_t> correlation;
  std::optional<int64_t> queue;
  std::optional<int64_t> stream;
  std::optional<int64_t> thread;
  std::optional<int64_t> dispatch;
  std::optional<int64_t> shared_bytes;
  std::optional<int64_t> bytes;
  AgentName agent;
  AgentName source;
  AgentName target;
  Sizes group;
  Sizes grid;
};

class RunMaking {
 public:
  explicit RunMaking(PerfettoRows rows) : rows_(std::move(rows)) {}

  RocprofRun make();

 private:
  Told told_of(const PerfettoSlice& slice) const;
  void add_kernel(const PerfettoSlice& slice);
  void add_copy(const PerfettoSlice& slice);
  void add_call(const PerfettoSlice& slice, std::string_view domain);
  void add_agents();
  bool take_times(const PerfettoSlice& slice, int64_t& start_ns, int64_t& end_ns);
  uint64_t correlation(const Told& told, const PerfettoSlice& slice) const {
    return told.correlation ? static_cast<uint64_t>(*told.correlation) : slice.flow;
  }
  int64_t process(const PerfettoSlice& slice) const {
    const int64_t own = rows_.process_of(slice.track);
    return own >= 0 ? own : std::max<int64_t>(first_process_, 0);
  }
  std::string_view track_name(const PerfettoSlice& slice) const {
    return rows_.view(rows_.tracks[slice.track].name);
  }

  PerfettoRows rows_;
  RocprofRun run_;
  int64_t first_process_ = -1;
  std::set<int64_t> gpus_;         // agents of kernels
  std::set<int64_t> copy_gpus_;    // GPUs that copies name, which may be numbered otherwise
  bool gpus_counted_ = false;      // kernels number GPUs from 0, as HIP does
  bool kernels_by_track_ = false;  // only names of tracks give the GPUs of kernels
};

Told RunMaking::told_of(const PerfettoSlice& slice) const {
  Told told;
  for (uint32_t i = 0; i < slice.annotations.count; ++i) {
    const PerfettoAnnotation& one = rows_.annotations[slice.annotations.first + i];
    const bool is_text = one.type == AnnotationType::kText;
    const bool is_number =
        one.type == AnnotationType::kUnsigned || one.type == AnnotationType::kSigned;
    const std::string_view words =
        is_text ? rows_.view(StringId(static_cast<size_t>(one.bits))) : std::string_view();
    const auto number = static_cast<int64_t>(one.bits);
    const auto agent = [&](AgentName& into) {
      if (is_number) into.number = number;
      if (is_text) into = agent_in(words);
    };
    const auto sizes = [&](Sizes& into) {
      if (is_number) into.total = one.bits;
      if (is_text) into = sizes_in(words);
    };
    const auto integer = [&](std::optional<int64_t>& into) {
      if (is_number) into = number;
    };
    switch (one.key) {
      case AnnotationKey::kCorrelation:
        integer(told.correlation);
        break;
      case AnnotationKey::kQueue:
        integer(told.queue);
        break;
      case AnnotationKey::kStream:
        integer(told.stream);
        break;
      case AnnotationKey::kThread:
        integer(told.thread);
        break;
      case AnnotationKey::kDispatch:
        integer(told.dispatch);
        break;
      case AnnotationKey::kSharedBytes:
        integer(told.shared_bytes);
        break;
      case AnnotationKey::kBytes:
        integer(told.bytes);
        break;
      case AnnotationKey::kAgent:
        agent(told.agent);
        break;
      case AnnotationKey::kSourceAgent:
        agent(told.source);
        break;
      case AnnotationKey::kTargetAgent:
        agent(told.target);
        break;
      case AnnotationKey::kGroup:
        sizes(told.group);
        break;
      case AnnotationKey::kGrid:
        sizes(told.grid);
        break;
      default:
        break;
    }
  }
  return told;
}

bool RunMaking::take_times(const PerfettoSlice& slice, int64_t& start_ns, int64_t& end_ns) {
  ++run_.rows;
  if (slice.end_ns == kNoPerfettoTime) {
    ++run_.rows_skipped;  // counted as a begin without an end
    return false;
  }
  start_ns = slice.begin_ns;
  end_ns = slice.end_ns;
  return run_.take_times(true, start_ns, end_ns);
}

void RunMaking::add_kernel(const PerfettoSlice& slice) {
  RocprofKernel kernel;
  if (!take_times(slice, kernel.start_ns, kernel.end_ns)) return;
  const Told told = told_of(slice);
  const std::string_view track = track_name(slice);
  AgentName agent = told.agent;
  if (agent.number < 0) {
    // rocprofiler-systems names the GPU in the track alone, counted as HIP does.
    const auto counted = bracketed(track, "GPU Kernel Dispatch [");
    if (counted) agent = {*counted, true, false};
    kernels_by_track_ |= counted.has_value();
  }
  if (agent.number < 0) {
    agent.number = bracketed(track, "AGENT [").value_or(bracketed(track, "GPU [").value_or(0));
  }
  gpus_counted_ |= agent.of_gpus;
  gpus_.insert(agent.number);
  kernel.agent = agent.number;
  kernel.queue = told.queue.value_or(-1);
  kernel.stream = told.stream ? *told.stream : bracketed(track, "STREAM [").value_or(-1);
  kernel.process = process(slice);
  kernel.thread = told.thread.value_or(-1);
  kernel.dispatch = told.dispatch.value_or(static_cast<int64_t>(run_.kernels.size()) + 1);
  kernel.correlation = correlation(told, slice);
  kernel.name = rows_.strings.intern(without_descriptor(rows_.view(slice.name)));
  if (slice.name == StringId(0)) run_.log.add(ImportCode::kMissingName);
  kernel.grid = told.grid.axes;
  kernel.group = told.group.axes;
  // rocprofv3 records only the product of the three sizes. A launch of one dimension has the same
  // number of workgroups and work-items.
  kernel.grid_items = told.grid.total;
  kernel.group_items = told.group.total;
  if (kernel.grid[0] == 0 && kernel.group[0] == 0 && told.grid.total > 0 && told.group.total > 0) {
    kernel.grid = {told.grid.total, 1, 1};
    kernel.group = {told.group.total, 1, 1};
  }
  kernel.shared_bytes = static_cast<uint64_t>(std::max<int64_t>(told.shared_bytes.value_or(0), 0));
  run_.kernels.push_back(kernel);
}

void RunMaking::add_copy(const PerfettoSlice& slice) {
  RocprofCopy copy;
  if (!take_times(slice, copy.start_ns, copy.end_ns)) return;
  const Told told = told_of(slice);
  const std::string_view track = track_name(slice);
  const std::string_view name = rows_.view(slice.name);
  copy.name = slice.name;
  copy.from_agent = told.source.number;
  copy.to_agent = told.target.number;
  if (copy.to_agent < 0) copy.to_agent = bracketed(track, "AGENT [").value_or(-1);
  if (copy.to_agent < 0) copy.to_agent = bracketed(track, "Agent [").value_or(-1);
  // Hosts have no number here: "CPU-0" and "GPU-0" are two agents of one number.
  if (told.target.of_cpus || name.ends_with("TO_HOST")) copy.to_agent = -1;
  if (told.source.of_cpus || name.find("HOST_TO_") != std::string_view::npos) copy.from_agent = -1;
  if (copy.to_agent >= 0) copy_gpus_.insert(copy.to_agent);
  if (copy.from_agent >= 0) copy_gpus_.insert(copy.from_agent);
  copy.stream = told.stream ? *told.stream : bracketed(track, "STREAM [").value_or(-1);
  copy.process = process(slice);
  copy.correlation = correlation(told, slice);
  copy.bytes = told.bytes.value_or(-1);
  run_.copies.push_back(copy);
}

void RunMaking::add_call(const PerfettoSlice& slice, std::string_view domain) {
  RocprofCall call;
  if (!take_times(slice, call.start_ns, call.end_ns)) return;
  const Told told = told_of(slice);
  call.domain = rows_.strings.intern(domain);
  call.name = slice.name;
  call.process = process(slice);
  const int64_t own = rows_.tracks[slice.track].tid;
  call.thread = told.thread.value_or(own >= 0 ? own : static_cast<int64_t>(slice.track));
  call.correlation = correlation(told, slice);
  run_.calls.push_back(call);
}

// GPUs are numbered as the file counts them, else in the order of their agents, as HIP does. The
// file does not list GPUs without a kernel or copy.
void RunMaking::add_agents() {
  if (kernels_by_track_) {
    // rocprofiler-systems counts the GPUs of kernels, and all agents of the machine for copies.
    std::map<int64_t, int64_t> as_kernels;
    auto gpu = gpus_.begin();
    int64_t next = gpus_.empty() ? 0 : *gpus_.rbegin() + 1;
    for (const int64_t number : copy_gpus_) {
      as_kernels[number] = gpu != gpus_.end() ? *gpu++ : next++;
    }
    for (RocprofCopy& copy : run_.copies) {
      for (int64_t* agent : {&copy.from_agent, &copy.to_agent}) {
        if (*agent >= 0) *agent = as_kernels[*agent];
      }
    }
    for (const auto& [number, ordinal] : as_kernels) gpus_.insert(ordinal);
  } else {
    gpus_.insert(copy_gpus_.begin(), copy_gpus_.end());
  }
  // A copy to the host without annotations does not name its source.
  if (gpus_.size() == 1) {
    for (RocprofCopy& copy : run_.copies) {
      if (copy.from_agent < 0 && copy.to_agent < 0) copy.from_agent = *gpus_.begin();
    }
  }
  for (const int64_t number : gpus_) {
    RocprofAgent agent;
    agent.id = number;
    agent.gpu = true;
    agent.facts.device = number;
    agent.facts.ordinal = gpus_counted_ ? number : -1;
    run_.agents.push_back(agent);
  }
}

RocprofRun RunMaking::make() {
  run_.format = "rocprofv3 pftrace";
  run_.log = rows_.log;
  for (const PerfettoTrack& track : rows_.tracks) {
    if (track.pid >= 0 && first_process_ < 0) first_process_ = track.pid;
    if (track.pid >= 0 && track.tid >= 0 && !rows_.view(track.thread_name).empty()) {
      run_.thread_names[{track.pid, track.tid}] = std::string(rows_.view(track.thread_name));
    }
  }
  std::map<StringId, const RocprofCategory*> kinds;
  for (const PerfettoSlice& slice : rows_.slices) {
    const auto [found, is_new] = kinds.try_emplace(slice.category, nullptr);
    if (is_new) found->second = category_named(rows_.view(slice.category));
    const RocprofCategory* category = found->second;
    const std::string_view name = rows_.view(slice.name);
    switch (category == nullptr ? RocprofKind::kNone : category->kind) {
      case RocprofKind::kKernel:
        add_kernel(slice);
        break;
      case RocprofKind::kCopy:
        add_copy(slice);
        break;
      case RocprofKind::kCall:
        add_call(slice, category->domain);
        break;
      case RocprofKind::kMarker: {
        // A range has its label as its name, calls that control the profiler have their own.
        const bool control = name.starts_with("roctxProfiler") || name.starts_with("roctxName") ||
                             name.starts_with("roctxGetThreadId");
        add_call(slice, control ? "MARKER_CONTROL_API" : category->domain);
        break;
      }
      case RocprofKind::kNone:
        add_call(slice, rows_.view(slice.category));
        break;
    }
  }
  const uint64_t points = rows_.instants.size() + rows_.counters.size();
  run_.rows += points + rows_.stages.size();
  if (points > 0) run_.log.add(ImportCode::kUnknownPhase, -1, points);
  if (!rows_.stages.empty()) {
    run_.log.add(ImportCode::kUnknownRecord, -1, rows_.stages.size());
  }
  add_agents();
  run_.strings = std::move(rows_.strings);
  return std::move(run_);
}

}  // namespace

bool is_rocprof_pftrace(const PerfettoRows& rows) {
  std::set<StringId> seen;
  return std::any_of(rows.slices.begin(), rows.slices.end(), [&](const PerfettoSlice& slice) {
    return seen.insert(slice.category).second &&
           category_named(rows.view(slice.category)) != nullptr;
  });
}

RocprofRun rocprof_run_of(PerfettoRows rows) { return RunMaking(std::move(rows)).make(); }

}  // namespace assay
