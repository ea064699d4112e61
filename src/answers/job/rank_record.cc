#include "answers/job/rank_record.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/checksum.h"
#include "base/files.h"
#include "breakdown/breakdown.h"
#include "flow/flow.h"
#include "kernels/book.h"
#include "trace/import_log.h"

namespace assay {
namespace {

void add_identity(const LoadedTrace& loaded, const BreakdownReport& breakdown, RankRecord& record) {
  const Trace& trace = loaded.trace;
  record.rank = trace.distributed.rank;
  record.world_size = trace.distributed.world_size;
  record.host = host_in_name(trace.source);
  record.window_source = window_source_name(loaded.windows.source);
  record.data_lost = trace.log.data_lost();
  std::set<std::string> names;
  for (const DeviceProperties& device : trace.devices) {
    if (!device.name.empty()) names.insert(device.name);
  }
  record.devices.assign(names.begin(), names.end());
  record.device_count = trace.devices.size();
  for (size_t code = 0; code < kImportCodes; ++code) {
    const uint64_t count = trace.log.entry(static_cast<ImportCode>(code)).count;
    const ImportCodeInfo& info = import_code_info(static_cast<ImportCode>(code));
    if (count > 0) record.notes.push_back({std::string(info.key), count});
  }
  for (const TrustNote& note : breakdown.trust) record.notes.push_back({note.what, note.count});
  std::set<int64_t> devices;
  for (const LevelSpan& span : breakdown.spans) devices.insert(span.gpu);
  if (devices.size() > 1) record.notes.push_back({"several_devices", devices.size()});
}

// Sums the times of several devices and takes the longest span.
void add_iterations(const BreakdownReport& breakdown, RankRecord& record) {
  // A whole trace is not an iteration: positions within it differ between ranks.
  if (breakdown.window_source == WindowSource::kWholeTrace) return;
  std::map<int32_t, RecordIteration> by_number;
  for (const LevelSpan& span : breakdown.spans) {
    if (span.iter == kNoIteration) continue;
    RecordIteration& one = by_number[span.iter];
    one.start_ns =
        one.number == kNoRecordIteration ? span.start_ns : std::min(one.start_ns, span.start_ns);
    one.number = span.iter;
    one.span_ns = std::max(one.span_ns, span.span_ns);
    one.kernel_ns += span.compute.dur_ns - span.compute.concurrent_ns;
    one.launch_ns += span.compute.launch_ns;
    one.comm_wait_ns += span.compute.comm_wait_ns;
    one.copy_ns += span.compute.copy_ns;
    one.exposed_comm_ns += span.exposed_comm_ns;
    if (span.tokens) one.tokens = *span.tokens;
    one.collectives += span.comm_kernels;
  }
  for (const auto& [number, one] : by_number) record.iterations.push_back(one);
}

struct FoundArrival {
  RecordGroup group;
  RecordArrival arrival;
};

std::vector<FoundArrival> find_arrivals(const Trace& trace, const BreakdownReport& breakdown) {
  std::vector<size_t> details(trace.activities.size(), SIZE_MAX);
  for (size_t i = 0; i < trace.collectives.size(); ++i) {
    details[trace.collectives.activity[i].index()] = i;
  }
  std::vector<FoundArrival> found;
  for (const KernelLevel& row : breakdown.rows) {
    if (!row.comm) continue;
    FoundArrival one;
    one.group.kind = breakdown.op_names[row.op];
    one.group.waits = all_wait(one.group.kind);
    if (const size_t i = details[row.activity.index()]; i != SIZE_MAX) {
      MeetingParty party = meeting_party(trace, i);
      one.group.name = std::move(party.name);
      one.group.members = std::move(party.ranks);
      one.group.size = party.members;
      one.arrival.seq = party.seq;
    }
    if (row.window >= 0 && breakdown.window_source != WindowSource::kWholeTrace) {
      one.arrival.iteration = breakdown.iterations[static_cast<size_t>(row.window)];
    }
    one.arrival.start_ns = row.t_ks_ns;
    one.arrival.end_ns = row.t_ke_ns;
    found.push_back(std::move(one));
  }
  std::sort(found.begin(), found.end(), [](const FoundArrival& a, const FoundArrival& b) {
    return std::tie(a.arrival.start_ns, a.arrival.end_ns, a.group) <
           std::tie(b.arrival.start_ns, b.arrival.end_ns, b.group);
  });
  return found;
}

// Sets the local compute time before each arrival: from the latest end among those that ended
// before its start. `found` is sorted by start; `open` holds the ends of running ones.
void find_own_work(std::vector<FoundArrival>& found) {
  std::multiset<int64_t> open;
  int64_t ended_ns = INT64_MIN;
  for (FoundArrival& one : found) {
    while (!open.empty() && *open.begin() <= one.arrival.start_ns) {
      ended_ns = *open.begin();
      open.erase(open.begin());
    }
    if (ended_ns != INT64_MIN) one.arrival.work_ns = one.arrival.start_ns - ended_ns;
    open.insert(one.arrival.end_ns);
  }
}

void add_arrivals(const Trace& trace, const BreakdownReport& breakdown, RankRecord& record) {
  std::vector<FoundArrival> found = find_arrivals(trace, breakdown);
  find_own_work(found);
  // If not all groups fit, the most used ones are kept.
  std::map<RecordGroup, uint64_t> uses;
  for (const FoundArrival& one : found) ++uses[one.group];
  std::vector<std::pair<uint64_t, RecordGroup>> order;
  for (const auto& [group, count] : uses) order.emplace_back(count, group);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::map<RecordGroup, uint32_t> ids;
  for (const auto& [count, group] : order) {
    ids[group] = static_cast<uint32_t>(record.groups.size());
    record.groups.push_back(group);
  }
  for (FoundArrival& one : found) {
    one.arrival.group = ids[one.group];
    record.arrivals.push_back(one.arrival);
  }
  for (RecordGroup& group : record.groups) {
    if (group.members.size() > kMembersKept) group.members.resize(kMembersKept);
  }
}

void add_operations(const BreakdownReport& breakdown, RankRecord& record) {
  std::map<std::string, RecordOperation> by_name;
  for (const KernelLevel& row : breakdown.rows) {
    if (!row.compute) continue;
    RecordOperation& one = by_name[breakdown.op_names[row.op]];
    ++one.kernels;
    one.kernel_ns += row.dur_ns();
    one.launch_ns += row.launch_ns();
    one.comm_wait_ns += row.comm_wait_ns;
    one.copy_ns += row.copy_ns;
    one.durations.add(row.dur_ns());
  }
  for (auto& [name, one] : by_name) {
    one.name = name.empty() ? "unplaced" : name;
    record.operations.push_back(std::move(one));
  }
  std::stable_sort(
      record.operations.begin(), record.operations.end(),
      [](const RecordOperation& a, const RecordOperation& b) { return a.kernel_ns > b.kernel_ns; });
}

void add_kernels(const Trace& trace, const BreakdownReport& breakdown, RankRecord& record) {
  std::map<std::string_view, RecordKernel> by_name;
  for (const KernelLevel& row : breakdown.rows) {
    if (!row.compute) continue;
    RecordKernel& one = by_name[trace.text(row.kernel)];
    ++one.count;
    one.dur_ns += row.dur_ns();
    one.durations.add(row.dur_ns());
  }
  for (auto& [name, one] : by_name) {
    one.name = name.substr(0, kNameKept);
    one.hash = checksum(name.data(), name.size());
    record.kernels.push_back(std::move(one));
  }
  std::stable_sort(
      record.kernels.begin(), record.kernels.end(),
      [](const RecordKernel& a, const RecordKernel& b) { return a.dur_ns > b.dur_ns; });
}

}  // namespace

std::string host_in_name(const std::string& path) {
  const std::string name = file_name(path);
  const auto digits_before = [&name](size_t end) {
    size_t begin = end;
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
    return begin;
  };
  size_t end = name.find(".pt.trace.json");
  if (end == std::string::npos) return "";
  // The time is optional: it is missing if the user named the worker.
  if (const size_t time = digits_before(end); time < end && time > 0 && name[time - 1] == '.') {
    end = time - 1;
  }
  const size_t pid = digits_before(end);
  if (pid == end || pid < 2 || name[pid - 1] != '_') return "";
  return name.substr(0, pid - 1);
}

RankRecord rank_record_of(const LoadedTrace& loaded, const FlowReport& flow,
                          const BreakdownReport& breakdown, RankFold fold) {
  RankRecord record;
  record.stamp.path = loaded.trace.source;
  add_identity(loaded, breakdown, record);
  add_iterations(breakdown, record);
  add_arrivals(loaded.trace, breakdown, record);
  add_operations(breakdown, record);
  add_kernels(loaded.trace, breakdown, record);
  record.causes = {.window_ns = flow.total.window_ns,
                   .compute_ns = flow.total.compute_ns,
                   .collective_ns = flow.total.collective_ns,
                   .copy_ns = flow.total.copy_ns,
                   .idle_ns = flow.total.cause_ns};
  record.fold = std::move(fold);
  return record;
}

Result<RankRecord> make_rank_record(const LoadedTrace& loaded) {
  const FlowModel model = make_flow_model(loaded.trace, loaded.links, loaded.kernels);
  return make_rank_record(loaded, model.run, make_flow_report(model, {}));
}

Result<RankRecord> make_rank_record(const LoadedTrace& loaded, const FlowRun& run,
                                    const FlowReport& flow) {
  ASSAY_TRY_ASSIGN(const BreakdownReport breakdown,
                   analyze_breakdown(loaded.trace, loaded.links, loaded.windows,
                                     {.kernels = loaded.kernels, .flow = &flow.devices}));
  return rank_record_of(loaded, flow, breakdown, fold_rank(run, &loaded.windows));
}

}  // namespace assay
