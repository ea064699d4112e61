// A sweep of decompositions (TaxBreak, Figures 7 and 8), and comparison of two platforms (Figures
// 10 and 11).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/overhead/charts.h"
#include "report/overhead/results.h"
#include "report/overhead/section.h"

namespace assay {
namespace {

std::string point_text(double batch, double seq_len) {
  return "batch " + size_text(batch) + (seq_len > 0 ? ", length " + size_text(seq_len) : "");
}

Value seq_value(double seq_len) { return seq_len > 0 ? size_value(seq_len) : Value(); }

Value charge(const HostOverheadPoint& point, double ns) {
  return point.charged() ? whole_ns(ns) : Value();
}

bool any_seq_len(const std::vector<HostOverheadPlatform>& platforms) {
  for (const HostOverheadPlatform& platform : platforms) {
    for (const HostOverheadPoint& point : platform.points) {
      if (point.seq_len > 0) return true;
    }
  }
  return false;
}

// A point or a crossover of one platform.
template <typename T>
struct OfPlatform {
  std::string platform;
  T is;
};

Table points_table(const std::vector<HostOverheadPlatform>& platforms) {
  using Point = OfPlatform<HostOverheadPoint>;
  std::vector<Point> points;
  for (const HostOverheadPlatform& platform : platforms) {
    for (const HostOverheadPoint& p : platform.points) points.push_back({platform.name, p});
  }
  const auto charged = [](double HostOverheadPoint::*ns) {
    return [ns](const Point& p) { return charge(p.is, p.is.*ns); };
  };
  TableOf table(points,
                {.key = "points", .title = "Host and device over the sweep", .terminal_limit = 0});
  table.add(keys::platform, &Point::platform, shown_if(platforms.size() > 1))
      .add(keys::batch, [](const Point& p) { return size_value(p.is.batch); })
      .add(
          keys::seq_len, [](const Point& p) { return seq_value(p.is.seq_len); },
          shown_if(any_seq_len(platforms)))
      .add(keys::n, [](const Point& p) { return std::llround(p.is.n); })
      .add(keys::t_py_ns, charged(&HostOverheadPoint::t_py_ns))
      .add(keys::ft_ns, charged(&HostOverheadPoint::ft_ns))
      .add(keys::ct_ns, charged(&HostOverheadPoint::ct_ns))
      .add(keys::kt_ns, charged(&HostOverheadPoint::kt_ns))
      .add(keys::t_orch_ns, charged(&HostOverheadPoint::t_orch_ns))
      .add(keys::t_device_ns, [](const Point& p) { return whole_ns(p.is.t_device_ns); })
      .add(keys::hdbi, [](const Point& p) { return hdbi_of(p.is); })
      .add(keys::t_e2e_ns, [](const Point& p) { return whole_ns(p.is.t_e2e_ns); })
      .add(
          keys::repeats, [](const Point& p) { return p.is.repeats; }, Show::kDataOnly);
  return table;
}

Table crossovers_table(const std::vector<HostOverheadPlatform>& platforms) {
  using Crossing = OfPlatform<HdbiCrossover>;
  std::vector<Crossing> all;
  for (const HostOverheadPlatform& platform : platforms) {
    for (const HdbiCrossover& c : hdbi_crossovers(platform.points)) {
      all.push_back({platform.name, c});
    }
  }
  TableOf table(all, {.key = "crossovers", .title = "Where HDBI passes 0.5", .terminal_limit = 0});
  table.add(keys::platform, &Crossing::platform)
      .add(keys::along, [](const Crossing& c) { return c.is.along_batch ? "batch" : "seq_len"; })
      .add(keys::fixed, [](const Crossing& c) { return seq_value(c.is.fixed); })
      .add(keys::from, [](const Crossing& c) { return size_value(c.is.from); })
      .add(keys::to, [](const Crossing& c) { return size_value(c.is.to); })
      .add(keys::interpolated, [](const Crossing& c) { return c.is.interpolated; })
      .add(keys::to_device, [](const Crossing& c) { return c.is.to_device; });
  if (all.empty()) table.show = Show::kDataOnly;
  return table;
}

Table changes_table(const std::vector<HostOverheadPlatform>& platforms) {
  const bool two = platforms.size() > 1;
  std::vector<HostOverheadChange> changes;
  if (two) changes = overhead_changes(platforms[0].points, platforms[1].points);
  TableOf table(changes, {.key = "changes",
                          .title = two ? "From " + platforms[0].name + " to " + platforms[1].name
                                       : std::string(),
                          .terminal_limit = 0,
                          .show = shown_if(two)});
  table.add(keys::batch, [](const HostOverheadChange& c) { return size_value(c.batch); })
      .add(
          keys::seq_len, [](const HostOverheadChange& c) { return seq_value(c.seq_len); },
          shown_if(any_seq_len(platforms)))
      .add(keys::t_orch_change, &HostOverheadChange::t_orch)
      .add(keys::t_device_change, &HostOverheadChange::t_device)
      .add(keys::t_e2e_change, &HostOverheadChange::t_e2e)
      .add(keys::hdbi_from, &HostOverheadChange::hdbi_a)
      .add(keys::hdbi_to, &HostOverheadChange::hdbi_b)
      .add(keys::t_e2e_change_from_orch, &HostOverheadChange::t_e2e_from_orch);
  return table;
}

std::string line_text(const HdbiCrossover& c) {
  std::string text =
      (c.along_batch ? "batch " : "length ") + size_text(c.from) + " and " + size_text(c.to);
  if (c.fixed > 0) text += (c.along_batch ? " at length " : " at batch ") + size_text(c.fixed);
  return text + ", at about " + format_value(Value(c.interpolated), Unit::kRatio);
}

std::string crossover_text(const HostOverheadPlatform& platform, bool named) {
  const std::string who = named ? platform.name + ": " : "";
  const auto ratio = [](double v) { return fmt::format("{:.2f}", v); };
  const auto crossovers = hdbi_crossovers(platform.points);
  if (crossovers.size() > 1) {
    return who + "HDBI passes 0.5 in " + std::to_string(crossovers.size()) +
           " places, the first between " + line_text(crossovers.front()) + ".";
  }
  if (!crossovers.empty()) {
    const HdbiCrossover& c = crossovers.front();
    return who + "HDBI passes 0.5 between " + line_text(c) + ": " +
           (c.to_device ? "beyond it the device has more to do than the host is charged."
                        : "beyond it the host is charged more than the device has to do.");
  }
  const HdbiSides sides = hdbi_sides(platform.points);
  if (!sides.host && !sides.device) return who + "no point of the sweep has kernels.";
  if (sides.host && sides.device) {
    const auto place = [&](const HostOverheadPoint& point) {
      return point_text(point.batch, point.seq_len) + " (" + ratio(hdbi_of(point)) + ")";
    };
    return who + "HDBI passes 0.5 somewhere between " + place(*sides.host) + " and " +
           place(*sides.device) + ": they share no size, so the size that turns it is not known.";
  }
  if (platform.points.size() == 1) {
    return who + "HDBI is " + ratio(sides.low) + " at its only point.";
  }
  return who + "HDBI stays on one side of 0.5, from " + ratio(sides.low) + " to " +
         ratio(sides.high) + ": the host is charged " + (sides.host ? "more" : "less") +
         " than the device has to do throughout.";
}

std::string flat_text(const HostOverheadPlatform& platform) {
  if (platform.points.size() < 2) return "";
  const auto [least, most] =
      std::minmax_element(platform.points.begin(), platform.points.end(),
                          [](const HostOverheadPoint& a, const HostOverheadPoint& b) {
                            return a.t_orch_ns < b.t_orch_ns;
                          });
  const auto [small, large] =
      std::minmax_element(platform.points.begin(), platform.points.end(),
                          [](const HostOverheadPoint& a, const HostOverheadPoint& b) {
                            return a.t_device_ns < b.t_device_ns;
                          });
  if (least->t_orch_ns <= 0 || small->t_device_ns <= 0) return "";
  const auto times = [](double v) { return format_value(Value(v), Unit::kRatio) + " times"; };
  return "Over the sweep T_Orch varies " + times(most->t_orch_ns / least->t_orch_ns) + " (" +
         format_ns(std::llround(least->t_orch_ns)) + " to " +
         format_ns(std::llround(most->t_orch_ns)) + "), T_DeviceActive " +
         times(large->t_device_ns / small->t_device_ns) + " (" +
         format_ns(std::llround(small->t_device_ns)) + " to " +
         format_ns(std::llround(large->t_device_ns)) + ").";
}

std::string change_text(const HostOverheadChange& c,
                        const std::vector<HostOverheadPlatform>& platforms) {
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

Section overhead_sweep_section(const std::vector<HostOverheadPlatform>& platforms) {
  Section section{.key = "host_overhead_sweep", .title = "Overhead over a sweep"};
  for (Block& chart : overhead_sweep_charts(platforms)) section.blocks.push_back(std::move(chart));
  section.blocks.push_back(points_table(platforms));
  section.blocks.push_back(crossovers_table(platforms));
  section.blocks.push_back(changes_table(platforms));
  return section;
}

std::vector<std::string> overhead_sweep_words(const std::vector<HostOverheadPlatform>& platforms) {
  std::vector<std::string> words;
  for (const HostOverheadPlatform& platform : platforms) {
    words.push_back(crossover_text(platform, platforms.size() > 1));
  }
  if (platforms.size() == 1) {
    std::string flat = flat_text(platforms[0]);
    if (!flat.empty()) words.push_back(std::move(flat));
    return words;
  }
  const auto changes = overhead_changes(platforms[0].points, platforms[1].points);
  if (changes.empty()) {
    words.push_back("The two have no configuration in common, so nothing can be compared.");
  } else {
    words.push_back(change_text(changes.front(), platforms));
  }
  return words;
}

}  // namespace assay
