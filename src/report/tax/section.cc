#include "report/tax/section.h"
#include "base/numbers.h"
#include "report/launch/charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/document/units.h"
#include "report/run/floor.h"

namespace assay {
namespace {

double share_of(double part, double whole) { return whole > 0 ? part / whole : kNan; }
double share_of(int64_t part, int64_t whole) {
  return share_of(static_cast<double>(part), static_cast<double>(whole));
}

Item data(const char* key, Value value, Unit unit = Unit::kNone) {
  return {key, key, std::move(value), unit, "", Show::kDataOnly};
}

// A sum of charges; missing where nothing could be charged (TaxSums::charged).
Value charge(const TaxSums& sums, int64_t ns) { return sums.charged() ? Value(ns) : Value(); }

// The keys of one window, for JSON and CSV; what readers see of them is laid out elsewhere.
std::vector<Item> window_items(const TaxWindow& w) {
  const TaxSums& s = w.sums;
  constexpr Unit kNs = Unit::kNanoseconds;
  constexpr Unit kN = Unit::kCount;
  return {data("phase", std::string(tax_phase_name(w.phase)), Unit::kText),
          data("n", s.n, kN),
          data("n_launch", s.n_launch, kN),
          data("t_py_ns", charge(s, s.t_py_ns), kNs),
          data("ft_dispatch_ns", charge(s, s.ft_dispatch_ns), kNs),
          data("ft_ns", charge(s, s.ft_ns), kNs),
          data("ct_ns", charge(s, s.ct_ns), kNs),
          data("kt_ns", charge(s, s.kt_ns), kNs),
          data("kt_fw_ns", s.kt_fw_ns, kNs),
          data("t_orch_ns", charge(s, s.t_orch_ns), kNs),
          data("t_py_literal_ns", charge(w.literal, w.literal.t_py_ns), kNs),
          data("t_orch_literal_ns", charge(w.literal, w.literal.t_orch_ns), kNs),
          data("t_orch_exclusive_ns", w.exclusive.total_ns, kNs),
          data("exclusive_py_ns", w.exclusive.py_ns, kNs),
          data("exclusive_dispatch_ns", w.exclusive.dispatch_ns, kNs),
          data("exclusive_call_ns", w.exclusive.call_ns, kNs),
          data("exclusive_between_ns", w.exclusive.between_ns, kNs),
          data("exclusive_waiting_ns", w.exclusive.waiting_ns, kNs),
          data("threads_span_ns", w.exclusive.threads_span_ns, kNs),
          data("t_device_ns", s.t_device_ns, kNs),
          data("hdbi", s.hdbi, Unit::kRatio),
          data("hdbi_exclusive", w.hdbi_exclusive, Unit::kRatio),
          data("hdbi_literal", w.literal.hdbi, Unit::kRatio),
          data("t_e2e_ns", w.t_e2e_ns, kNs),
          data("idle_fraction", w.idle_fraction, Unit::kShare),
          data("gpu_utilisation", w.gpu_utilisation, Unit::kShare),
          data("additivity", w.additivity, Unit::kRatio),
          data("orch_over_e2e", w.orch_over_e2e, Unit::kRatio),
          data("kernels_per_token", w.kernels_per_token, Unit::kRatio),
          data("unique_names", w.unique_names, kN),
          data("diversity_ratio", w.diversity_ratio, Unit::kRatio),
          data("host_observed_ns", w.literal.host_observed_ns, kNs),
          data("host_framework_ns", w.literal.host_framework_ns, kNs)};
}

// How the numbers were made: what a reader of the JSON must know to compare two of them.
Facts method_facts(const TaxReport& r) {
  return {
      .items = {
          data("mode", std::string(tax_mode_name(r.mode)), Unit::kText),
          data("base_weighting",
               r.base_weighting == BaseWeighting::kKernel ? "kernel" : "invocation", Unit::kText),
          data("dispatch_base_ns", r.base_ns, Unit::kNanoseconds),
          data("base_samples", r.base_samples, Unit::kCount),
          data("window_source", std::string(window_source_name(r.window_source)), Unit::kText),
          data("phase_source", std::string(phase_source_name(r.phase_source)), Unit::kText),
          data("phase_text", r.phase_text, Unit::kText), data("tokens", r.tokens, Unit::kCount),
          data("with_stack", r.with_stack),
          data("library_op_kernels", r.library_op_kernels, Unit::kCount),
          data("copies_left_out", r.copies_left_out, Unit::kCount)}};
}

Facts orphan_facts(const TaxOrphans& o) {
  return {.key = "orphans",
          .items = {data("without_call", o.without_call, Unit::kCount),
                    data("without_call_ns", o.without_call_ns, Unit::kNanoseconds),
                    data("without_op", o.without_op, Unit::kCount),
                    data("without_op_ns", o.without_op_ns, Unit::kNanoseconds),
                    data("without_py", o.without_py, Unit::kCount),
                    data("negative_launch_clamped", o.negative_launch_clamped, Unit::kCount),
                    data("negative_launch_dropped", o.negative_launch_dropped, Unit::kCount),
                    data("graph_followers", o.graph_followers, Unit::kCount),
                    data("shared_followers", o.shared_followers, Unit::kCount)},
          .show = Show::kDataOnly};
}

// What a launch passed through before its call is then not in the trace.
bool without_operators(const TaxReport& r) {
  return r.whole.sums.n_launch > 0 && r.whole.orphans.without_op == r.whole.sums.n_launch;
}

// The four parts and what they are set against: the picture of the paper's Figure 7(b) in rows.
Table layers_table(const TaxReport& r) {
  const TaxSums& s = r.whole.sums;
  Table table{.title = "Where host time goes, layer by layer (" +
                       std::string(tax_mode_name(r.mode)) + " mode" +
                       (is_literal(r.mode) ? ", " + std::string(kAsPrinted) : "") + ")",
              .columns = {{.key = "layer", .title = "layer", .unit = Unit::kText},
                          {.key = "total", .title = "total", .unit = Unit::kNanoseconds},
                          {.key = "each", .title = "per launch", .unit = Unit::kNanoseconds},
                          {.key = "share", .title = "of T_Orch", .unit = Unit::kShare},
                          {.key = "from", .title = "from", .unit = Unit::kText}},
              .terminal_limit = 0,
              .show = Show::kReadersOnly};
  const auto row = [&](const char* layer, int64_t ns, std::string from) {
    const Value each = s.n_launch > 0 && s.charged()
                           ? whole_ns(static_cast<double>(ns) / static_cast<double>(s.n_launch))
                           : Value();
    table.rows.push_back({layer, charge(s, ns), each, share_of(ns, s.t_orch_ns), std::move(from)});
  };
  const LayerNames names = layer_names(r.mode);
  const bool no_ops = without_operators(r);
  if (no_ops) {
    for (const char* layer : {"Python, T_Py", names.dispatch, "library, ΔCT"}) {
      table.rows.push_back({layer, Value(), Value(), Value(), "no operator around a launch"});
    }
  } else {
    row("Python, T_Py", s.t_py_ns, "trace");
    row(names.dispatch, s.ft_dispatch_ns, !is_literal(r.mode) || r.base_ns ? "trace" : "none");
    row("library, ΔCT", s.ct_ns, r.base_ns ? "trace" : "none");
  }
  const bool no_floor = is_literal(r.mode) && !r.floor.known();
  if (no_floor) {
    table.rows.push_back({names.launch, Value(), Value(), Value(), "not known"});
  } else {
    row(names.launch, s.kt_ns,
        is_literal(r.mode) ? std::string(floor_source_name(r.floor.source)) : "trace");
  }
  row("T_Orch", s.t_orch_ns,
      !s.charged()         ? "not told"
      : no_floor || no_ops ? "sum, at least"
                           : "sum");
  return table;
}

std::string untold_cause(const TaxSums& sums) {
  return sums.n_launch == 0 ? "no launch call of these kernels is in the trace"
                            : "no operator around a launch, and nothing known of the launch itself";
}

Facts balance_facts(const TaxReport& r) {
  const TaxWindow& w = r.whole;
  const auto ns = [](const char* key, const char* label, int64_t value, std::string note = "") {
    return Item{key, label, value, Unit::kNanoseconds, std::move(note)};
  };
  Facts facts{.title = "Against the device", .show = Show::kReadersOnly};
  facts.items = {
      {"n", "kernels (N)", w.sums.n, Unit::kCount,
       format_count(static_cast<int64_t>(w.sums.n_launch)) +
           (w.sums.n_launch == 1 ? " launch" : " launches")},
      ns("t_device_ns", "T_DeviceActive", w.sums.t_device_ns),
      {"hdbi", "HDBI", w.sums.hdbi ? Value(hdbi_text(*w.sums.hdbi)) : Value(), Unit::kText,
       !w.sums.charged() ? "not told: " + untold_cause(w.sums)
       : without_operators(r)
           ? "at most: T_Device / (T_Device + T_Orch), and T_Orch is a lower bound"
           : "T_Device / (T_Device + T_Orch): 0 host, 1 device"},
      ns("t_e2e_ns", "T_e2e, wall time", w.t_e2e_ns),
      {"gpu_utilisation", "GPU utilisation of T_e2e", w.gpu_utilisation, Unit::kShare},
      {"idle_fraction", "GPU idle fraction of T_e2e", w.idle_fraction, Unit::kShare},
      ns("t_orch_exclusive_ns", "T_Orch, exclusive", w.exclusive.total_ns,
         "each moment of a thread once"),
      ns("exclusive_between_ns", "host work beside it", w.exclusive.between_ns,
         "between launches, and of none of them"),
      ns("exclusive_waiting_ns", "host waits beside it", w.exclusive.waiting_ns,
         "for the GPU, or in allocations"),
      {"t_orch_literal_ns", "T_Orch, literal", charge(w.literal, w.literal.t_orch_ns),
       Unit::kNanoseconds, kAsPrinted},
      {"hdbi_literal", "HDBI, literal",
       w.literal.hdbi ? Value(hdbi_text(*w.literal.hdbi)) : Value(), Unit::kText, kAsPrinted},
      {"additivity", "literal / exclusive", w.additivity, Unit::kRatio},
      {"floor_ns", "launch floor", floor_value(r.floor), Unit::kNanoseconds, r.floor.text},
      {"dispatch_base_ns", "dispatch base", r.base_ns, Unit::kNanoseconds,
       "median over " + format_count(static_cast<int64_t>(r.base_samples)) +
           (r.base_weighting == BaseWeighting::kKernel ? " native kernels" : " native launches")},
  };
  return facts;
}

// Where kernels wait for others before them, launch times are no launch costs any more.
bool launches_queue(const TaxSums& literal) { return literal.kt_fw_ns > literal.kt_ns; }

Table families_table(const TaxReport& r) {
  const TaxSums& sums = r.whole.sums;
  const bool queueing = launches_queue(r.whole.literal);
  const Show residual = queueing ? Show::kDataOnly : Show::kEverywhere;
  constexpr Unit kNs = Unit::kNanoseconds;
  constexpr Show kData = Show::kDataOnly;
  Table table{
      .key = "families",
      .title = std::string("Kernel families (TaxBreak Table IV)") +
               (queueing ? "; launch times contain queueing, which only a replay tells apart" : ""),
      .columns =
          {{.key = "name", .title = "family", .unit = Unit::kText, .elastic = true},
           {.key = "i_lib", .title = "I_lib", .show = kData},
           {.key = "kernels", .title = "N", .unit = Unit::kCount},
           {.key = "library_kernels", .title = "lib", .unit = Unit::kCount, .show = kData},
           {.key = "unique_kernels", .title = "unique", .unit = Unit::kCount},
           {.key = "t_orch_ns", .title = "T_Orch", .unit = kNs},
           {.key = "t_device_ns", .title = "T_Device", .unit = kNs},
           {.key = "launch_p50_ns", .title = "launch p50", .unit = kNs},
           {.key = "launch_p95_ns", .title = "p95", .unit = kNs},
           {.key = "kt_fw_p50_ns", .title = "ΔKT_fw", .unit = kNs, .show = residual},
           {.key = "share_of_floor", .title = "of floor", .unit = Unit::kShare, .show = residual},
           {.key = "t_py_ns", .title = "T_Py", .unit = kNs, .show = kData},
           {.key = "ft_dispatch_ns", .title = "dispatch", .unit = kNs, .show = kData},
           {.key = "ct_ns", .title = "ΔCT", .unit = kNs, .show = kData},
           {.key = "kt_ns", .title = "ΔKT", .unit = kNs, .show = kData}},
      .terminal_limit = 0};
  for (const FamilyTax& f : r.families) {
    table.rows.push_back({f.name, f.library ? 1 : 0, f.kernels, f.library_kernels, f.unique_kernels,
                          charge(sums, f.t_orch_ns), f.t_device_ns, whole_ns(f.launch_p50_ns),
                          whole_ns(f.launch_p95_ns), whole_ns(f.kt_fw_ns), f.share_of_floor,
                          charge(sums, f.t_py_ns), charge(sums, f.ft_dispatch_ns),
                          charge(sums, f.ct_ns), charge(sums, f.kt_ns)});
  }
  return table;
}

bool is_window_column(const std::string& key) {
  return key == "n" || key == "t_orch_ns" || key == "t_orch_literal_ns" || key == "t_device_ns" ||
         key == "hdbi" || key == "t_e2e_ns" || key == "gpu_utilisation";
}

std::string window_title(const std::string& key) {
  if (key == "n") return "N";
  if (key == "t_orch_ns") return "T_Orch";
  if (key == "t_orch_literal_ns") return "as printed";
  if (key == "t_device_ns") return "T_Device";
  if (key == "hdbi") return "HDBI";
  if (key == "t_e2e_ns") return "T_e2e";
  if (key == "gpu_utilisation") return "GPU util.";
  return key;
}

Table windows_table(const char* key, std::string title, const TaxReport& r,
                    const std::vector<TaxWindow>& windows) {
  Table table{
      .key = key,
      .title = std::move(title),
      .columns = {{.key = "name", .title = "window", .unit = Unit::kText, .elastic = true}}};
  for (const Item& item : window_items(r.whole)) {
    table.columns.push_back(
        {.key = item.key,
         .title = window_title(item.key),
         .unit = item.unit,
         .show = is_window_column(item.key) ? Show::kEverywhere : Show::kDataOnly});
  }
  for (const TaxWindow& window : windows) {
    Row row = {window.name};
    for (Item& item : window_items(window)) row.push_back(std::move(item.value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// TaxBreak Table II.
Table fragmentation_table(const TaxReport& r) {
  Table table{.title = "Fragmentation (TaxBreak Table II)",
              .columns = {{.key = "name", .title = "window", .unit = Unit::kText, .elastic = true},
                          {.key = "n", .title = "N", .unit = Unit::kCount},
                          {.key = "names", .title = "unique names", .unit = Unit::kCount},
                          {.key = "per_token", .title = "N per token", .unit = Unit::kRatio},
                          {.key = "diversity", .title = "diversity", .unit = Unit::kRatio},
                          {.key = "util", .title = "GPU util.", .unit = Unit::kShare}},
              .show = Show::kReadersOnly};
  std::vector<const TaxWindow*> windows = {&r.whole};
  for (const TaxWindow& phase : r.phases) windows.push_back(&phase);
  for (const TaxWindow* w : windows) {
    table.rows.push_back({w->name, w->sums.n, w->unique_names, w->kernels_per_token,
                          w->diversity_ratio, w->gpu_utilisation});
  }
  return table;
}

void add_mean(Table& table, const char* key, const char* label, const MeanInterval& mean,
              Unit unit) {
  const bool is_time = unit == Unit::kNanoseconds;
  // Of these only the idle fraction can be negative.
  const bool is_signed = std::string_view(key) == "idle_fraction";
  const double low = is_signed ? mean.low : mean.low < 0 ? 0.0 : mean.low;
  const auto value = [&](double v) { return is_time ? whole_ns(v) : Value(v); };
  const auto text = [&](double v) {
    const bool whole = unit == Unit::kCount && v == std::round(v);
    return Value(whole ? format_count(std::llround(v)) : format_value(value(v), unit));
  };
  table.rows.push_back({key, value(mean.mean), value(low), value(mean.high), mean.n, label,
                        text(mean.mean), text(low), text(mean.high)});
}

// Mean over windows and its 95 % interval. Rows differ in unit, so readers get text.
Table means_table(const TaxMeans& m) {
  Table table{
      .key = "means",
      .title = "Mean over iterations, 95 % interval",
      .columns =
          {{.key = "metric", .title = "metric", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "mean", .title = "mean", .show = Show::kDataOnly},
           {.key = "low95", .title = "low", .show = Show::kDataOnly},
           {.key = "high95", .title = "high", .show = Show::kDataOnly},
           {.key = "n", .title = "n", .unit = Unit::kCount, .show = Show::kDataOnly},
           {.key = "label", .title = "metric", .unit = Unit::kText, .show = Show::kReadersOnly},
           {.key = "mean_text",
            .title = "mean",
            .align = Align::kRight,
            .show = Show::kReadersOnly},
           {.key = "low_text", .title = "low", .align = Align::kRight, .show = Show::kReadersOnly},
           {.key = "high_text",
            .title = "high",
            .align = Align::kRight,
            .show = Show::kReadersOnly}},
      .terminal_limit = 0};
  add_mean(table, "n", "kernels (N)", m.n, Unit::kCount);
  add_mean(table, "t_py_ns", "T_Py", m.t_py_ns, Unit::kNanoseconds);
  add_mean(table, "ft_ns", "ΔFT", m.ft_ns, Unit::kNanoseconds);
  add_mean(table, "ct_ns", "ΔCT", m.ct_ns, Unit::kNanoseconds);
  add_mean(table, "kt_ns", "ΔKT", m.kt_ns, Unit::kNanoseconds);
  add_mean(table, "kt_fw_ns", "ΔKT_fw", m.kt_fw_ns, Unit::kNanoseconds);
  add_mean(table, "t_orch_ns", "T_Orch", m.t_orch_ns, Unit::kNanoseconds);
  add_mean(table, "t_orch_exclusive_ns", "T_Orch, exclusive", m.exclusive_ns, Unit::kNanoseconds);
  add_mean(table, "t_device_ns", "T_DeviceActive", m.t_device_ns, Unit::kNanoseconds);
  add_mean(table, "t_e2e_ns", "T_e2e", m.t_e2e_ns, Unit::kNanoseconds);
  add_mean(table, "hdbi", "HDBI", m.hdbi, Unit::kRatio);
  add_mean(table, "idle_fraction", "GPU idle fraction of T_e2e", m.idle_fraction, Unit::kShare);
  return table;
}

Table diagnosis_table(const std::vector<TaxAdvice>& advice) {
  Table table{.key = "diagnosis",
              .title = "Diagnosis",
              .columns = {{.key = "key", .title = "lever", .unit = Unit::kText},
                          {.key = "advice", .title = "what", .unit = Unit::kText},
                          {.key = "at_most_ns", .title = "at most", .unit = Unit::kNanoseconds},
                          {.key = "share_of_e2e", .title = "of T_e2e", .unit = Unit::kShare},
                          {.key = "basis", .title = "bounded by", .unit = Unit::kText},
                          {.key = "same_as", .title = "also told as", .unit = Unit::kText},
                          {.key = "tighter", .title = "tighter bound", .unit = Unit::kText}},
              .terminal_limit = 0,
              .show = Show::kDataOnly};
  const auto or_missing = [](const std::string& text) { return text.empty() ? Value() : text; };
  for (const TaxAdvice& a : advice) {
    table.rows.push_back({a.lever.key, a.what, a.lever.at_most_ns, a.lever.share_of_e2e,
                          a.lever.basis, or_missing(a.same_as), or_missing(a.tighter)});
  }
  return table;
}

// What to change, largest bound first. What the launch room has told already is not told again.
Prose diagnosis_prose(const std::vector<TaxAdvice>& advice) {
  std::vector<TaxAdvice> ours;
  for (const TaxAdvice& a : advice) {
    if (a.same_as.empty() || a.same_as == "cheaper_host") ours.push_back(a);
  }
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  for (const AdviceGroup& group : group_advice(ours)) {
    std::string text = "at most " + format_ns(group.at_most_ns) + " (" +
                       format_share(group.share_of_e2e) + " of wall time): ";
    for (size_t i = 0; i < group.what.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == group.what.size() ? "; or " : "; ") + group.what[i];
    }
    prose.paragraphs.push_back(text + ". Bound: " + group.basis + ".");
  }
  return prose;
}

int64_t charged_ns(const KernelDbEntry& entry, const TaxReport& r) {
  if (!is_literal(r.mode)) return entry.exclusive_ns;
  const KernelCost cost = trace_cost(entry);
  return sum_tax({cost}, r.mode, r.base_ns.value_or(0), r.floor.floor_ns,
                 cost.invocations - cost.unpaid)
      .t_orch_ns;
}

struct CostlyKernel {
  const KernelDbEntry* entry;
  int64_t t_orch_ns;
};

Table kernels_table(const KernelDatabase& database, const TaxReport& r, size_t top) {
  std::vector<CostlyKernel> kernels;
  for (const KernelDbEntry& entry : database.entries) {
    kernels.push_back({&entry, charged_ns(entry, r)});
  }
  std::stable_sort(
      kernels.begin(), kernels.end(),
      [](const CostlyKernel& a, const CostlyKernel& b) { return a.t_orch_ns > b.t_orch_ns; });
  if (top > 0 && kernels.size() > top) kernels.resize(top);
  Table table{
      .key = "kernels",
      .title = "What costs the host most (" + std::to_string(kernels.size()) + " of " +
               std::to_string(database.entries.size()) + " unique kernels)",
      .columns =
          {{.key = "name", .title = "kernel", .unit = Unit::kText, .elastic = true},
           {.key = "op", .title = "under", .unit = Unit::kText, .elastic = true},
           {.key = "db_key", .title = "key", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "family", .title = "family", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "i_lib", .title = "I_lib", .show = Show::kDataOnly},
           {.key = "count", .title = "N", .unit = Unit::kCount},
           {.key = "t_orch_ns", .title = "T_Orch", .unit = Unit::kNanoseconds},
           {.key = "t_py_mean_ns", .title = "T_Py", .unit = Unit::kNanoseconds},
           {.key = "t_dispatch_mean_ns", .title = "dispatch", .unit = Unit::kNanoseconds},
           {.key = "t_launch_mean_ns", .title = "launch", .unit = Unit::kNanoseconds},
           {.key = "dur_mean_ns", .title = "t_k", .unit = Unit::kNanoseconds}},
      .terminal_limit = 0};
  for (const CostlyKernel& kernel : kernels) {
    const KernelDbEntry& e = *kernel.entry;
    table.rows.push_back({e.name, e.op, e.key, e.family, e.library ? 1 : 0, e.frequency,
                          charge(r.whole.sums, kernel.t_orch_ns), whole_ns(e.t_py.mean_ns),
                          whole_ns(e.t_dispatch.mean_ns), whole_ns(e.t_launch.mean_ns),
                          whole_ns(e.duration.mean_ns)});
  }
  return table;
}

}  // namespace

// measured.cc
void add_measured_blocks(const MeasuredReport& measured, const TaxReport& report, Section& section);

Section tax_section(const TaxSectionInput& input) {
  const TaxReport& r = input.report;
  Section section{.key = "tax", .title = "Tax: what the host side costs, layer by layer"};
  section.blocks.push_back(diagnosis_prose(input.advice));
  section.blocks.push_back(method_facts(r));
  section.blocks.push_back(Facts{.items = window_items(r.whole), .show = Show::kDataOnly});
  section.blocks.push_back(floor_facts(r.floor, Show::kDataOnly));
  section.blocks.push_back(layers_table(r));
  section.blocks.push_back(balance_facts(r));
  for (Block& chart : tax_charts(r)) section.blocks.push_back(std::move(chart));
  if (input.measured != nullptr) add_measured_blocks(*input.measured, r, section);
  const bool repeated = r.window_source != WindowSource::kWholeTrace && r.windows.size() > 1;
  Table phases = windows_table("phases", "Prefill and decode: " + r.phase_text, r, r.phases);
  if (r.phases.empty()) phases.show = Show::kDataOnly;
  section.blocks.push_back(std::move(phases));
  Table windows = windows_table("windows", "Iterations", r, r.windows);
  if (!repeated) windows.show = Show::kDataOnly;
  section.blocks.push_back(std::move(windows));
  Table means = means_table(r.means);
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

std::vector<Item> tax_overview(const TaxReport& report) {
  const TaxWindow& w = report.whole;
  return {{"n", "N", w.sums.n, Unit::kCount},
          {"t_py_ns", "T_Py", charge(w.sums, w.sums.t_py_ns), Unit::kNanoseconds},
          {"ft_ns", "ΔFT", charge(w.sums, w.sums.ft_ns), Unit::kNanoseconds},
          {"ct_ns", "ΔCT", charge(w.sums, w.sums.ct_ns), Unit::kNanoseconds},
          {"kt_ns", "ΔKT", charge(w.sums, w.sums.kt_ns), Unit::kNanoseconds},
          {"t_orch_ns", "T_Orch", charge(w.sums, w.sums.t_orch_ns), Unit::kNanoseconds},
          {"t_device_ns", "T_Device", w.sums.t_device_ns, Unit::kNanoseconds},
          {"hdbi", "HDBI", w.sums.hdbi, Unit::kRatio},
          {"t_e2e_ns", "T_e2e", w.t_e2e_ns, Unit::kNanoseconds},
          {"gpu_utilisation", "GPU util.", w.gpu_utilisation, Unit::kShare}};
}

}  // namespace assay
