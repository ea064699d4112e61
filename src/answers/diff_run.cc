#include "answers/diff_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "answers/analyses.h"
#include "answers/host_calls.h"
#include "answers/untraced.h"
#include "base/interval_index.h"
#include "breakdown/roof_levels.h"
#include "diff/partition.h"
#include "findings/causes.h"
#include "flow/contributor_names.h"
#include "ingest/load.h"
#include "kernels/name.h"
#include "launch/idle.h"
#include "overhead/kernel_db.h"
#include "report/document/import_notes.h"
#include "report/flow/section.h"
#include "report/run/section.h"
#include "text/names.h"
#include "trace/device_names.h"

namespace assay {
namespace {

constexpr const char* kTail = "(idle after the last work)";
constexpr const char* kNoChain = "(work in no chain)";

// "ampere_sgemm_128x64_tn" -> "ampere_sgemm_#x#_tn": tile sizes and instance numbers depend on
// machine, shape and compiler run.
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

std::string tracer_text(Tracer tracer) {
  switch (tracer) {
    case Tracer::kPyTorchProfiler:
      return "PyTorch profiler";
    case Tracer::kNsightSystems:
      return "Nsight Systems";
    case Tracer::kAssay:
      return "assay record";
    case Tracer::kOther:
      break;
  }
  return "another tracer";
}

// Assigns a number to every distinct name and stores its item.
class ItemTable {
 public:
  explicit ItemTable(DiffLevelRun& level) : level_(level) {}

  template <typename MakeItem>
  uint32_t id_of(const std::string& name, MakeItem make) {
    const auto [place, is_new] = ids_.try_emplace(name, static_cast<uint32_t>(ids_.size()));
    if (is_new) {
      DiffItem item = make();
      item.name = name;
      if (item.shown.empty()) item.shown = name;
      level_.items.push_back(std::move(item));
    }
    return place->second;
  }
  uint32_t rest(const std::string& name) {
    return id_of(name, [] { return DiffItem{.rest = true}; });
  }

 private:
  DiffLevelRun& level_;
  std::unordered_map<std::string, uint32_t> ids_;
};

// Reduces one trace, either by iteration or as a single whole.
class Reducer {
 public:
  Reducer(const LoadedTrace& loaded, const Analyses& analyses, const JobRoof& roof,
          bool by_iteration)
      : trace_(loaded.trace),
        links_(loaded.links),
        windows_(loaded.windows),
        spans_(iteration_spans(loaded.windows)),
        analyses_(analyses),
        roof_(roof),
        by_iteration_(by_iteration) {
    for (const DeviceFlow& device : analyses.flow.devices) idle_.try_emplace(device.device, device);
    const auto& rows = trace_.activities;
    std::map<int64_t, std::vector<Interval>> others;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (rows.kind[i] == ActivityKind::kSync) continue;
      const int64_t gpu = trace_.streams[rows.stream[i].index()].device;
      const int64_t end_ns = trace_.end_ns(ActivityId(i));
      const auto [last, is_new] = last_ns_.try_emplace(gpu, INT64_MIN);
      last->second = std::max(last->second, end_ns);
      if (rows.kind[i] == ActivityKind::kOther) others[gpu].push_back({rows.start_ns[i], end_ns});
    }
    for (auto& [gpu, spans] : others)
      others_.try_emplace(gpu, IntervalIndex(merge_intervals(std::move(spans))));
  }

  DiffRun run() {
    describe();
    list_works();
    partition_ = partition_time(works_, host_windows());
    make_samples();
    name_chains();
    for (size_t l = 0; l < kDiffLevels; ++l) fill_level(static_cast<DiffLevelKind>(l));
    add_metrics();
    const std::vector<Interval> spans =
        by_iteration_ ? spans_ : std::vector<Interval>{{INT64_MIN, INT64_MAX}};
    run_.host_calls = host_calls(trace_, links_, spans);
    run_.host_iterations = spans.size();
    return std::move(run_);
  }

 private:
  using GpuWindow = std::pair<int64_t, int32_t>;

  void describe() {
    run_.file = trace_.source;
    run_.rank = trace_.distributed.rank;
    run_.gpu = gpu_of_trace(trace_);
    run_.tracer = tracer_text(trace_.tracer);
    run_.iterations = by_iteration_;
    run_.window_source = std::string(
        window_source_name(by_iteration_ ? windows_.source : WindowSource::kWholeTrace));
    if (by_iteration_ && !windows_.windows.empty()) {
      run_.window_name = without_numbers(windows_.windows.front().name);
    }
    if (by_iteration_) {
      run_.iterations_without_kernels = analyses_.launch.iterations_without_kernels;
    }
    run_.shapes = !trace_.op_inputs.empty();
    run_.stacks = !trace_.frames.empty();
    run_.whole_microseconds = trace_.whole_microseconds;
    run_.kernels = links_.stats.kernels;
    run_.kernels_unlinked = links_.stats.kernels_unlinked;
    run_.kernels_carried_over = links_.stats.kernels_carried_over;
  }

  int32_t window_of(const KernelLevel& row) const {
    if (!by_iteration_) return 0;
    if (row.window >= 0 || row.t_l_ns == kLaunchNotTold) return row.window;
    const size_t at = interval_at(spans_, row.t_l_ns);
    return at < spans_.size() ? static_cast<int32_t>(at) : -1;
  }

  void list_works() {
    for (const KernelLevel& row : analyses_.breakdown.rows) {
      DeviceWork work{.gpu = row.gpu, .window = window_of(row)};
      work.start_ns = row.t_ks_ns;
      work.end_ns = row.t_ke_ns;
      work.launch_ns = row.t_l_ns;
      work.work_class = row.compute ? WorkClass::kCompute
                        : row.comm  ? WorkClass::kCollective
                                    : WorkClass::kCopy;
      works_.push_back(work);
      if (work.window >= 0) continue;
      ++run_.works_outside;
      run_.works_outside_ns += work.end_ns - work.start_ns;
    }
  }

  // The whole trace starts at the inference window (docs/metrics.md, IL) and has no tail.
  std::vector<Interval> host_windows() const {
    if (!by_iteration_) {
      const LaunchMetrics& whole = analyses_.launch.whole;
      int64_t start_ns = whole.origin == OriginSource::kNone ? INT64_MAX : whole.origin_ns;
      for (const DeviceWork& work : works_) start_ns = std::min(start_ns, work.start_ns);
      return {{start_ns, start_ns}};
    }
    return spans_;
  }

  void make_samples() {
    for (const DeviceWork& work : works_) {
      if (work.window >= 0) sample_of_.try_emplace({work.gpu, work.window}, 0);
    }
    for (auto& [key, sample] : sample_of_) {
      sample = static_cast<uint32_t>(run_.samples.size());
      run_.samples.push_back({.iteration = key.second, .gpu = key.first});
    }
    for (size_t i = 0; i < works_.size(); ++i) {
      if (works_[i].window < 0) continue;
      run_.samples[sample_of_.at({works_[i].gpu, works_[i].window})].time_ns +=
          partition_.shares[i].busy_ns + partition_.shares[i].idle_ns();
    }
    for (const WindowTail& tail : partition_.tails) {
      const auto sample = sample_of_.find({tail.gpu, tail.window});
      if (sample != sample_of_.end()) run_.samples[sample->second].time_ns += tail.tail_ns();
    }
  }

  // Names the chains of the fusion plan by their kernels.
  void name_chains() {
    chain_of_.assign(trace_.activities.size(), UINT32_MAX);
    for (size_t c = 0; c < analyses_.fusion.planned_kernels.size(); ++c) {
      for (ActivityId kernel : analyses_.fusion.planned_kernels[c]) {
        chain_of_[kernel.index()] = static_cast<uint32_t>(c);
      }
    }
  }

  std::string_view kernel_name(ActivityId kernel) const {
    return trace_.text(trace_.activities.name[kernel.index()]);
  }

  // "forward; aten::linear > aten::addmm".
  std::string path_of(const KernelLevel& row) const {
    std::vector<std::string_view> ops;
    for (OpId op = links_.activity_op[row.activity.index()]; op;
         op = links_.op_parent[op.index()]) {
      ops.push_back(trace_.text(trace_.ops.name[op.index()]));
    }
    std::string path;
    if (row.op != 0) {
      path =
          fmt::format("{} {};", level_phase_name(row.phase), analyses_.breakdown.op_names[row.op]);
    }
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) path += fmt::format(" > {}", *op);
    return path;
  }

  uint32_t kernel_item(const KernelLevel& row, ItemTable& table) const {
    const std::string name(kernel_name(row.activity));
    return table.id_of(name, [&] {
      return DiffItem{.shown = describe_kernel(name),
                      .family = without_numbers(clean_kernel_name(name)),
                      .path = path_of(row)};
    });
  }

  uint32_t operation_item(const KernelLevel& row, ItemTable& table) const {
    if (row.op == 0) return table.rest("(operation unknown)");
    const std::string& op = analyses_.breakdown.op_names[row.op];
    const std::string phase(level_phase_name(row.phase));
    const bool phased = row.phase != LevelPhase::kNone;
    return table.id_of(phased ? phase + " " + op : op,
                       [&] { return DiffItem{.family = phase + " " + without_numbers(op)}; });
  }

  uint32_t chain_item(const KernelLevel& row, ItemTable& table) const {
    const uint32_t chain = chain_of_[row.activity.index()];
    if (chain == UINT32_MAX) return table.rest(kNoChain);
    const std::vector<ActivityId>& kernels = analyses_.fusion.planned_kernels[chain];
    std::string name;
    for (ActivityId kernel : kernels) {
      name += fmt::format("{}{}", name.empty() ? "" : " -> ", kernel_name(kernel));
    }
    return table.id_of(name, [&] {
      std::string family;
      for (ActivityId kernel : kernels) {
        family += without_numbers(clean_kernel_name(kernel_name(kernel))) + " -> ";
      }
      return DiffItem{.shown = fmt::format("{} kernels: {} … {}", kernels.size(),
                                           describe_kernel(kernel_name(kernels.front())),
                                           describe_kernel(kernel_name(kernels.back()))),
                      .family = std::move(family)};
    });
  }

  using SampleCosts = std::vector<std::map<uint32_t, DiffCost>>;

  // Adds an activity's time to a part of the iteration instead of its own name. Returns the item of
  // the part.
  uint32_t add_parts(const KernelLevel& row, const WorkShare& share,
                     std::map<uint32_t, DiffCost>& costs, ItemTable& table) const {
    const char* part = row.compute ? "computing"
                       : row.comm  ? "collectives, exposed"
                                   : "copies, exposed";
    const uint32_t item = table.rest(part);
    costs[item].add({.calls = 1, .busy_ns = share.busy_ns, .dur_ns = row.t_ke_ns - row.t_ks_ns});
    if (share.idle_ns() > 0) add_idle(row.gpu, {share.idle}, costs, table);
    return item;
  }

  // Adds idle time by the causes that flow/ determined.
  void add_idle(int64_t gpu, const std::vector<Interval>& idle, std::map<uint32_t, DiffCost>& costs,
                ItemTable& table) const {
    const auto add = [&](const std::string& name, int64_t ns, bool host = false) {
      const auto make = [host] { return DiffItem{.rest = true, .host = host}; };
      if (ns > 0) costs[table.id_of(name, make)].add({.idle_ns = ns});
    };
    const auto view = idle_.find(gpu);
    if (view == idle_.end()) return add("idle: no evidence", length_ns(idle));
    // Idle time after the last activity of a device has no following activity that could determine
    // a cause.
    const auto last = last_ns_.find(gpu);
    const std::vector<Interval> before =
        last == last_ns_.end() ? idle : clip(idle, {INT64_MIN, last->second});
    add("idle: after the last work", length_ns(idle) - length_ns(before));
    const IdleTime time = view->second.in(before);
    for (size_t c = 0; c < kFlowCauses; ++c) {
      const auto cause = static_cast<FlowCause>(c);
      add("idle: " + std::string(findings::cause_name(cause)), time.cause_ns[c],
          is_host_work(cause));
    }
    // Part of this idle time is covered by rows that are neither kernels nor copies. The rest
    // precedes the first row that shows a cause.
    const auto others = others_.find(gpu);
    const int64_t others_ns = others == others_.end() ? 0 : others->second.length_in(before);
    const int64_t work_ns = std::min(others_ns, time.other_work_ns);
    add("other device work", time.copy_ns + work_ns);
    add("idle: no evidence", time.other_work_ns - work_ns);
  }

  void fill_level(DiffLevelKind kind) {
    DiffLevelRun& level = run_.levels[static_cast<size_t>(kind)];
    ItemTable table(level);
    SampleCosts costs(run_.samples.size());
    std::vector<uint32_t> item_of(works_.size(), UINT32_MAX);
    for (size_t i = 0; i < works_.size(); ++i) {
      if (works_[i].window < 0) continue;
      const KernelLevel& row = analyses_.breakdown.rows[i];
      auto& sample = costs[sample_of_.at({works_[i].gpu, works_[i].window})];
      const WorkShare& share = partition_.shares[i];
      if (kind == DiffLevelKind::kPart) {
        item_of[i] = add_parts(row, share, sample, table);
        continue;
      }
      item_of[i] = kind == DiffLevelKind::kKernel      ? kernel_item(row, table)
                   : kind == DiffLevelKind::kOperation ? operation_item(row, table)
                                                       : chain_item(row, table);
      sample[item_of[i]].add({.calls = 1,
                              .busy_ns = share.busy_ns,
                              .idle_ns = share.idle_ns(),
                              .dur_ns = row.t_ke_ns - row.t_ks_ns});
    }
    for (const WindowTail& tail : partition_.tails) {
      const auto sample = sample_of_.find({tail.gpu, tail.window});
      if (sample == sample_of_.end()) continue;
      if (kind == DiffLevelKind::kPart) {
        add_idle(tail.gpu, tail.idle, costs[sample->second], table);
      } else {
        costs[sample->second][table.rest(kTail)].add({.idle_ns = tail.tail_ns()});
      }
    }
    for (const auto& sample : costs) {
      level.samples.emplace_back();
      for (const auto& [item, cost] : sample) level.samples.back().push_back({item, cost});
    }
    if (kind != DiffLevelKind::kPart) level.sequence = sequence_of(item_of, kind);
    note_collectives(item_of, kind);
  }

  // Stores the item of every collective at one level.
  void note_collectives(const std::vector<uint32_t>& item_of, DiffLevelKind kind) {
    size_t next = 0;
    for (size_t i = 0; i < works_.size(); ++i) {
      const DeviceWork& work = works_[i];
      const WorkShare& share = partition_.shares[i];
      if (work.window < 0 || work.work_class != WorkClass::kCollective || share.busy_ns == 0)
        continue;
      if (next == run_.collectives.size()) {
        run_.collectives.push_back({.sample = sample_of_.at({work.gpu, work.window}),
                                    .gpu = work.gpu,
                                    .start_ns = work.start_ns,
                                    .end_ns = work.end_ns,
                                    .busy_ns = share.busy_ns});
      }
      run_.collectives[next++].item[static_cast<size_t>(kind)] = item_of[i];
    }
  }

  // The items of the first GPU's iteration with the median time, in launch order.
  std::vector<uint32_t> sequence_of(const std::vector<uint32_t>& item_of,
                                    DiffLevelKind kind) const {
    const std::optional<GpuWindow> typical = typical_sample();
    if (!typical) return {};
    std::vector<std::pair<int64_t, uint32_t>> order;
    for (size_t i = 0; i < works_.size(); ++i) {
      if (works_[i].gpu != typical->first || works_[i].window != typical->second) continue;
      const int64_t at =
          works_[i].launch_ns == kLaunchNotTold ? works_[i].start_ns : works_[i].launch_ns;
      order.emplace_back(at, item_of[i]);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<uint32_t> sequence;
    for (const auto& [at, item] : order) {
      // Consecutive kernels of one operation or chain are a single element.
      const bool repeats = !sequence.empty() && sequence.back() == item;
      if (kind == DiffLevelKind::kKernel || !repeats) sequence.push_back(item);
    }
    return sequence;
  }

  std::optional<GpuWindow> typical_sample() const {
    std::vector<std::pair<int64_t, int32_t>> times;
    if (run_.samples.empty()) return std::nullopt;
    const int64_t gpu = run_.samples.front().gpu;
    for (const DiffSample& sample : run_.samples) {
      if (sample.gpu == gpu) times.emplace_back(sample.time_ns, sample.iteration);
    }
    std::sort(times.begin(), times.end());
    return GpuWindow{gpu, times[times.size() / 2].second};
  }

  // Unknown is NaN, not 0.
  static double charge(const HostOverheadSums& sums, int64_t ns) {
    return sums.charged() ? static_cast<double>(ns) : std::nan("");
  }
  static double charge_split(const HostOverheadSums& sums, int64_t ns) {
    return sums.split_known ? charge(sums, ns) : std::nan("");
  }

  template <typename Item, typename Value>
  void series(const char* key, const char* label, DiffUnit unit, const std::vector<Item>& windows,
              const Item& whole, Value value) {
    DiffMetricSeries series{.key = key, .label = label, .unit = unit};
    const auto add = [&](int32_t iteration, const Item& item) {
      const double number = value(item);
      if (!std::isfinite(number)) return;
      series.iterations.push_back(iteration);
      series.values.push_back(number);
    };
    if (by_iteration_) {
      for (size_t i = 0; i < windows.size(); ++i) add(static_cast<int32_t>(i), windows[i]);
    } else {
      add(0, whole);
    }
    run_.metrics.push_back(std::move(series));
  }

  void add_metrics() {
    add_launch_metrics();
    add_overhead_metrics();
    add_use_metrics();
  }

  void launch_series(const char* key, const char* label, DiffUnit unit,
                     double (*value)(const LaunchMetrics&)) {
    series(key, label, unit, analyses_.launch.iterations, analyses_.launch.whole,
           [value](const LaunchMetrics& m) { return m.kernels > 0 ? value(m) : std::nan(""); });
  }

  void add_launch_metrics() {
    using M = LaunchMetrics;
    constexpr DiffUnit kNs = DiffUnit::kNanoseconds;
    launch_series("kernels", "kernels", DiffUnit::kCount,
                  [](const M& m) { return static_cast<double>(m.kernels); });
    launch_series("launches", "launches", DiffUnit::kCount,
                  [](const M& m) { return static_cast<double>(m.launches); });
    launch_series("tklqt_ns", "TKLQT", kNs, [](const M& m) {
      return m.tklqt_bracket.refused ? std::nan("") : static_cast<double>(m.tklqt_ns);
    });
    launch_series("launch_queue_mean_ns", "t_l mean", kNs,
                  [](const M& m) { return m.launch_time.mean_ns; });
    launch_series("queue_share", "queueing share of TKLQT", DiffUnit::kShare,
                  [](const M& m) { return m.queue_share; });
    launch_series("akd_ns", "AKD, mean kernel", kNs, [](const M& m) { return m.akd_ns; });
    launch_series("il_ns", "IL, inference latency", kNs, [](const M& m) {
      return m.gpu_idle_bracket.refused ? std::nan("") : static_cast<double>(m.il_ns);
    });
    launch_series("kernel_sum_ns", "kernel time, summed", kNs,
                  [](const M& m) { return static_cast<double>(m.kernel_sum_ns); });
    launch_series("kernel_union_ns", "kernel time, union", kNs,
                  [](const M& m) { return static_cast<double>(m.kernel_union_ns); });
    launch_series("gpu_idle_union_ns", "GPU idle, union", kNs, [](const M& m) {
      return m.gpu_idle_bracket.refused ? std::nan("") : static_cast<double>(m.gpu_idle_union_ns);
    });
    launch_series("gpu_idle_share", "GPU idle share of IL", DiffUnit::kShare, [](const M& m) {
      return m.gpu_idle_bracket.refused || m.il_ns == 0
                 ? std::nan("")
                 : static_cast<double>(m.gpu_idle_union_ns) / static_cast<double>(m.il_ns);
    });
    launch_series("cpu_idle_ns", "CPU idle", kNs, [](const M& m) {
      return m.cpu_idle_known ? static_cast<double>(m.cpu_idle_ns) : std::nan("");
    });
  }

  void overhead_series(const char* key, const char* label, DiffUnit unit,
                       double (*value)(const HostOverheadWindow&)) {
    series(key, label, unit, analyses_.overhead.windows, analyses_.overhead.whole,
           [value](const HostOverheadWindow& w) { return w.sums.n > 0 ? value(w) : std::nan(""); });
  }

  void add_overhead_metrics() {
    using W = HostOverheadWindow;
    constexpr DiffUnit kNs = DiffUnit::kNanoseconds;
    overhead_series("hdbi", "HDBI", DiffUnit::kRatio,
                    [](const W& w) { return w.sums.hdbi.value_or(std::nan("")); });
    overhead_series("t_orch_ns", "T_Orchestration", kNs,
                    [](const W& w) { return charge(w.sums, w.sums.t_orch_ns); });
    overhead_series("ft_ns", "framework translation", kNs,
                    [](const W& w) { return charge_split(w.sums, w.sums.ft_ns); });
    overhead_series("ct_ns", "library translation", kNs,
                    [](const W& w) { return charge_split(w.sums, w.sums.ct_ns); });
    run_.metrics.back().per_run = true;
    overhead_series("kt_ns", "launch calls", kNs,
                    [](const W& w) { return charge(w.sums, w.sums.kt_ns); });
    overhead_series("t_device_ns", "T_DeviceActive", kNs,
                    [](const W& w) { return static_cast<double>(w.sums.t_device_ns); });
    overhead_series("t_orch_exclusive_ns", "host time, exclusive", kNs,
                    [](const W& w) { return static_cast<double>(w.exclusive.total_ns); });
  }

  // Omits numbers that kernels without known work may change, so that gates on them are errors. A
  // metric without any number has no row.
  void add_use_metrics() {
    using U = Utilisation;
    const std::vector<U> uses = roof_.utilisations(analyses_.breakdown.iterations);
    const auto add = [&](const char* key, const char* label, double (*value)(const U&)) {
      series(key, label, DiffUnit::kShare, uses, roof_.utilisation(), value);
      if (run_.metrics.back().values.empty()) run_.metrics.pop_back();
    };
    add("mfu", "MFU", [](const U& u) { return u.is_exact() ? u.mfu : U::kUnknown; });
    add("hfu", "HFU", [](const U& u) { return u.is_exact() ? u.hfu : U::kUnknown; });
    add("mbu", "MBU", [](const U& u) { return u.tells_mbu() ? u.mbu : U::kUnknown; });
  }

  const Trace& trace_;
  const Links& links_;
  const Windows& windows_;
  const std::vector<Interval> spans_;
  const Analyses& analyses_;
  const JobRoof& roof_;
  const bool by_iteration_;
  DiffRun run_;
  std::vector<DeviceWork> works_;  // parallel to breakdown.rows
  Partition partition_;
  std::map<GpuWindow, uint32_t> sample_of_;
  std::vector<uint32_t> chain_of_;           // per activity, into planned_kernels
  std::map<int64_t, IdleView> idle_;         // by GPU
  std::map<int64_t, IntervalIndex> others_;  // by GPU: rows that are neither kernels nor copies
  std::map<int64_t, int64_t> last_ns_;       // by GPU: end of its last activity
};

JobRoof roof_of(const LoadedTrace& loaded, const Analyses& analyses) {
  RoofReader roof(FactBook::built_in(), "");
  roof.add(loaded.trace, loaded.links, *loaded.kernels, analyses.breakdown, &analyses.flow.replays);
  return roof.finish();
}

Result<DiffRun> reduce_untraced(const LoadedTrace& loaded, RetimedTrace retimed) {
  const LoadedTrace made = retimed_input(loaded, std::move(retimed));
  ASSAY_TRY_ASSIGN(const Analyses analyses, analyze_trace(made, {.part = "all", .levers = false}));
  return Reducer(made, analyses, roof_of(made, analyses), true).run();
}

}  // namespace

Result<DiffInput> reduce_for_diff(const LoadedTrace& loaded, bool rank_graph,
                                  const std::string& untraced) {
  const Trace& trace = loaded.trace;
  UntracedTimes times;
  const auto on_model = [&](const FlowModel& model) -> Status {
    ASSAY_TRY_ASSIGN(times, untraced_times(loaded, model, untraced));
    return Ok{};
  };
  ASSAY_TRY_ASSIGN(Analyses analyses, analyze_trace(loaded, {.rank_graph = rank_graph,
                                                             .part = "all",
                                                             .levers = false,
                                                             .on_model = on_model}));
  DiffInput input;
  input.untraced = times.times;
  const bool windowed = loaded.windows.source != WindowSource::kWholeTrace;
  const JobRoof job = roof_of(loaded, analyses);
  input.whole = Reducer(loaded, analyses, job, false).run();
  if (windowed) input.by_iteration = Reducer(loaded, analyses, job, true).run();
  input.file = trace.source;
  input.head = trace_items(trace);
  input.import_log = import_notes(trace.log);
  input.data_lost = trace.log.data_lost();
  for (const ImportNote& note : input.import_log) {
    if (note.severity == "data_loss") input.whole.rows_lost += note.count;
  }
  input.by_iteration.rows_lost = input.whole.rows_lost;
  if (times.measured()) {
    ASSAY_TRY_ASSIGN(input.untraced_by_iteration,
                     reduce_untraced(loaded, std::move(times.retimed.front())));
    input.untraced_by_iteration->rows_lost = input.whole.rows_lost;
  }
  input.rank_graph = std::move(analyses.flow.rank_graph);
  for (const DeviceFlow& device : analyses.flow.devices) input.devices.push_back(device.device);
  return input;
}

Result<std::vector<DiffInput>> read_diff_side(const std::string& argument,
                                              const TraceRequest& traces,
                                              const std::string& untraced) {
  TraceRequest request = traces;
  request.inputs = {argument};
  ASSAY_TRY_ASSIGN(std::vector<std::string> files, input_files(request.inputs, request.listener));
  std::vector<DiffInput> side;
  for (size_t i = 0; i < files.size(); ++i) {
    auto loaded = load_or_split(files, i, request);
    const std::string& file = files[i];
    if (!loaded && skip_input(request, file, loaded.error())) continue;
    if (!loaded) return loaded.take_error();
    const int64_t named_rank = rank_from_name(file);
    // Traces without a rank are repeats. Their times do not depend on each other.
    if (!loaded->trace.distributed.rank && named_rank < 0) loaded->among = 1;
    ASSAY_TRY_ASSIGN(DiffInput input, reduce_for_diff(*loaded, files.size() > 1, untraced));
    if (!input.whole.rank && named_rank >= 0) {
      input.whole.rank = input.by_iteration.rank = named_rank;
    }
    if (input.rank_graph) input.rank_graph->rank = input.whole.rank;
    side.push_back(std::move(input));
  }
  if (side.empty()) {
    return Error{ErrorCode::kInvalidArgument, "none of the files found is a trace", argument, -1};
  }
  return side;
}

}  // namespace assay
