#include "overhead/overhead.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "overhead/family_table.h"
#include "overhead/overhead_trust.h"
#include "overhead/unique_kernels.h"
#include "overhead/window_overhead.h"

namespace assay {
namespace {

// The base from kernels with an operator that launches nothing else. If there are none, from all
// native kernels, although their dispatch may contain other launches.
void set_base(const std::vector<UniqueKernel>& kernels, HostOverheadReport& report) {
  for (const bool single_launch : {true, false}) {
    const std::vector<KernelCost> population =
        base_population(report.rows, kernels, report.base_weighting, single_launch);
    report.base_ns = dispatch_base(population, report.base_weighting);
    report.base_samples = static_cast<uint64_t>(
        std::count_if(population.begin(), population.end(),
                      [](const KernelCost& row) { return row.t_dispatch_ns > kDispatchNoiseNs; }));
    report.base_single_launch = single_launch;
    if (report.base_ns) return;
  }
  report.base_single_launch = true;
}

// The base of the paper's sums, over the kernels that are native to the paper.
std::optional<int64_t> literal_base(const std::vector<UniqueKernel>& kernels,
                                    HostOverheadReport report) {
  for (HostOverheadRow& row : report.rows) row.cost.library = row.paper_library;
  set_base(kernels, report);
  return report.base_ns;
}

// `ns` if host time is charged in the window, else NaN.
double charge(const HostOverheadWindow& window, int64_t ns) {
  return window.sums.charged() ? static_cast<double>(ns) : std::nan("");
}

// The same for dispatch or library front end alone; NaN if they are not separable.
double charge_split(const HostOverheadWindow& window, int64_t ns) {
  return window.sums.split_known ? charge(window, ns) : std::nan("");
}

// Values that a window does not have (NaN), and windows without kernels, are left out.
template <typename Value>
MeanInterval mean_of(const std::vector<HostOverheadWindow>& windows, Value value) {
  std::vector<double> values;
  for (const HostOverheadWindow& window : windows) {
    const auto number = static_cast<double>(value(window));
    if (window.sums.n > 0 && !std::isnan(number)) values.push_back(number);
  }
  return mean_interval95(values);
}

HostOverheadMeans means_of(const std::vector<HostOverheadWindow>& windows) {
  using W = HostOverheadWindow;
  HostOverheadMeans means;
  means.n = mean_of(windows, [](const W& w) { return w.sums.n; });
  means.t_py_ns = mean_of(windows, [](const W& w) { return charge(w, w.sums.t_py_ns); });
  means.ft_ns = mean_of(windows, [](const W& w) { return charge_split(w, w.sums.ft_ns); });
  means.ct_ns = mean_of(windows, [](const W& w) { return charge_split(w, w.sums.ct_ns); });
  means.kt_ns = mean_of(windows, [](const W& w) { return charge(w, w.sums.kt_ns); });
  means.kt_fw_ns = mean_of(windows, [](const W& w) { return w.sums.kt_fw_ns; });
  means.t_orch_ns = mean_of(windows, [](const W& w) { return charge(w, w.sums.t_orch_ns); });
  means.exclusive_ns = mean_of(windows, [](const W& w) { return w.exclusive.total_ns; });
  means.t_device_ns = mean_of(windows, [](const W& w) { return w.sums.t_device_ns; });
  means.t_e2e_ns = mean_of(windows, [](const W& w) { return w.t_e2e_ns; });
  means.hdbi = mean_of(windows, [](const W& w) { return w.sums.hdbi.value_or(std::nan("")); });
  means.idle_fraction = mean_of(windows, [](const W& w) { return w.idle_fraction; });
  return means;
}

void measure_windows(const HostOverheadMeter& meter, const Trace& trace, const Windows& windows,
                     HostOverheadReport& report) {
  report.whole = meter.measure_whole();
  report.window_source = windows.source;
  if (windows.source == WindowSource::kWholeTrace) {
    report.windows = {report.whole};
    report.means = means_of(report.windows);
    return;
  }
  const auto row_ids = rows_of_windows(trace, report.rows, windows.windows);
  report.windows.reserve(row_ids.size());
  for (size_t w = 0; w < row_ids.size(); ++w) {
    report.windows.push_back(meter.measure(windows.windows[w], row_ids[w]));
  }
  report.means = means_of(report.windows);
}

HostOverheadPhase overhead_phase(Phase phase) {
  switch (phase) {
    case Phase::kPrefill:
      return HostOverheadPhase::kPrefill;
    case Phase::kDecode:
      return HostOverheadPhase::kDecode;
    case Phase::kNone:
      break;
  }
  return HostOverheadPhase::kNone;
}

void set_kernels_per_token(uint64_t tokens, HostOverheadWindow& window) {
  if (tokens == 0) return;
  window.kernels_per_token = static_cast<double>(window.sums.n) / static_cast<double>(tokens);
}

// Adds the combined windows of one phase to the report.
void add_phase(const HostOverheadMeter& meter, const Trace& trace, const Phases& phases,
               Phase wanted, HostOverheadReport& report) {
  std::vector<Window> windows;
  for (size_t w = 0; w < phases.phase.size(); ++w) {
    if (phases.phase[w] == wanted) windows.push_back(phases.windows.windows[w]);
  }
  if (windows.empty()) return;
  HostOverheadWindow total = meter.combine(std::string(phase_name(wanted)), windows,
                                           rows_of_windows(trace, report.rows, windows));
  total.phase = overhead_phase(wanted);
  if (wanted == Phase::kDecode) set_kernels_per_token(report.tokens, total);
  report.phases.push_back(std::move(total));
}

void measure_phases(const HostOverheadMeter& meter, const Trace& trace, const Links& links,
                    const Windows& windows, HostOverheadReport& report) {
  const Phases phases = find_phases(trace, links, windows);
  report.phase_source = phases.source;
  report.phase_text = phases.why;
  report.tokens = phases.decode_steps;
  set_kernels_per_token(report.tokens, report.whole);
  add_phase(meter, trace, phases, Phase::kPrefill, report);
  add_phase(meter, trace, phases, Phase::kDecode, report);
  // If the iterations are the steps, each is a phase, and a decode step is one token.
  for (HostOverheadWindow& window : report.windows) {
    window.phase = overhead_phase(phase_of_label(window.name));
  }
  if (phases.source == PhaseSource::kPattern && phases.phase.size() == report.windows.size()) {
    for (size_t w = 0; w < report.windows.size(); ++w) {
      report.windows[w].phase = overhead_phase(phases.phase[w]);
    }
  }
  for (HostOverheadWindow& window : report.windows) {
    if (report.tokens > 0 && window.phase == HostOverheadPhase::kDecode)
      set_kernels_per_token(1, window);
  }
}

bool recorded_stacks(const Trace& trace) {
  return trace.frames.size() > 0 ||
         std::any_of(trace.metadata.begin(), trace.metadata.end(), [](const MetadataEntry& entry) {
           return entry.key == "with_stack" && (entry.value == "1" || entry.value == "true");
         });
}

uint64_t count_library_ops(const Trace& trace, const KernelBook& book,
                           const std::vector<HostOverheadRow>& rows) {
  enum : uint8_t { kUnknown, kNo, kYes };
  std::vector<uint8_t> known(trace.strings.size(), kUnknown);
  uint64_t count = 0;
  for (const HostOverheadRow& row : rows) {
    if (!row.op) continue;
    const StringId name = trace.ops.name[row.op.index()];
    uint8_t& library = known[name.index()];
    if (library == kUnknown) library = book.is_vendor_op(trace.text(name)) ? kYes : kNo;
    count += library == kYes ? 1 : 0;
  }
  return count;
}

}  // namespace

int64_t communication_ns(const HostOverheadReport& report) {
  int64_t sum_ns = 0;
  for (const FamilyOverhead& family : report.families) {
    if (family.name == kCommunicationFamily) sum_ns += family.t_device_ns;
  }
  return sum_ns;
}

Result<HostOverheadReport> analyze_overhead(const Trace& trace, const Links& links,
                                            const Windows& windows,
                                            const HostOverheadOptions& options) {
  HostOverheadOptions asked = options;
  asked.kernels = given_or_built_in(options.kernels, trace.strings, trace.activities.name);
  const KernelBook& book = asked.kernels->book();
  HostOverheadReport report;
  report.mode = options.mode;
  report.base_weighting = options.base_weighting;
  HostOverheadRows extracted = extract_overhead_rows(trace, links, windows, asked);
  report.rows = std::move(extracted.rows);
  report.ranges_as_ops = extracted.ranges_as_ops;
  report.copies_left_out = extracted.copies_left_out;
  report.with_stack = recorded_stacks(trace);
  ASSAY_TRY_ASSIGN(report.floor, floor_or_found(options.floor, trace, links));

  const std::vector<UniqueKernel> kernels = group_unique_kernels(trace, report.rows);
  set_base(kernels, report);
  report.literal_base_ns = literal_base(kernels, report);
  const HostOverheadMeter meter(trace, links, report, options.mode);
  for (uint32_t r = 0; r < report.rows.size(); ++r) {
    if (report.rows[r].owns_call()) report.rows[r].exclusive = meter.exclusive_cost(r);
  }
  measure_windows(meter, trace, windows, report);
  measure_phases(meter, trace, links, windows, report);
  report.families =
      family_table(book.families(), report.rows, kernels, meter, report.floor.floor_ns);
  report.library_op_kernels = count_library_ops(trace, book, report.rows);
  report.trust = overhead_trust(trace, windows, report);
  return report;
}

}  // namespace assay
