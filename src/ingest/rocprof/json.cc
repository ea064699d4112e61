#include <algorithm>
#include <unordered_map>

#include "base/json_string.h"
#include "base/json_tree.h"
#include "ingest/rocprof/run.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/shape.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTool = "rocprofiler-sdk-tool";

const Json kNothing;

// The member of an object, or null if missing: members differ between versions.
const Json& member(const Json& object, const char* key) {
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

int64_t integer(const Json& value, int64_t missing = 0) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    return number > INT64_MAX ? missing : static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    return number > -9e18 && number < 9e18 ? static_cast<int64_t>(number) : missing;
  }
  return missing;
}

uint64_t count_of(const Json& value) {
  return static_cast<uint64_t>(std::max<int64_t>(integer(value), 0));
}

// The number of {"handle": n}, or n in older files.
int64_t handle(const Json& value, int64_t missing = 0) {
  return value.is_object() ? integer(member(value, "handle"), missing) : integer(value, missing);
}

std::string words(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

uint64_t internal_id(const Json& record) {
  const Json& id = member(record, "correlation_id");
  return id.is_object() ? count_of(member(id, "internal")) : count_of(id);
}

void fill_facts(const Json& agent, CounterDevice& facts) {
  const auto number = [&](const char* key) {
    return static_cast<double>(count_of(member(agent, key)));
  };
  facts.compute_units = number("cu_count");
  facts.simd_per_cu = number("simd_per_cu");
  facts.xcds = number("num_xcc");
  facts.max_clock_mhz = number("max_engine_clk_fcompute");
}

template <typename Visit>
void for_each(const Json& list, Visit&& visit) {
  if (!list.is_array()) return;
  for (const Json& element : list) visit(element);
}

class JsonRun {
 public:
  JsonRun(const Json& root, RocprofRun& run) : root_(root), run_(run) {}

  void read();

 private:
  void read_agents();
  void read_names();
  void read_kernels();
  void read_counters();
  void read_calls(const char* list);
  void read_copies();
  bool read_times(const Json& record, int64_t& start, int64_t& end);
  RocprofKernel kernel_of(const Json& record, const Json& dispatch);
  StringId operation(int64_t kind, int64_t operation);
  StringId counter(uint64_t id);
  // Records of a kind, from "buffer_records" or, in older runs, "callback_records".
  const Json& list(const char* key) const;

  const Json& root_;
  RocprofRun& run_;
  int64_t process_ = 0;
  std::unordered_map<int64_t, StringId> kernels_;
  std::unordered_map<uint64_t, StringId> counters_;
  std::vector<StringId> domains_;
  std::vector<std::vector<StringId>> operations_;
  std::unordered_map<uint64_t, StringId> labels_;  // labels of markers, by correlation id
};

const Json& JsonRun::list(const char* key) const {
  const Json& buffered = member(member(root_, "buffer_records"), key);
  if (buffered.is_array() && !buffered.empty()) return buffered;
  const Json& called = member(member(root_, "callback_records"), key);
  return called.is_array() ? called : buffered;
}

void JsonRun::read_agents() {
  for_each(member(root_, "agents"), [&](const Json& json) {
    RocprofAgent agent;
    agent.id = handle(member(json, "id"));
    agent.gpu = integer(member(json, "type")) == 2;
    agent.facts.device = agent.id;
    agent.facts.ordinal = agent.gpu ? integer(member(json, "logical_node_type_id"), -1) : -1;
    agent.facts.name = words(member(json, "product_name"));
    agent.facts.architecture = words(member(json, "name"));
    fill_facts(json, agent.facts);
    run_.agents.push_back(std::move(agent));
  });
}

void JsonRun::read_names() {
  for_each(member(root_, "kernel_symbols"), [&](const Json& symbol) {
    std::string name = words(member(symbol, "formatted_kernel_name"));
    if (name.empty()) name = words(member(symbol, "demangled_kernel_name"));
    if (name.empty()) name = words(member(symbol, "kernel_name"));
    kernels_[integer(member(symbol, "kernel_id"), -1)] = run_.text(name);
  });
  for_each(member(root_, "counters"), [&](const Json& one) {
    counters_[static_cast<uint64_t>(handle(member(one, "id")))] =
        run_.text(words(member(one, "name")));
  });
  const Json& strings = member(root_, "strings");
  for_each(member(strings, "buffer_records"), [&](const Json& kind) {
    domains_.push_back(run_.text(words(member(kind, "kind"))));
    operations_.emplace_back();
    for_each(member(kind, "operations"),
             [&](const Json& name) { operations_.back().push_back(run_.text(words(name))); });
  });
  for_each(member(strings, "marker_api"), [&](const Json& label) {
    labels_[count_of(member(label, "key"))] = run_.text(words(member(label, "value")));
  });
}

StringId JsonRun::operation(int64_t kind, int64_t operation) {
  const auto row = static_cast<size_t>(kind);
  if (kind < 0 || row >= operations_.size()) return StringId(0);
  const auto column = static_cast<size_t>(operation);
  const bool known = operation >= 0 && column < operations_[row].size();
  return known ? operations_[row][column] : StringId(0);
}

// In some versions, the high bits of a record's id are the instance.
StringId JsonRun::counter(uint64_t id) {
  const auto whole = counters_.find(id);
  if (whole != counters_.end()) return whole->second;
  const auto low = counters_.find(id & 0xFFFF);
  return low == counters_.end() ? StringId(0) : low->second;
}

bool JsonRun::read_times(const Json& record, int64_t& start, int64_t& end) {
  ++run_.rows;
  start = integer(member(record, "start_timestamp"), kNoCounterTime);
  end = integer(member(record, "end_timestamp"), kNoCounterTime);
  return run_.take_times(start != kNoCounterTime && end != kNoCounterTime, start, end);
}

RocprofKernel JsonRun::kernel_of(const Json& record, const Json& dispatch) {
  RocprofKernel kernel;
  kernel.agent = handle(member(dispatch, "agent_id"));
  kernel.queue = handle(member(dispatch, "queue_id"), -1);
  kernel.stream = handle(member(record, "stream_id"), -1);
  kernel.process = process_;
  kernel.thread = integer(member(record, "thread_id"), -1);
  kernel.dispatch = integer(member(dispatch, "dispatch_id"));
  kernel.correlation = internal_id(record);
  const auto name = kernels_.find(integer(member(dispatch, "kernel_id"), -1));
  if (name != kernels_.end()) kernel.name = name->second;
  if (!kernel.name) {
    kernel.name = StringId(0);
    run_.log.add(ImportCode::kMissingName);
  }
  constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};
  for (size_t i = 0; i < 3; ++i) {
    kernel.grid[i] = count_of(member(member(dispatch, "grid_size"), kAxes[i]));
    kernel.group[i] = count_of(member(member(dispatch, "workgroup_size"), kAxes[i]));
  }
  kernel.shared_bytes = count_of(member(dispatch, "group_segment_size"));
  return kernel;
}

void JsonRun::read_kernels() {
  for_each(list("kernel_dispatch"), [&](const Json& record) {
    RocprofKernel kernel;
    int64_t start = 0;
    int64_t end = 0;
    if (!read_times(record, start, end)) return;
    kernel = kernel_of(record, member(record, "dispatch_info"));
    kernel.start_ns = start;
    kernel.end_ns = end;
    run_.kernels.push_back(kernel);
  });
}

// Reads the counter values of dispatches. Instances of one counter are summed later.
void JsonRun::read_counters() {
  std::unordered_map<int64_t, uint32_t> traced;
  for (size_t i = 0; i < run_.kernels.size(); ++i) {
    traced.emplace(run_.kernels[i].dispatch, static_cast<uint32_t>(i));
  }
  for_each(list("counter_collection"), [&](const Json& record) {
    ++run_.rows;
    const Json& data = member(record, "dispatch_data");
    const Json& dispatch = member(data, "dispatch_info");
    const int64_t id = integer(member(dispatch, "dispatch_id"), -1);
    const auto place = traced.try_emplace(id, static_cast<uint32_t>(run_.kernels.size()));
    const uint32_t kernel_index = place.first->second;
    if (place.second) {
      RocprofKernel kernel = kernel_of(data, dispatch);
      kernel.thread = integer(member(record, "thread_id"), -1);
      const int64_t start = integer(member(data, "start_timestamp"), kNoCounterTime);
      const int64_t end = integer(member(data, "end_timestamp"), kNoCounterTime);
      if (start > 0 && end >= start && end <= kLatestNs) {
        kernel.start_ns = start;
        kernel.end_ns = end;
      }
      run_.kernels.push_back(kernel);
    }
    for_each(member(record, "records"), [&](const Json& one) {
      const StringId name = counter(static_cast<uint64_t>(handle(member(one, "counter_id"))));
      const Json& value = member(one, "value");
      if (name == StringId(0) || !value.is_number()) {
        run_.log.add(ImportCode::kWrongType);
        ++run_.rows_skipped;
        return;
      }
      run_.values.push_back({kernel_index, name, value.get<double>()});
    });
  });
}

void JsonRun::read_calls(const char* key) {
  for_each(list(key), [&](const Json& record) {
    RocprofCall call;
    if (!read_times(record, call.start_ns, call.end_ns)) return;
    const int64_t kind = integer(member(record, "kind"), -1);
    const auto row = static_cast<size_t>(kind);
    call.domain = kind >= 0 && row < domains_.size() ? domains_[row] : StringId(0);
    call.name = operation(kind, integer(member(record, "operation"), -1));
    call.process = process_;
    call.thread = integer(member(record, "thread_id"));
    call.correlation = internal_id(record);
    const auto label = labels_.find(call.correlation);
    if (run_.strings.view(call.domain).starts_with("MARKER") && label != labels_.end())
      call.name = label->second;
    run_.calls.push_back(call);
  });
}

void JsonRun::read_copies() {
  for_each(list("memory_copy"), [&](const Json& record) {
    RocprofCopy copy;
    if (!read_times(record, copy.start_ns, copy.end_ns)) return;
    copy.name =
        operation(integer(member(record, "kind"), -1), integer(member(record, "operation"), -1));
    copy.from_agent = handle(member(record, "src_agent_id"), -1);
    copy.to_agent = handle(member(record, "dst_agent_id"), -1);
    copy.stream = handle(member(record, "stream_id"), -1);
    copy.process = process_;
    copy.correlation = internal_id(record);
    copy.bytes = integer(member(record, "bytes"), -1);
    run_.copies.push_back(copy);
  });
}

void JsonRun::read() {
  process_ = integer(member(member(root_, "metadata"), "pid"));
  read_agents();
  read_names();
  read_kernels();
  read_counters();
  for (const char* key : {"hip_api", "hsa_api", "marker_api", "rccl_api"}) read_calls(key);
  read_copies();
}

Error format_error(std::string message, int64_t offset) {
  return Error{ErrorCode::kFormat, std::move(message), "", offset};
}

}  // namespace

bool is_rocprof_json(std::string_view head) {
  const size_t brace = first_text_byte(head);
  if (brace == std::string_view::npos || head[brace] != '{') return false;
  const size_t quote = head.find_first_not_of(" \t\r\n", brace + 1);
  return quote != std::string_view::npos && head[quote] == '"' &&
         head.substr(quote + 1).starts_with(kTool);
}

void read_agent_facts(std::string_view json, CounterDevice& facts) {
  const Json parsed = parsed_json(json);
  if (parsed.is_object()) fill_facts(parsed, facts);
}

Result<RocprofRun> read_rocprof_json(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  if (nested_too_deep(text)) {
    return Error{ErrorCode::kFormat, "no results of rocprofv3 are nested this deep", path, -1};
  }
  Json root;
  try {
    root = Json::parse(text, nullptr, true, false);
  } catch (const Json::parse_error& error) {
    const bool at_end = error.byte >= text.size();
    if (at_end) {
      return Error{ErrorCode::kTruncated, "the file ends in the middle; copy it again", path,
                   static_cast<int64_t>(text.size())};
    }
    Error refused = format_error("not JSON", static_cast<int64_t>(error.byte));
    refused.file = path;
    return refused;
  } catch (const std::exception& error) {
    return Error{ErrorCode::kFormat, std::string("cannot be read: ") + error.what(), path, -1};
  }
  const Json& tool = member(root, kTool.data());
  if (!tool.is_array() || tool.empty()) {
    return Error{ErrorCode::kFormat, "\"rocprofiler-sdk-tool\" is not a list of runs", path, -1};
  }
  if (tool.size() > 1) {
    return Error{ErrorCode::kUnsupported,
                 "the file holds several runs; give each a file of its own", path, -1};
  }
  RocprofRun run;
  run.format = "rocprofv3 JSON";
  run.content_bytes = text.size();
  JsonRun(tool.front(), run).read();
  return run;
}

}  // namespace assay
