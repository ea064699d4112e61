#include "report/power/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "text/units.h"

namespace assay {
namespace {

std::string percent_of(double share) { return fmt::format("{:.1f} %", 100 * std::fabs(share)); }

// "12.1 % (11.2 to 13.0)": absolute size of a change, with its interval.
std::string size_words(const SettingChange& change) {
  const double a = std::fabs(change.share.low);
  const double b = std::fabs(change.share.high);
  return fmt::format("{} ({:.1f} to {:.1f})", percent_of(change.share.value), 100 * std::min(a, b),
                     100 * std::max(a, b));
}

std::string time_words(const SettingResult& setting) {
  const SettingChange& change = setting.time_change;
  if (!change.told) {
    return fmt::format("its time does not differ significantly ({:+.1f} to {:+.1f} %)",
                       100 * change.share.low, 100 * change.share.high);
  }
  return fmt::format("it takes {} {}", size_words(change),
                     change.share.value > 0 ? "longer" : "less time");
}

std::string setting_words(const SettingResult& setting, const std::string& base) {
  const SettingChange& change = setting.energy_change;
  if (!change.told) {
    return fmt::format(
        "{}: its energy does not differ significantly from that of {} ({:+.1f} to {:+.1f} %); {}.",
        setting.name, base, 100 * change.share.low, 100 * change.share.high, time_words(setting));
  }
  return fmt::format("{} takes {} {} energy per iteration than {}; {}.", setting.name,
                     size_words(change), change.share.value < 0 ? "less" : "more", base,
                     time_words(setting));
}

std::string edp_words(const SettingsReport& report) {
  if (report.least_edp == SIZE_MAX) {
    return fmt::format("No setting's product of energy and time is significantly below that of {}.",
                       report.settings.front().name);
  }
  const SettingResult& best = report.settings[report.least_edp];
  return fmt::format("The product of energy and time is least at {}, {} below that of {}.",
                     best.name, size_words(best.edp_change), report.settings.front().name);
}

Table settings_table(const SettingsReport& report) {
  Table table{.key = "settings",
              .title = "Per iteration",
              .columns = {{.key = "setting", .title = "setting", .unit = Unit::kText},
                          {.key = "iterations", .title = "iterations", .unit = Unit::kCount}},
              .terminal_limit = 0};
  const auto add = [&table](const char* key, const char* title, Unit unit,
                            Show ends = Show::kEverywhere) {
    const std::string name = key;
    const size_t cut = name.rfind('_');
    const std::string stem = name.substr(0, cut);
    const std::string of = name.substr(cut);
    table.columns.push_back({.key = name, .title = title, .unit = unit});
    table.columns.push_back(
        {.key = stem + "_low" + of, .title = "from", .unit = unit, .show = ends});
    table.columns.push_back(
        {.key = stem + "_high" + of, .title = "to", .unit = unit, .show = ends});
  };
  add("time_ns", "time", Unit::kNanoseconds);
  add("power_w", "power", Unit::kWatts, Show::kDataOnly);
  add("energy_j", "energy", Unit::kJoules);
  table.columns.push_back({.key = "edp_js", .title = "energy x time, J s"});
  table.columns.push_back({.key = "edp_low_js", .title = "", .show = Show::kDataOnly});
  table.columns.push_back({.key = "edp_high_js", .title = "", .show = Show::kDataOnly});
  for (const SettingResult& one : report.settings) {
    const auto ns = [](double s) { return static_cast<int64_t>(std::llround(s * 1e9)); };
    table.rows.push_back({one.name, one.iterations, ns(one.time_s.value), ns(one.time_s.low),
                          ns(one.time_s.high), one.power_w.value, one.power_w.low, one.power_w.high,
                          one.energy_j.value, one.energy_j.low, one.energy_j.high, one.edp_js.value,
                          one.edp_js.low, one.edp_js.high});
  }
  return table;
}

// "-12.1 ±0.9 %", "-12.1 (-14.2 to -11.2) %" for an asymmetric interval, or a note that the change
// is not significant.
std::string change_words(const SettingChange& change) {
  const double value = 100 * change.share.value;
  const double low = 100 * change.share.low;
  const double high = 100 * change.share.high;
  if (!change.told) return fmt::format("not significant ({:+.1f} to {:+.1f})", low, high);
  if (std::max(high - value, value - low) < 1.25 * std::min(high - value, value - low)) {
    return fmt::format("{:+.1f} ±{:.1f} %", value, (high - low) / 2);
  }
  return fmt::format("{:+.1f} ({:+.1f} to {:+.1f}) %", value, low, high);
}

struct ChangeOf {
  const char* key;
  const char* title;
  SettingChange SettingResult::* change;
};
constexpr ChangeOf kChanges[] = {{"energy", "energy", &SettingResult::energy_change},
                                 {"time", "time", &SettingResult::time_change},
                                 {"edp", "energy x time", &SettingResult::edp_change}};

Table changes_table(const SettingsReport& report) {
  Table table{.key = "changes",
              .title = fmt::format("Against {}, per iteration", report.settings.front().name),
              .columns = {{.key = "setting", .title = "setting", .unit = Unit::kText}},
              .terminal_limit = 0};
  for (const ChangeOf& one : kChanges) {
    const std::string key = one.key;
    table.columns.push_back({.key = key,
                             .title = one.title,
                             .unit = Unit::kText,
                             .align = Align::kRight,
                             .show = Show::kReadersOnly});
    for (const char* end : {"_change", "_change_low", "_change_high"}) {
      table.columns.push_back(
          {.key = key + end, .title = "", .unit = Unit::kShare, .show = Show::kDataOnly});
    }
    table.columns.push_back({.key = key + "_told", .title = "", .show = Show::kDataOnly});
  }
  for (size_t i = 1; i < report.settings.size(); ++i) {
    Row row{report.settings[i].name};
    for (const ChangeOf& one : kChanges) {
      const SettingChange& change = report.settings[i].*one.change;
      row.insert(row.end(), {change_words(change), change.share.value, change.share.low,
                             change.share.high, change.told});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Energy against time; the lower left is best.
Chart trade_chart(const SettingsReport& report) {
  Series points{.name = "settings", .mark = Mark::kPoints};
  for (const SettingResult& one : report.settings) {
    points.x.push_back(one.time_s.value * 1e9);
    points.y.push_back(one.energy_j.value);
    points.low.push_back(one.energy_j.low);
    points.high.push_back(one.energy_j.high);
    points.labels.push_back(one.name);
  }
  return {.key = "energy_and_time",
          .title = "Energy and time of an iteration by setting",
          .caption = "Further left is faster, further down takes less. Whiskers: 95 %.",
          .x = {.title = "time per iteration", .unit = Unit::kNanoseconds},
          .y = {.title = "energy per iteration", .unit = Unit::kJoules},
          .series = {std::move(points)}};
}

Chart energy_chart(const SettingsReport& report) {
  Chart chart{.key = "energy_by_setting",
              .title = "Energy of an iteration by setting",
              .caption = "Whiskers: 95 %.",
              .x = {.title = "setting", .unit = Unit::kText},
              .y = {.title = "energy per iteration", .unit = Unit::kJoules}};
  Series bars{.name = "energy", .mark = Mark::kBars};
  for (const SettingResult& one : report.settings) {
    chart.categories.push_back(one.name);
    bars.y.push_back(one.energy_j.value);
    bars.low.push_back(one.energy_j.low);
    bars.high.push_back(one.energy_j.high);
  }
  chart.series = {std::move(bars)};
  return chart;
}

}  // namespace

std::vector<std::string> settings_words(const SettingsReport& report) {
  const std::string& base = report.settings.front().name;
  std::vector<std::string> words;
  if (report.least_energy == SIZE_MAX) {
    words.push_back(fmt::format("No setting takes significantly less energy than {}.", base));
  } else {
    words.push_back(setting_words(report.settings[report.least_energy], base));
  }
  words.push_back(edp_words(report));
  for (size_t i = 1; i < report.settings.size(); ++i) {
    if (i != report.least_energy) words.push_back(setting_words(report.settings[i], base));
  }
  return words;
}

Section settings_section(const SettingsReport& report) {
  return {.key = "sweep",
          .title = "Settings",
          .blocks = {settings_table(report), changes_table(report), trade_chart(report),
                     energy_chart(report)}};
}

}  // namespace assay
