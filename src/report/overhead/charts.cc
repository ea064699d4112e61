// TaxBreak's figures: host layers per window and kernel family, launch times relative to the
// launch-overhead floor, and host against device over a sweep.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "report/document/chart_limits.h"
#include "report/overhead/charts.h"
#include "text/units.h"

namespace assay {
namespace {

struct Layers {
  Series py{.name = "Python, T_Py", .mark = Mark::kStackedBars};
  Series dispatch{.mark = Mark::kStackedBars};
  Series library{.name = "library, ΔCT", .mark = Mark::kStackedBars};
  Series launch{.name = "launch, ΔKT", .mark = Mark::kStackedBars};

  template <typename Number>
  void add(Number py_ns, Number dispatch_ns, Number ct_ns, Number kt_ns) {
    py.y.push_back(static_cast<double>(py_ns));
    dispatch.y.push_back(static_cast<double>(dispatch_ns));
    library.y.push_back(static_cast<double>(ct_ns));
    launch.y.push_back(static_cast<double>(kt_ns));
  }
  void name_after(const HostOverheadReport& r) {
    dispatch.name = layer_names(r.mode).dispatch;
    launch.name = layer_names(r.mode).launch;
    if (r.whole.sums.split_known) return;
    dispatch.name += " and library, not separated";
    for (size_t i = 0; i < library.y.size(); ++i) dispatch.y[i] += std::exchange(library.y[i], 0);
  }
  std::vector<Series> take() {
    return {std::move(py), std::move(dispatch), std::move(library), std::move(launch)};
  }
};

bool repeated(const HostOverheadReport& r) {
  return r.window_source != WindowSource::kWholeTrace && r.windows.size() > 1;
}

Chart windows_chart(const HostOverheadReport& r) {
  const bool many = repeated(r);
  Chart chart{.key = "overhead_layers",
              .title = many ? "T_Orch layer by layer, per iteration (as TaxBreak, Figure 7b)"
                            : "T_Orch layer by layer (as TaxBreak, Figure 7b)",
              .caption = is_literal(r.mode) ? kAsPrinted : "Each moment of a thread once.",
              .y = {"host time", Unit::kNanoseconds},
              .horizontal = !many};
  Layers layers;
  const auto add = [&](const std::string& name, const HostOverheadSums& s) {
    chart.categories.push_back(name);
    layers.add(s.t_py_ns, s.ft_dispatch_ns, s.ct_ns, s.kt_ns);
  };
  if (many) {
    for (const size_t i : chart_sample(r.windows.size())) add(r.windows[i].name, r.windows[i].sums);
  } else {
    add("whole trace", r.whole.sums);
  }
  layers.name_after(r);
  chart.series = layers.take();
  return chart;
}

Chart families_chart(const HostOverheadReport& r) {
  Chart chart{.key = "overhead_families",
              .title = "T_Orch by kernel family, layer by layer (TaxBreak, Table IV)",
              .y = {"host time", Unit::kNanoseconds},
              .horizontal = true};
  Layers layers;
  for (const FamilyOverhead& family : r.families) {
    chart.categories.push_back(family.name);
    layers.add(family.t_py_ns, family.ft_dispatch_ns, family.ct_ns, family.kt_ns);
  }
  layers.name_after(r);
  chart.series = layers.take();
  return chart;
}

Chart launch_times_chart(const HostOverheadReport& r) {
  Chart chart{.key = "overhead_launch_times",
              .title =
                  "Launch time by kernel family, median and p95, over the launch-overhead floor "
                  "(TaxBreak, Table IV)",
              .y = {"T_launch", Unit::kNanoseconds, true},
              .horizontal = true};
  Series median{.name = "p50", .mark = Mark::kPoints};
  Series high{.name = "p95", .mark = Mark::kPoints};
  for (const FamilyOverhead& family : r.families) {
    chart.categories.push_back(family.name);
    median.y.push_back(family.launch_p50_ns);
    high.y.push_back(family.launch_p95_ns);
  }
  chart.series = {std::move(median), std::move(high)};
  if (r.floor.known()) {
    chart.guides = {{Guide::Across::kY, static_cast<double>(r.floor.floor_ns), "launch floor"}};
  }
  return chart;
}

Chart balance_chart(const HostOverheadReport& r) {
  Chart chart{.key = "overhead_balance",
              .title = "Host, device and wall time per iteration",
              .x = {"iteration", Unit::kNone},
              .y = {"time", Unit::kNanoseconds}};
  Series host{.name = "T_Orch"};
  Series device{.name = "T_DeviceActive"};
  Series wall{.name = "T_e2e"};
  const std::vector<size_t> drawn = chart_sample(r.windows.size(), kMostChartPoints);
  chart.caption = sample_words(drawn.size(), r.windows.size());
  for (const size_t i : drawn) {
    const HostOverheadWindow& window = r.windows[i];
    for (Series* series : {&host, &device, &wall}) series->x.push_back(static_cast<double>(i));
    host.y.push_back(window.sums.charged() ? static_cast<double>(window.sums.t_orch_ns)
                                           : std::nan(""));
    device.y.push_back(static_cast<double>(window.sums.t_device_ns));
    wall.y.push_back(static_cast<double>(window.t_e2e_ns));
  }
  chart.series = {std::move(host), std::move(device), std::move(wall)};
  return chart;
}

Chart hdbi_chart(const HostOverheadReport& r) {
  Chart chart{.key = "overhead_hdbi",
              .title = "HDBI per iteration",
              .caption = "T_Device / (T_Device + T_Orch): 0 is all host, 1 all device.",
              .x = {"iteration", Unit::kNone},
              .y = {"HDBI", Unit::kRatio},
              .guides = {{Guide::Across::kY, 0.5, "balance"}}};
  Series series{};
  const std::vector<size_t> drawn = chart_sample(r.windows.size(), kMostChartPoints);
  const std::string words = sample_words(drawn.size(), r.windows.size());
  if (!words.empty()) chart.caption += " " + words;
  for (const size_t i : drawn) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(r.windows[i].sums.hdbi.value_or(std::nan("")));
  }
  chart.series = {std::move(series)};
  return chart;
}

// ---- sweeps ----

// A line of points: one platform at one sequence length, over batch size.
struct SweepLine {
  std::string name;
  std::vector<HostOverheadPoint> points;
};

std::vector<SweepLine> lines_along_batch(const std::vector<HostOverheadPlatform>& platforms) {
  std::vector<SweepLine> lines;
  for (const HostOverheadPlatform& platform : platforms) {
    std::map<double, std::vector<HostOverheadPoint>> by_length;
    for (const HostOverheadPoint& point : platform.points)
      by_length[point.seq_len].push_back(point);
    for (auto& [length, points] : by_length) {
      std::sort(
          points.begin(), points.end(),
          [](const HostOverheadPoint& a, const HostOverheadPoint& b) { return a.batch < b.batch; });
      std::string name = platforms.size() > 1 ? platform.name : "";
      if (by_length.size() > 1) {
        name += std::string(name.empty() ? "" : ", ") +
                (length > 0 ? "length " + size_text(length) : "length not known");
      }
      lines.push_back({std::move(name), std::move(points)});
    }
  }
  return lines;
}

template <typename Of>
void add_lines(const std::vector<SweepLine>& lines, const std::string& what, const Of& of,
               Chart& chart) {
  for (const SweepLine& line : lines) {
    std::string name = what;
    if (!line.name.empty()) name = what.empty() ? line.name : line.name + ": " + what;
    Series series{.name = std::move(name)};
    for (const HostOverheadPoint& point : line.points) {
      series.x.push_back(point.batch);
      series.y.push_back(of(point));
    }
    chart.series.push_back(std::move(series));
  }
}

Chart along_batch(Chart chart) {
  chart.x = {"batch size", Unit::kNone, true};
  return chart;
}

double idle_fraction(const HostOverheadPoint& p) {
  return p.t_e2e_ns > 0 ? (p.t_e2e_ns - p.t_device_ns) / p.t_e2e_ns : std::nan("");
}

Chart sweep_layers_chart(const HostOverheadPlatform& platform, bool named) {
  Chart chart{.key = "sweep_layers",
              .title = "T_Orch layer by layer over the sweep (TaxBreak, Figure 7b)",
              .x = {"batch size", Unit::kNone},
              .y = {"host time", Unit::kNanoseconds}};
  if (named) chart.title += ": " + platform.name;
  Layers layers;
  layers.dispatch.name = "dispatch";
  for (const HostOverheadPoint& p : platform.points) {
    chart.categories.push_back(size_text(p.batch) +
                               (p.seq_len > 0 ? "x" + size_text(p.seq_len) : ""));
    layers.add(p.t_py_ns, p.ft_ns - p.t_py_ns, p.ct_ns, p.kt_ns);
  }
  chart.series = layers.take();
  return chart;
}

Chart changes_chart(const std::vector<HostOverheadPlatform>& platforms) {
  Chart chart{.key = "sweep_changes",
              .title = "Change from " + platforms[0].name + " to " + platforms[1].name +
                       " (TaxBreak, Figures 9, 10 and 11)",
              .x = {"batch size", Unit::kNone},
              .y = {"change", Unit::kShare}};
  Series host{.name = "T_Orch", .mark = Mark::kBars};
  Series device{.name = "T_Device", .mark = Mark::kBars};
  Series wall{.name = "T_e2e", .mark = Mark::kBars};
  for (const HostOverheadChange& c : overhead_changes(platforms[0].points, platforms[1].points)) {
    chart.categories.push_back(size_text(c.batch) +
                               (c.seq_len > 0 ? "x" + size_text(c.seq_len) : ""));
    host.y.push_back(c.t_orch);
    device.y.push_back(c.t_device);
    wall.y.push_back(c.t_e2e);
  }
  chart.series = {std::move(host), std::move(device), std::move(wall)};
  return chart;
}

}  // namespace

std::vector<Block> overhead_charts(const HostOverheadReport& report) {
  if (report.whole.sums.n == 0) return {};
  std::vector<Block> charts;
  charts.emplace_back(windows_chart(report));
  if (repeated(report)) {
    charts.emplace_back(balance_chart(report));
    charts.emplace_back(hdbi_chart(report));
  }
  if (!report.families.empty()) {
    charts.emplace_back(families_chart(report));
    charts.emplace_back(launch_times_chart(report));
  }
  return charts;
}

std::vector<Block> overhead_sweep_charts(const std::vector<HostOverheadPlatform>& platforms) {
  const std::vector<SweepLine> lines = lines_along_batch(platforms);
  std::vector<Block> charts;
  Chart hdbi =
      along_batch({.key = "sweep_hdbi",
                   .title = "HDBI over the sweep (TaxBreak, Figures 7a and 8)",
                   .caption = "Below 0.5 the host is charged more than the device has to do.",
                   .y = {"HDBI", Unit::kRatio},
                   .guides = {{Guide::Across::kY, 0.5, "balance"}}});
  add_lines(lines, "", hdbi_of, hdbi);
  charts.emplace_back(std::move(hdbi));
  for (const HostOverheadPlatform& platform : platforms) {
    Chart layers = sweep_layers_chart(platform, platforms.size() > 1);
    layers.key += "_" + std::to_string(charts.size());
    charts.emplace_back(std::move(layers));
  }
  Chart host = along_batch({.key = "sweep_host_device",
                            .title = "Host and device time over the sweep (TaxBreak, Figure 8)",
                            .y = {"time", Unit::kNanoseconds, true}});
  add_lines(
      lines, "T_Orch", [](const HostOverheadPoint& p) { return p.t_orch_ns; }, host);
  add_lines(
      lines, "T_DeviceActive", [](const HostOverheadPoint& p) { return p.t_device_ns; }, host);
  charts.emplace_back(std::move(host));
  Chart wall = along_batch({.key = "sweep_latency",
                            .title = "Wall time over the sweep (TaxBreak, Figure 5)",
                            .y = {"T_e2e", Unit::kNanoseconds, true}});
  add_lines(
      lines, "", [](const HostOverheadPoint& p) { return p.t_e2e_ns; }, wall);
  charts.emplace_back(std::move(wall));
  Chart idle = along_batch({.key = "sweep_idle",
                            .title = "GPU idle over the sweep (TaxBreak, Figure 6)",
                            .y = {"of T_e2e", Unit::kShare}});
  add_lines(lines, "", idle_fraction, idle);
  charts.emplace_back(std::move(idle));
  if (platforms.size() > 1) charts.emplace_back(changes_chart(platforms));
  return charts;
}

}  // namespace assay
