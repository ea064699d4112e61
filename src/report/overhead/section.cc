#include "report/overhead/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "report/document/means.h"
#include "report/overhead/charts.h"
#include "report/overhead/results.h"
#include "report/run/floor.h"
#include "text/units.h"

namespace assay {
namespace {

// A charged sum; missing if nothing could be charged (HostOverheadSums::charged).
Value charge(const HostOverheadSums& sums, int64_t ns) {
  return sums.charged() ? Value(ns) : Value();
}

// A component of the time that dispatch and the libraries' front end take together.
Value charge_split(const HostOverheadSums& sums, int64_t ns) {
  return sums.split_known ? charge(sums, ns) : Value();
}

// The keys of one window, for JSON and CSV only.
std::vector<Item> window_items(const HostOverheadWindow& w) {
  const HostOverheadSums& s = w.sums;
  return {data_fact(keys::phase, std::string(overhead_phase_name(w.phase))),
          data_fact(keys::n, s.n),
          data_fact(keys::n_launch, s.n_launch),
          data_fact(keys::t_py_ns, charge(s, s.t_py_ns)),
          data_fact(keys::ft_dispatch_ns, charge_split(s, s.ft_dispatch_ns)),
          data_fact(keys::ft_ns, charge_split(s, s.ft_ns)),
          data_fact(keys::ct_ns, charge_split(s, s.ct_ns)),
          data_fact(keys::kt_ns, charge(s, s.kt_ns)),
          data_fact(keys::kt_fw_ns, s.kt_fw_ns),
          data_fact(keys::t_orch_ns, charge(s, s.t_orch_ns)),
          data_fact(keys::t_py_as_printed_ns, charge(w.literal, w.literal.t_py_ns)),
          data_fact(keys::t_orch_as_printed_ns, charge(w.literal, w.literal.t_orch_ns)),
          data_fact(keys::t_orch_exclusive_ns, w.exclusive.total_ns),
          data_fact(keys::exclusive_py_ns, w.exclusive.py_ns),
          data_fact(keys::exclusive_dispatch_ns, w.exclusive.dispatch_ns),
          data_fact(keys::exclusive_call_ns, w.exclusive.call_ns),
          data_fact(keys::other_host_ns, w.exclusive.between_ns),
          data_fact(keys::waiting_ns, w.exclusive.waiting_ns),
          data_fact(keys::threads_span_ns, w.exclusive.threads_span_ns),
          data_fact(keys::t_device_ns, s.t_device_ns),
          data_fact(keys::hdbi, s.hdbi),
          data_fact(keys::hdbi_exclusive, w.hdbi_exclusive),
          data_fact(keys::hdbi_as_printed, w.literal.hdbi),
          data_fact(keys::t_e2e_ns, w.t_e2e_ns),
          data_fact(keys::idle_fraction, w.idle_fraction),
          data_fact(keys::gpu_utilisation, w.gpu_utilisation),
          data_fact(keys::additivity, w.additivity),
          data_fact(keys::orch_over_e2e, w.orch_over_e2e),
          data_fact(keys::kernels_per_token, w.kernels_per_token),
          data_fact(keys::unique_names, w.unique_names),
          data_fact(keys::diversity_ratio, w.diversity_ratio),
          data_fact(keys::host_observed_ns, w.literal.host_observed_ns),
          data_fact(keys::host_framework_ns, w.literal.host_framework_ns)};
}

// How the numbers were computed: needed to compare two documents.
Facts method_facts(const HostOverheadReport& r) {
  return {
      .items = {data_fact(keys::mode, std::string(overhead_mode_name(r.mode))),
                data_fact(keys::base_weighting,
                          r.base_weighting == BaseWeighting::kKernel ? "kernel" : "invocation"),
                data_fact(keys::dispatch_base_ns, r.base_ns),
                data_fact(keys::base_samples, r.base_samples),
                data_fact(keys::window_source, std::string(window_source_name(r.window_source))),
                data_fact(keys::phase_source, std::string(phase_source_name(r.phase_source))),
                data_fact(keys::phase_source_text, r.phase_text), data_fact(keys::tokens, r.tokens),
                data_fact(keys::with_stack, r.with_stack),
                data_fact(keys::library_op_kernels, r.library_op_kernels),
                data_fact(keys::copies_left_out, r.copies_left_out)}};
}

Facts orphan_facts(const HostOverheadOrphans& o) {
  return {.key = "orphans",
          .items = {data_fact(keys::without_call, o.without_call),
                    data_fact(keys::without_call_ns, o.without_call_ns),
                    data_fact(keys::without_op, o.without_op),
                    data_fact(keys::without_op_ns, o.without_op_ns),
                    data_fact(keys::without_py, o.without_py),
                    data_fact(keys::negative_launch_clamped, o.negative_launch_clamped),
                    data_fact(keys::negative_launch_dropped, o.negative_launch_dropped),
                    data_fact(keys::graph_followers, o.graph_followers),
                    data_fact(keys::shared_followers, o.shared_followers)},
          .show = Show::kDataOnly};
}

// True if no launch has a recorded operator, so that the layers before the launch call are unknown.
bool without_operators(const HostOverheadReport& r) {
  return r.whole.sums.n_launch > 0 && r.whole.orphans.without_op == r.whole.sums.n_launch;
}

// One of the four components, or their sum.
struct Layer {
  const char* name;
  std::optional<int64_t> ns;  // nullopt if unknown
  std::string from;
};

// The four components and what they are compared with: the paper's Figure 7(b) as a table.
Table layers_table(const HostOverheadReport& r) {
  const HostOverheadSums& s = r.whole.sums;
  const LayerNames names = layer_names(r.mode);
  const bool literal = is_literal(r.mode);
  const bool no_ops = without_operators(r);
  const bool no_floor = literal && !r.floor.known();
  const auto traced = [&](const char* name, int64_t ns, const char* from) {
    return no_ops ? Layer{name, std::nullopt, "no operator around a launch"}
                  : Layer{name, ns, from};
  };
  const char* const base = r.base_ns ? "trace" : "none";
  const auto split = [&](const char* name, int64_t ns, const char* from) {
    return s.split_known ? traced(name, ns, from)
                         : Layer{name, std::nullopt, "no native kernel to compare with"};
  };
  const std::vector<Layer> layers = {
      traced("Python, T_Py", s.t_py_ns, "trace"),
      split(names.dispatch, s.ft_dispatch_ns, literal ? base : "trace"),
      split("library, ΔCT", s.ct_ns, base),
      no_floor ? Layer{names.launch, std::nullopt, "not known"}
               : Layer{names.launch, s.kt_ns,
                       literal ? std::string(floor_source_name(r.floor.source)) : "trace"},
      {"T_Orch", s.t_orch_ns,
       !s.charged()         ? "not told"
       : no_floor || no_ops ? "sum, at least"
                            : "sum"}};
  const auto each = [&s](const Layer& layer) {
    if (!layer.ns || s.n_launch == 0 || !s.charged()) return Value();
    return whole_ns(static_cast<double>(*layer.ns) / static_cast<double>(s.n_launch));
  };
  // The title names the window and the rule, because they differ from those of the causes of idle
  // time.
  TableOf table(layers, {.title = "Host time charged to launches within T_e2e (TaxBreak, " +
                                  std::string(overhead_mode_name(r.mode)) + " mode" +
                                  (literal ? ", " + std::string(kAsPrinted) : "") + ")",
                         .terminal_limit = 0,
                         .show = Show::kReadersOnly});
  table.add(keys::part_name, &Layer::name)
      .add(keys::layer_ns, [&s](const Layer& l) { return l.ns ? charge(s, *l.ns) : Value(); })
      .add(keys::each_ns, each)
      .add(keys::part_share,
           [&s](const Layer& l) { return l.ns ? Value(share(*l.ns, s.t_orch_ns)) : Value(); })
      .add(keys::told_by, &Layer::from);
  return table;
}

std::string untold_cause(const HostOverheadSums& sums) {
  return sums.n_launch == 0 ? "no launch call of these kernels is in the trace"
                            : "no operator around a launch, and nothing known of the launch itself";
}

Facts balance_facts(const HostOverheadReport& r) {
  const HostOverheadWindow& w = r.whole;
  Facts facts{.title = "Against the device", .show = Show::kReadersOnly};
  facts.items = {
      fact(keys::n, w.sums.n,
           format_count(static_cast<int64_t>(w.sums.n_launch)) +
               (w.sums.n_launch == 1 ? " launch" : " launches")),
      fact(keys::t_device_ns, w.sums.t_device_ns),
      fact(keys::hdbi, w.sums.hdbi ? Value(hdbi_text(*w.sums.hdbi)) : Value(),
           !w.sums.charged() ? "not told: " + untold_cause(w.sums)
           : without_operators(r)
               ? "at most: T_Device / (T_Device + T_Orch), and T_Orch is a lower bound"
               : "T_Device / (T_Device + T_Orch): 0 host, 1 device"),
      fact(keys::t_e2e_ns, w.t_e2e_ns),
      fact(keys::gpu_utilisation, w.gpu_utilisation),
      fact(keys::idle_fraction, w.idle_fraction),
      fact(keys::t_orch_exclusive_ns, w.exclusive.total_ns, "each moment of a thread once"),
      fact(keys::other_host_ns, w.exclusive.between_ns, "between launches, and of none of them"),
      fact(keys::waiting_ns, w.exclusive.waiting_ns,
           "for the GPU, in memory calls, in launch calls beyond 0.1 ms"),
      fact(keys::t_orch_as_printed_ns, charge(w.literal, w.literal.t_orch_ns), kAsPrinted),
      fact(keys::hdbi_as_printed, w.literal.hdbi ? Value(hdbi_text(*w.literal.hdbi)) : Value(),
           kAsPrinted),
      fact(keys::additivity, w.additivity),
      fact(keys::floor_ns, floor_value(r.floor), r.floor.text),
      fact(keys::dispatch_base_ns, r.base_ns,
           "median over " + format_count(static_cast<int64_t>(r.base_samples)) +
               (r.base_weighting == BaseWeighting::kKernel ? " native kernels"
                                                           : " native launches")),
  };
  return facts;
}

// If kernels wait for preceding ones, launch times are not launch costs.
bool launches_queue(const HostOverheadSums& literal) { return literal.kt_fw_ns > literal.kt_ns; }

Table families_table(const HostOverheadReport& r) {
  const HostOverheadSums& sums = r.whole.sums;
  const bool queueing = launches_queue(r.whole.literal);
  const Show residual = shown_if(!queueing);
  constexpr Show kData = Show::kDataOnly;
  const auto charged = [&sums](int64_t FamilyOverhead::*ns) {
    return [&sums, ns](const FamilyOverhead& f) { return charge(sums, f.*ns); };
  };
  const auto split = [&sums](int64_t FamilyOverhead::*ns) {
    return [&sums, ns](const FamilyOverhead& f) { return charge_split(sums, f.*ns); };
  };
  TableOf table(
      r.families,
      {.key = "families",
       .title =
           std::string("Kernel families (TaxBreak Table IV)") +
           (queueing ? "; launch times contain queueing, which only a replay separates" : ""),
       .terminal_limit = 0});
  table.add(keys::name, &FamilyOverhead::name, elastic())
      .add(
          keys::i_lib, [](const FamilyOverhead& f) { return f.library ? 1 : 0; }, kData)
      .add(keys::kernels, &FamilyOverhead::kernels)
      .add(keys::library_kernels, &FamilyOverhead::library_kernels, kData)
      .add(keys::unique_kernels, &FamilyOverhead::unique_kernels)
      .add(keys::t_orch_ns, charged(&FamilyOverhead::t_orch_ns))
      .add(keys::t_device_ns, &FamilyOverhead::t_device_ns)
      .add_ns(keys::launch_p50_ns, &FamilyOverhead::launch_p50_ns)
      .add_ns(keys::launch_p95_ns, &FamilyOverhead::launch_p95_ns)
      .add_ns(keys::kt_fw_p50_ns, &FamilyOverhead::kt_fw_ns, residual)
      .add(keys::floor_share, &FamilyOverhead::share_of_floor, residual)
      .add(keys::t_py_ns, charged(&FamilyOverhead::t_py_ns), kData)
      .add(keys::ft_dispatch_ns, split(&FamilyOverhead::ft_dispatch_ns), kData)
      .add(keys::ct_ns, split(&FamilyOverhead::ct_ns), kData)
      .add(keys::kt_ns, charged(&FamilyOverhead::kt_ns), kData);
  return table;
}

bool is_window_column(const std::string& key) {
  return key == "n" || key == "t_orch_ns" || key == "t_orch_as_printed_ns" ||
         key == "t_device_ns" || key == "hdbi" || key == "t_e2e_ns" || key == "gpu_utilisation";
}

Table windows_table(const char* key, std::string title, const HostOverheadReport& r,
                    const std::vector<HostOverheadWindow>& windows) {
  Table table{.key = key, .title = std::move(title), .columns = {column_of(keys::name, elastic())}};
  for (const Item& item : window_items(r.whole)) {
    table.columns.push_back(
        {.key = item.key,
         .title = item.label,
         .unit = item.unit,
         .show = is_window_column(item.key) ? Show::kEverywhere : Show::kDataOnly});
  }
  for (const HostOverheadWindow& window : windows) {
    Row row = {window.name};
    for (Item& item : window_items(window)) row.push_back(std::move(item.value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// TaxBreak Table II.
Table fragmentation_table(const HostOverheadReport& r) {
  std::vector<HostOverheadWindow> windows = {r.whole};
  windows.insert(windows.end(), r.phases.begin(), r.phases.end());
  TableOf table(windows,
                {.title = "Fragmentation (TaxBreak Table II)", .show = Show::kReadersOnly});
  table.add(keys::name, &HostOverheadWindow::name, elastic())
      .add(keys::n, [](const HostOverheadWindow& w) { return w.sums.n; })
      .add(keys::unique_names, &HostOverheadWindow::unique_names)
      .add(keys::kernels_per_token, &HostOverheadWindow::kernels_per_token)
      .add(keys::diversity_ratio, &HostOverheadWindow::diversity_ratio)
      .add(keys::gpu_utilisation, &HostOverheadWindow::gpu_utilisation);
  return table;
}

Table overhead_means(const HostOverheadMeans& m) {
  return means_table({{keys::n, m.n},
                      {keys::t_py_ns, m.t_py_ns},
                      {keys::ft_ns, m.ft_ns},
                      {keys::ct_ns, m.ct_ns},
                      {keys::kt_ns, m.kt_ns},
                      {keys::kt_fw_ns, m.kt_fw_ns},
                      {keys::t_orch_ns, m.t_orch_ns},
                      {keys::t_orch_exclusive_ns, m.exclusive_ns},
                      {keys::t_device_ns, m.t_device_ns},
                      {keys::t_e2e_ns, m.t_e2e_ns},
                      {keys::hdbi, m.hdbi},
                      {keys::idle_fraction, m.idle_fraction, true}},
                     0);
}

Table diagnosis_table(const std::vector<HostOverheadAdvice>& advice) {
  TableOf table(
      advice,
      {.key = "diagnosis", .title = "Diagnosis", .terminal_limit = 0, .show = Show::kDataOnly});
  table.add(keys::code, [](const HostOverheadAdvice& a) { return a.lever.key; })
      .add(keys::advice, [](const HostOverheadAdvice& a) { return a.replayed.what; })
      .add(keys::upper_bound_ns, [](const HostOverheadAdvice& a) { return a.lever.at_most_ns; })
      .add(keys::e2e_share, [](const HostOverheadAdvice& a) { return a.lever.share_of_e2e; })
      .add(keys::basis, [](const HostOverheadAdvice& a) { return a.lever.basis; })
      .add(keys::same_as, [](const HostOverheadAdvice& a) { return a.replayed.key; })
      .add(keys::gain_ns, [](const HostOverheadAdvice& a) { return a.replayed.gain_ns; });
  return table;
}

// Recommended changes by simulated gain, largest first.
Prose diagnosis_prose(const std::vector<HostOverheadAdvice>& advice) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  for (const Lever& lever : recommended(advice)) {
    prose.paragraphs.push_back(lever_gain_words(lever) + ": " + lever.what + ". By " + lever.basis +
                               ".");
  }
  return prose;
}

int64_t charged_ns(const KernelDbEntry& entry, const HostOverheadReport& r) {
  if (!is_literal(r.mode)) return entry.exclusive_ns;
  const KernelCost cost = trace_cost(entry);
  return sum_overhead({cost}, r.mode, r.base_ns.value_or(0), r.floor.floor_ns,
                      cost.invocations - cost.unpaid)
      .t_orch_ns;
}

struct CostlyKernel {
  const KernelDbEntry* entry;
  int64_t t_orch_ns;
};

Table kernels_table(const KernelDatabase& database, const HostOverheadReport& r, size_t top) {
  std::vector<CostlyKernel> kernels;
  for (const KernelDbEntry& entry : database.entries) {
    kernels.push_back({&entry, charged_ns(entry, r)});
  }
  std::stable_sort(
      kernels.begin(), kernels.end(),
      [](const CostlyKernel& a, const CostlyKernel& b) { return a.t_orch_ns > b.t_orch_ns; });
  if (top > 0 && kernels.size() > top) kernels.resize(top);
  TableOf table(kernels,
                {.key = "kernels",
                 .title = "Largest host costs (" + std::to_string(kernels.size()) + " of " +
                          std::to_string(database.entries.size()) + " unique kernels)",
                 .terminal_limit = 0});
  const auto of_entry = [](auto KernelDbEntry::*field) {
    return [field](const CostlyKernel& k) { return k.entry->*field; };
  };
  const auto mean_of = [](auto KernelDbEntry::*stats) {
    return [stats](const CostlyKernel& k) { return whole_ns((k.entry->*stats).mean_ns); };
  };
  table.add(keys::name, of_entry(&KernelDbEntry::name), elastic())
      .add(keys::op, of_entry(&KernelDbEntry::op), elastic())
      .add(keys::db_key, of_entry(&KernelDbEntry::key), Show::kDataOnly)
      .add(keys::family, of_entry(&KernelDbEntry::family), Show::kDataOnly)
      .add(
          keys::i_lib, [](const CostlyKernel& k) { return k.entry->library ? 1 : 0; },
          Show::kDataOnly)
      .add(keys::count, of_entry(&KernelDbEntry::frequency))
      .add(keys::t_orch_ns,
           [&r](const CostlyKernel& k) { return charge(r.whole.sums, k.t_orch_ns); })
      .add(keys::t_py_mean_ns, mean_of(&KernelDbEntry::t_py))
      .add(keys::t_dispatch_mean_ns, mean_of(&KernelDbEntry::t_dispatch))
      .add(keys::t_launch_mean_ns, mean_of(&KernelDbEntry::t_launch))
      .add(keys::dur_mean_ns, mean_of(&KernelDbEntry::duration));
  return table;
}

}  // namespace

// measured.cc
void add_measured_blocks(const MeasuredReport& measured, const HostOverheadReport& report,
                         Section& section);

namespace {

// Missing without a measured iteration.
void add_untraced_items(const UntracedOverhead* untraced, std::vector<Item>& items) {
  const auto add = [&](const auto& key, auto value) {
    items.push_back(untraced == nullptr ? data_fact(key, Value()) : data_fact(key, value));
  };
  const UntracedOverhead none;
  const UntracedOverhead& of = untraced == nullptr ? none : *untraced;
  add(keys::t_orch_untraced_ns, of.t_orch_ns);
  add(keys::t_orch_untraced_low_ns, of.t_orch_low_ns);
  add(keys::t_orch_untraced_high_ns, of.t_orch_high_ns);
  add(keys::hdbi_untraced, of.hdbi);
  add(keys::hdbi_untraced_low, of.hdbi_low);
  add(keys::hdbi_untraced_high, of.hdbi_high);
}

}  // namespace

std::string overhead_untraced_words(const UntracedOverhead& untraced) {
  const auto each = [](double ns) { return format_ns(static_cast<int64_t>(ns)); };
  std::string text = fmt::format(
      "T_Orch without the profiler is {} an iteration ({} to {}) of {} ({}, recorded {})",
      each(untraced.each_ns), each(untraced.each_low_ns), each(untraced.each_high_ns),
      format_ns(untraced.iteration_ns), untraced.from, format_ns(untraced.recorded_iteration_ns));
  if (untraced.hdbi) {
    text += fmt::format(", HDBI {} ({} to {})", hdbi_text(*untraced.hdbi),
                        hdbi_text(*untraced.hdbi_low), hdbi_text(*untraced.hdbi_high));
  }
  return text + ".";
}

Section overhead_section(const HostOverheadSectionInput& input) {
  const HostOverheadReport& r = input.report;
  Section section{.key = "host_overhead", .title = "Overhead: host time by layer"};
  section.blocks.push_back(diagnosis_prose(input.advice));
  section.blocks.push_back(method_facts(r));
  std::vector<Item> whole = window_items(r.whole);
  add_untraced_items(input.untraced, whole);
  section.blocks.push_back(Facts{.items = std::move(whole), .show = Show::kDataOnly});
  section.blocks.push_back(floor_facts(r.floor, Show::kDataOnly));
  section.blocks.push_back(layers_table(r));
  section.blocks.push_back(balance_facts(r));
  for (Block& chart : overhead_charts(r)) section.blocks.push_back(std::move(chart));
  if (input.measured != nullptr) add_measured_blocks(*input.measured, r, section);
  const bool repeated = r.window_source != WindowSource::kWholeTrace && r.windows.size() > 1;
  Table phases = windows_table("phases", "Prefill and decode: " + r.phase_text, r, r.phases);
  if (r.phases.empty()) phases.show = Show::kDataOnly;
  section.blocks.push_back(std::move(phases));
  const size_t windows = push_step_rows(
      section, r.windows, input.most_steps,
      {keys::n, keys::n_launch, keys::t_py_ns, keys::ft_dispatch_ns, keys::ft_ns, keys::ct_ns,
       keys::kt_ns, keys::kt_fw_ns, keys::t_orch_ns, keys::t_orch_exclusive_ns, keys::other_host_ns,
       keys::waiting_ns, keys::t_device_ns, keys::t_e2e_ns},
      [&r](const auto& some) { return windows_table("windows", "Iterations", r, some); });
  if (!repeated) std::get<Table>(section.blocks[windows]).show = Show::kDataOnly;
  Table means = overhead_means(r.means);
  if (!repeated || r.means.t_orch_ns.n < 2) means.show = Show::kDataOnly;
  section.blocks.push_back(std::move(means));
  section.blocks.push_back(fragmentation_table(r));
  section.blocks.push_back(families_table(r));
  if (input.database != nullptr) {
    section.blocks.push_back(kernels_table(*input.database, r, input.top));
  }
  section.blocks.push_back(orphan_facts(r.whole.orphans));
  section.blocks.push_back(diagnosis_table(input.advice));
  return section;
}

std::vector<Item> overhead_overview(const HostOverheadReport& report) {
  const HostOverheadWindow& w = report.whole;
  return {fact(keys::n, w.sums.n),
          fact(keys::t_py_ns, charge(w.sums, w.sums.t_py_ns)),
          fact(keys::ft_ns, charge_split(w.sums, w.sums.ft_ns)),
          fact(keys::ct_ns, charge_split(w.sums, w.sums.ct_ns)),
          fact(keys::kt_ns, charge(w.sums, w.sums.kt_ns)),
          fact(keys::t_orch_ns, charge(w.sums, w.sums.t_orch_ns)),
          fact(keys::t_device_ns, w.sums.t_device_ns),
          fact(keys::hdbi, w.sums.hdbi),
          fact(keys::t_e2e_ns, w.t_e2e_ns),
          fact(keys::gpu_utilisation, w.gpu_utilisation)};
}

}  // namespace assay
