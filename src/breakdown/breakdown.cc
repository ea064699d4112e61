#include "breakdown/breakdown.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/intervals.h"
#include "breakdown/overhead.h"
#include "breakdown/place.h"
#include "breakdown/tokens.h"
#include "flow/causes.h"
#include "kernels/name.h"

namespace assay {
namespace {

template <typename Enum, size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < N ? names[index] : std::string_view();
}

constexpr std::array<std::string_view, 7> kPhaseNames = {
    "none", "forward", "backward", "recompute", "optimizer", "prefill", "decode"};

int32_t iteration_of(const BreakdownReport& report, int32_t window) {
  return window < 0 ? kNoIteration : report.iterations[static_cast<size_t>(window)];
}

void sort_rows(std::vector<KernelLevel>& rows) {
  std::sort(rows.begin(), rows.end(), [](const KernelLevel& a, const KernelLevel& b) {
    return std::tie(a.gpu, a.t_ks_ns, a.t_ke_ns, a.activity) <
           std::tie(b.gpu, b.t_ks_ns, b.t_ke_ns, b.activity);
  });
}

// Calls visit(first, last) for the rows of every GPU.
template <typename Visit>
void for_each_gpu(std::vector<KernelLevel>& rows, Visit&& visit) {
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].gpu == rows[begin].gpu) ++end;
    visit(begin, end);
  }
}

const std::vector<FlowSlice>& idle_of(const std::vector<DeviceFlow>& devices, int64_t gpu) {
  static const std::vector<FlowSlice> kNothing;
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [gpu](const DeviceFlow& one) { return one.device == gpu; });
  return found == devices.end() ? kNothing : found->idle;
}

void measure(const Trace& trace, const Links& links, const std::vector<DeviceFlow>& devices,
             BreakdownReport& report) {
  const std::vector<Interval> blocked = blocked_host(trace, links);
  const bool host_told = !trace.ops.empty() || !trace.frames.empty();
  for_each_gpu(report.rows, [&](size_t begin, size_t end) {
    std::vector<KernelLevel> rows(report.rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                  report.rows.begin() + static_cast<std::ptrdiff_t>(end));
    if (report.definition == LevelDefinition::kChopper) {
      measure_gpu_as_chopper(rows, trace);
    } else {
      const CauseTimes causes = measure_gpu(rows, blocked, trace.unrecorded,
                                            idle_of(devices, report.rows[begin].gpu), host_told);
      for (size_t c = 0; c < causes.size(); ++c) report.idle_ns[c] += causes[c];
    }
    std::copy(rows.begin(), rows.end(), report.rows.begin() + static_cast<std::ptrdiff_t>(begin));
  });
}

void sum_cells(BreakdownReport& report) {
  const auto key = [&report](const KernelLevel& row) {
    return std::tuple(row.gpu, iteration_of(report, row.window), row.phase, row.layer, row.op,
                      row.op_type);
  };
  std::vector<uint32_t> order(report.rows.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(key(report.rows[a]), a) < std::pair(key(report.rows[b]), b);
  });
  for (uint32_t i : order) {
    const KernelLevel& row = report.rows[i];
    const auto [gpu, iter, phase, layer, op, op_type] = key(row);
    const bool same = !report.cells.empty() && [&] {
      const LevelCell& cell = report.cells.back();
      return std::tuple(cell.gpu, cell.iter, cell.phase, cell.layer, cell.op, cell.op_type) ==
             key(row);
    }();
    if (!same) report.cells.push_back({gpu, iter, phase, layer, op, op_type, {}});
    report.cells.back().sums.add(row);
  }
}

void sum_kernels(const Trace& trace, BreakdownReport& report) {
  std::map<std::tuple<LevelPhase, int32_t, uint32_t, StringId>, LevelSums> by_name;
  for (const KernelLevel& row : report.rows) {
    by_name[{row.phase, stack_of(report.stacks, row.layer), row.op, row.kernel}].add(row);
  }
  // Merge kernels with equal displayed names.
  std::unordered_map<uint32_t, std::string> words;
  std::map<std::tuple<LevelPhase, int32_t, uint32_t, std::string>, LevelSums> by_words;
  for (const auto& [key, sums] : by_name) {
    const auto& [phase, stack, op, name] = key;
    std::string& text = words[name.value];
    if (text.empty()) text = describe_kernel(trace.text(name));
    by_words[{phase, stack, op, text}].add(sums);
  }
  for (const auto& [key, sums] : by_words) {
    const auto& [phase, stack, op, text] = key;
    report.kernels.push_back({phase, stack, op, text, sums});
  }
}

// The frontier of a GPU is the latest end of a compute kernel so far. Each kernel advances it by
// its bubble plus the part of its duration beyond the frontier. The sum of these advances is the
// span, whatever the overlap.
void sum_spans(BreakdownReport& report, const std::vector<std::optional<int64_t>>& tokens) {
  std::map<std::pair<int64_t, int32_t>, LevelSpan> spans;
  std::map<std::pair<int64_t, int32_t>, std::vector<Interval>> comm;
  std::map<std::pair<int64_t, int32_t>, std::vector<Interval>> compute;
  int64_t frontier_ns = kNoTime;
  int64_t gpu = 0;
  for (const KernelLevel& row : report.rows) {
    const std::pair key(row.gpu, row.window);
    const auto [found, is_new] = spans.try_emplace(key);
    LevelSpan& span = found->second;
    if (is_new) {
      span.gpu = row.gpu;
      span.iter = iteration_of(report, row.window);
      span.start_ns = kNoTime;
      if (row.window >= 0) span.tokens = tokens[static_cast<size_t>(row.window)];
    }
    if (row.comm) {
      ++span.comm_kernels;
      comm[key].push_back({row.t_ks_ns, row.t_ke_ns});
    }
    if (!row.compute) continue;
    compute[key].push_back({row.t_ks_ns, row.t_ke_ns});
    if (frontier_ns == kNoTime || gpu != row.gpu) frontier_ns = row.t_ks_ns;
    gpu = row.gpu;
    if (span.start_ns == kNoTime) span.start_ns = frontier_ns;
    span.span_ns += std::max(row.t_ke_ns, frontier_ns) - frontier_ns - row.unrecorded_ns;
    frontier_ns = std::max(frontier_ns, row.t_ke_ns);
    if (span.compute.activities == 0) span.first.add(row);
    span.compute.add(row);
  }
  report.spans.reserve(spans.size());
  for (auto& [key, span] : spans) {
    if (const auto of_span = comm.find(key); of_span != comm.end()) {
      const std::vector<Interval> collectives = merge_intervals(std::move(of_span->second));
      span.comm_ns = length_ns(collectives);
      span.exposed_comm_ns =
          length_ns(subtract(collectives, merge_intervals(std::move(compute[key]))));
    }
    if (span.start_ns == kNoTime) span.start_ns = 0;
    if (span.tokens && span.span_ns > 0) {
      span.tokens_per_s =
          static_cast<double>(*span.tokens) * 1e9 / static_cast<double>(span.span_ns);
    }
    report.spans.push_back(span);
  }
}

// Compute kernels may span only a part of the run; measures the collectives and copies outside
// their span.
void measure_outside(const BreakdownReport& report, GpuExtent& extent) {
  std::vector<Interval> comm;
  std::vector<Interval> copies;
  for (const KernelLevel& row : report.rows) {
    if (row.gpu != extent.gpu || row.compute) continue;
    if (row.comm) comm.push_back({row.t_ks_ns, row.t_ke_ns});
    if (row.op_type == OpType::kCopy) copies.push_back({row.t_ks_ns, row.t_ke_ns});
  }
  const std::vector<Interval> inside = merge_intervals({{extent.first_ns, extent.last_ns}});
  const std::vector<Interval> collectives = merge_intervals(std::move(comm));
  extent.comm_outside_ns = length_ns(subtract(collectives, inside));
  extent.copy_outside_ns =
      length_ns(subtract(subtract(merge_intervals(std::move(copies)), collectives), inside));
}

void find_extents(const std::vector<Interval>& unrecorded, BreakdownReport& report) {
  for (const KernelLevel& row : report.rows) {
    if (!row.compute) continue;
    if (report.extents.empty() || report.extents.back().gpu != row.gpu) {
      report.extents.push_back({.gpu = row.gpu, .first_ns = row.t_ks_ns, .last_ns = row.t_ke_ns});
    }
    GpuExtent& extent = report.extents.back();
    extent.last_ns = std::max(extent.last_ns, row.t_ke_ns);
  }
  for (GpuExtent& extent : report.extents) {
    extent.unrecorded_ns = length_in(unrecorded, {extent.first_ns, extent.last_ns});
    measure_outside(report, extent);
  }
}

void list_collectives(const Trace& trace, BreakdownReport& report) {
  std::vector<size_t> details(trace.activities.size(), SIZE_MAX);
  for (size_t i = 0; i < trace.collectives.size(); ++i) {
    details[trace.collectives.activity[i].index()] = i;
  }
  std::map<CollectiveGroup, uint32_t> ids;
  struct Found {
    CollectiveGroup group;
    CollectiveEvent event;
  };
  std::vector<Found> found;
  for (const KernelLevel& row : report.rows) {
    if (!row.comm) continue;
    Found one;
    one.group.kind = report.op_names[row.op];
    if (const size_t i = details[row.activity.index()]; i != SIZE_MAX) {
      MeetingParty party = meeting_party(trace, i);
      one.group.name = std::move(party.name);
      one.group.ranks = std::move(party.ranks);
      one.event.seq = party.seq;
    }
    one.group.all_wait = all_wait(one.group.kind);
    one.event.iter = iteration_of(report, row.window);
    one.event.phase = row.phase;
    one.event.start_ns = row.t_ks_ns;
    one.event.end_ns = row.t_ke_ns;
    ids.try_emplace(one.group, 0);
    found.push_back(std::move(one));
  }
  for (auto& [group, id] : ids) {
    id = static_cast<uint32_t>(report.groups.size());
    report.groups.push_back(group);
  }
  for (Found& one : found) {
    one.event.group = ids[one.group];
    report.collectives.push_back(one.event);
  }
  std::stable_sort(report.collectives.begin(), report.collectives.end(),
                   [](const CollectiveEvent& a, const CollectiveEvent& b) {
                     return std::tie(a.group, a.start_ns) < std::tie(b.group, b.start_ns);
                   });
}

void add_notes(BreakdownReport& report) {
  const PlacementStats& placement = report.placement;
  uint64_t unlinked = 0;
  int64_t unlinked_bubble_ns = 0;
  for (const KernelLevel& row : report.rows) {
    if (!row.compute || row.t_l_ns != kNoTime) continue;
    ++unlinked;
    unlinked_bubble_ns += row.launch_ns();
  }
  if (unlinked > 0) {
    report.trust.push_back({"breakdown_unlinked", unlinked, unlinked_bubble_ns, "prep_ns,call_ns",
                            unlinked_bubble_ns == 0
                                ? "compute kernels without a launch call in the trace: their "
                                  "launch overhead is unknown, and none is counted"
                                : "compute kernels without a launch call in the trace: their "
                                  "launch overhead is all booked as call time, the split is not "
                                  "known"});
  }
  if (placement.unplaced.activities > 0) {
    report.trust.push_back({"breakdown_unplaced", placement.unplaced.activities,
                            placement.unplaced.dur_ns, "phase,layer,op",
                            "device activities without a known operation; they count in totals and "
                            "are listed as `unplaced` or b_unmapped"});
  }
  PlacementCount likeness;
  for (size_t by = 0; by < kPlacedBy; ++by) {
    if (!is_likeness(static_cast<PlacedBy>(by))) continue;
    likeness.activities += placement.by[by].activities;
    likeness.dur_ns += placement.by[by].dur_ns;
  }
  if (likeness.activities > 0) {
    report.trust.push_back(
        {"breakdown_likeness", likeness.activities, likeness.dur_ns, "layer,op",
         "device activities attributed by repetition, or like another iteration: likely, not "
         "recorded; assay breakdown --explain-attribution shows the evidence"});
  }
  if (placement.phase_by_name.activities > 0) {
    report.trust.push_back(
        {"breakdown_phase_by_name", placement.phase_by_name.activities,
         placement.phase_by_name.dur_ns, "phase",
         "device activities that are backward or optimizer work by kernel name alone: likely, not "
         "recorded. Others of these phases may have no such name"});
  }
  if (placement.no_phase.activities > 0) {
    report.trust.push_back({"breakdown_no_phase", placement.no_phase.activities,
                            placement.no_phase.dur_ns, "phase",
                            "device activities without recorded evidence of forward, backward or "
                            "optimizer work; they are in no phase"});
  }
}

}  // namespace

std::string_view level_phase_name(LevelPhase phase) { return name_in(kPhaseNames, phase); }

std::optional<LevelPhase> level_phase_from(std::string_view name) {
  for (size_t i = 0; i < kPhaseNames.size(); ++i) {
    if (kPhaseNames[i] == name) return static_cast<LevelPhase>(i);
  }
  return std::nullopt;
}

std::string_view placed_by_name(PlacedBy by) {
  return name_in<PlacedBy, kPlacedBy>(
      {"nothing", "map", "label", "module", "flow", "sequence", "between", "gradient", "structure",
       "operator", "collective", "optimizer", "twin", "recording", "kernel_name"},
      by);
}

bool is_likeness(PlacedBy by) { return by == PlacedBy::kStructure || by == PlacedBy::kTwin; }

std::string_view unplaced_reason_name(UnplacedReason reason) {
  return name_in<UnplacedReason, kUnplacedReasons>(
      {"placed", "carried_over", "no_launch", "no_operator", "no_forward", "graph_replay"}, reason);
}

void LevelSums::add(const KernelLevel& row) {
  ++activities;
  kernels += row.is_kernel;
  dur_ns += row.dur_ns();
  prep_ns += row.prep_ns;
  call_ns += row.call_ns;
  launch_ns += row.launch_ns();
  comm_wait_ns += row.comm_wait_ns;
  comm_alone_ns += row.comm_alone_ns;
  copy_ns += row.copy_ns;
  other_idle_ns += row.other_idle_ns;
  overlap_ns += row.overlap_ns;
  concurrent_ns += row.concurrent_ns;
  op_dur_ns += row.dur_ns() + row.inner_bubble_ns;
  if (is_likeness(row.by)) likeness_ns += row.dur_ns();
}

void LevelSums::add(const LevelSums& other) {
  activities += other.activities;
  kernels += other.kernels;
  dur_ns += other.dur_ns;
  prep_ns += other.prep_ns;
  call_ns += other.call_ns;
  launch_ns += other.launch_ns;
  comm_wait_ns += other.comm_wait_ns;
  comm_alone_ns += other.comm_alone_ns;
  copy_ns += other.copy_ns;
  other_idle_ns += other.other_idle_ns;
  overlap_ns += other.overlap_ns;
  concurrent_ns += other.concurrent_ns;
  op_dur_ns += other.op_dur_ns;
  likeness_ns += other.likeness_ns;
}

double LevelSums::overlap_ratio() const {
  return dur_ns > 0 ? static_cast<double>(overlap_ns) / static_cast<double>(dur_ns)
                    : std::numeric_limits<double>::quiet_NaN();
}

int32_t stack_of(const std::vector<LayerStack>& stacks, int32_t layer) {
  if (layer == kNoLayer) return kNoStack;
  const auto behind =
      std::upper_bound(stacks.begin(), stacks.end(), layer,
                       [](int32_t number, const LayerStack& one) { return number < one.first; });
  return static_cast<int32_t>(behind - stacks.begin()) - 1;
}

Result<BreakdownReport> analyze_breakdown(const Trace& trace, const Links& links,
                                          const Windows& windows, const BreakdownOptions& options) {
  BreakdownReport report;
  report.definition = options.definition;
  report.window_source = windows.source;
  report.window_evidence = windows.evidence;
  report.iterations = iteration_numbers(windows);
  Placements placed = place_activities(trace, links, windows, options);
  report.op_names = std::move(placed.op_names);
  report.rows = std::move(placed.rows);
  report.placement = std::move(placed.stats);
  report.stacks = std::move(placed.stacks);
  report.evidence = std::move(placed.evidence);
  sort_rows(report.rows);
  if (options.flow != nullptr || options.definition == LevelDefinition::kChopper) {
    measure(trace, links, options.flow == nullptr ? std::vector<DeviceFlow>() : *options.flow,
            report);
  } else {
    measure(trace, links, device_flows(make_flow_run(trace, links, options.kernels)), report);
  }
  sum_cells(report);
  sum_kernels(trace, report);
  sum_spans(report, tokens_per_window(trace, windows));
  find_extents(trace.unrecorded, report);
  list_collectives(trace, report);
  add_notes(report);
  return report;
}

}  // namespace assay
