// A sweep of decompositions (TaxBreak Figures 7 and 8), and two platforms against each other
// (Figures 10 and 11).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/document/units.h"
#include "report/launch/charts.h"
#include "report/tax/section.h"

namespace assay {
namespace {

std::string point_text(double batch, double seq_len) {
  return "batch " + size_text(batch) + (seq_len > 0 ? ", length " + size_text(seq_len) : "");
}

Value seq_value(double seq_len) { return seq_len > 0 ? size_value(seq_len) : Value(); }

Value charge(const TaxPoint& point, double ns) { return point.charged() ? whole_ns(ns) : Value(); }

bool any_seq_len(const std::vector<TaxPlatform>& platforms) {
  for (const TaxPlatform& platform : platforms) {
    for (const TaxPoint& point : platform.points) {
      if (point.seq_len > 0) return true;
    }
  }
  return false;
}

Table points_table(const std::vector<TaxPlatform>& platforms) {
  Table table{.key = "points",
              .title = "Host and device over the sweep",
              .columns = {{.key = "platform",
                           .title = "platform",
                           .unit = Unit::kText,
                           .show = platforms.size() > 1 ? Show::kEverywhere : Show::kDataOnly},
                          {.key = "batch", .title = "batch"},
                          {.key = "seq_len",
                           .title = "length",
                           .show = any_seq_len(platforms) ? Show::kEverywhere : Show::kDataOnly},
                          {.key = "n", .title = "N", .unit = Unit::kCount},
                          {.key = "t_py_ns", .title = "T_Py", .unit = Unit::kNanoseconds},
                          {.key = "ft_ns", .title = "ΔFT", .unit = Unit::kNanoseconds},
                          {.key = "ct_ns", .title = "ΔCT", .unit = Unit::kNanoseconds},
                          {.key = "kt_ns", .title = "ΔKT", .unit = Unit::kNanoseconds},
                          {.key = "t_orch_ns", .title = "T_Orch", .unit = Unit::kNanoseconds},
                          {.key = "t_device_ns", .title = "T_Device", .unit = Unit::kNanoseconds},
                          {.key = "hdbi", .title = "HDBI", .unit = Unit::kRatio},
                          {.key = "t_e2e_ns", .title = "T_e2e", .unit = Unit::kNanoseconds},
                          {.key = "repeats", .title = "repeats", .show = Show::kDataOnly}},
              .terminal_limit = 0};
  for (const TaxPlatform& platform : platforms) {
    for (const TaxPoint& p : platform.points) {
      table.rows.push_back({platform.name, size_value(p.batch), seq_value(p.seq_len),
                            static_cast<int64_t>(std::llround(p.n)), charge(p, p.t_py_ns),
                            charge(p, p.ft_ns), charge(p, p.ct_ns), charge(p, p.kt_ns),
                            charge(p, p.t_orch_ns), whole_ns(p.t_device_ns), hdbi_of(p),
                            whole_ns(p.t_e2e_ns), static_cast<uint64_t>(p.repeats)});
    }
  }
  return table;
}

Table crossovers_table(const std::vector<TaxPlatform>& platforms) {
  Table table{.key = "crossovers",
              .title = "Where HDBI passes 0.5",
              .columns = {{.key = "platform", .title = "platform", .unit = Unit::kText},
                          {.key = "along", .title = "along", .unit = Unit::kText},
                          {.key = "fixed", .title = "other size"},
                          {.key = "from", .title = "from"},
                          {.key = "to", .title = "to"},
                          {.key = "interpolated", .title = "at about", .unit = Unit::kRatio},
                          {.key = "to_device", .title = "to the device"}},
              .terminal_limit = 0};
  for (const TaxPlatform& platform : platforms) {
    for (const HdbiCrossover& c : hdbi_crossovers(platform.points)) {
      table.rows.push_back({platform.name, c.along_batch ? "batch" : "seq_len", seq_value(c.fixed),
                            size_value(c.from), size_value(c.to), c.interpolated, c.to_device});
    }
  }
  if (table.rows.empty()) table.show = Show::kDataOnly;
  return table;
}

Table changes_table(const std::vector<TaxPlatform>& platforms) {
  Table table{.key = "changes",
              .title = "",
              .columns = {{.key = "batch", .title = "batch"},
                          {.key = "seq_len",
                           .title = "length",
                           .show = any_seq_len(platforms) ? Show::kEverywhere : Show::kDataOnly},
                          {.key = "t_orch_change", .title = "T_Orch", .unit = Unit::kShare},
                          {.key = "t_device_change", .title = "T_Device", .unit = Unit::kShare},
                          {.key = "t_e2e_change", .title = "T_e2e", .unit = Unit::kShare},
                          {.key = "hdbi_from", .title = "HDBI from", .unit = Unit::kRatio},
                          {.key = "hdbi_to", .title = "to", .unit = Unit::kRatio},
                          {.key = "t_e2e_change_from_orch",
                           .title = "by T_Orch alone",
                           .unit = Unit::kShare}},
              .terminal_limit = 0};
  if (platforms.size() < 2) {
    table.show = Show::kDataOnly;
    return table;
  }
  table.title = "From " + platforms[0].name + " to " + platforms[1].name;
  for (const TaxChange& c : tax_changes(platforms[0].points, platforms[1].points)) {
    table.rows.push_back({size_value(c.batch), seq_value(c.seq_len), c.t_orch, c.t_device, c.t_e2e,
                          c.hdbi_a, c.hdbi_b, c.t_e2e_from_orch});
  }
  return table;
}

std::string crossover_text(const TaxPlatform& platform, bool named) {
  const std::string who = named ? platform.name + ": " : "";
  const auto crossovers = hdbi_crossovers(platform.points);
  if (!crossovers.empty()) {
    const HdbiCrossover& c = crossovers.front();
    return who + "HDBI passes 0.5 between " + (c.along_batch ? "batch " : "length ") +
           size_text(c.from) + " and " + size_text(c.to) + ", at about " +
           format_value(Value(c.interpolated), Unit::kRatio) + ": " +
           (c.to_device ? "beyond it the device has more to do than the host is charged."
                        : "beyond it the host is charged more than the device has to do.");
  }
  double low = 1;
  double high = 0;
  for (const TaxPoint& point : platform.points) {
    const double hdbi = hdbi_of(point);
    if (!std::isfinite(hdbi)) continue;
    low = std::min(low, hdbi);
    high = std::max(high, hdbi);
  }
  if (low > high) return who + "no point of the sweep has kernels.";
  const auto ratio = [](double v) { return fmt::format("{:.2f}", v); };
  if (platform.points.size() == 1) {
    return who + "HDBI is " + ratio(low) + " at its only point.";
  }
  return who + "HDBI stays on one side of 0.5, from " + ratio(low) + " to " + ratio(high) +
         ": the host is charged " + (high < 0.5 ? "more" : "less") +
         " than the device has to do throughout.";
}

std::string flat_text(const TaxPlatform& platform) {
  if (platform.points.size() < 2) return "";
  const auto [least, most] = std::minmax_element(
      platform.points.begin(), platform.points.end(),
      [](const TaxPoint& a, const TaxPoint& b) { return a.t_orch_ns < b.t_orch_ns; });
  const auto [small, large] = std::minmax_element(
      platform.points.begin(), platform.points.end(),
      [](const TaxPoint& a, const TaxPoint& b) { return a.t_device_ns < b.t_device_ns; });
  if (least->t_orch_ns <= 0 || small->t_device_ns <= 0) return "";
  const auto times = [](double v) { return format_value(Value(v), Unit::kRatio) + " times"; };
  return "Over the sweep T_Orch varies " + times(most->t_orch_ns / least->t_orch_ns) + " (" +
         format_ns(std::llround(least->t_orch_ns)) + " to " +
         format_ns(std::llround(most->t_orch_ns)) + "), T_DeviceActive " +
         times(large->t_device_ns / small->t_device_ns) + " (" +
         format_ns(std::llround(small->t_device_ns)) + " to " +
         format_ns(std::llround(large->t_device_ns)) + ").";
}

std::string change_text(const TaxChange& c, const std::vector<TaxPlatform>& platforms) {
  const auto signed_share = [](double v) {
    return (v >= 0 ? "+" : "-") + format_share(std::abs(v));
  };
  return "From " + platforms[0].name + " to " + platforms[1].name + " at " +
         point_text(c.batch, c.seq_len) + ": T_Orch " + signed_share(c.t_orch) + ", device " +
         signed_share(c.t_device) + ", wall time " + signed_share(c.t_e2e) + ".";
}

}  // namespace

Value size_value(double size) {
  const double whole = std::round(size);
  return whole == size ? Value(static_cast<int64_t>(whole)) : Value(size);
}

std::string size_text(double size) { return format_value(size_value(size), Unit::kNone); }

Section tax_sweep_section(const std::vector<TaxPlatform>& platforms) {
  Section section{.key = "tax_sweep", .title = "Tax over a sweep"};
  for (Block& chart : tax_sweep_charts(platforms)) section.blocks.push_back(std::move(chart));
  section.blocks.push_back(points_table(platforms));
  section.blocks.push_back(crossovers_table(platforms));
  section.blocks.push_back(changes_table(platforms));
  return section;
}

std::vector<std::string> tax_sweep_words(const std::vector<TaxPlatform>& platforms) {
  std::vector<std::string> words;
  for (const TaxPlatform& platform : platforms) {
    words.push_back(crossover_text(platform, platforms.size() > 1));
  }
  if (platforms.size() == 1) {
    std::string flat = flat_text(platforms[0]);
    if (!flat.empty()) words.push_back(std::move(flat));
    return words;
  }
  const auto changes = tax_changes(platforms[0].points, platforms[1].points);
  if (changes.empty()) {
    words.push_back("The two have no configuration in common, so nothing can be compared.");
  } else {
    words.push_back(change_text(changes.front(), platforms));
  }
  return words;
}

}  // namespace assay
