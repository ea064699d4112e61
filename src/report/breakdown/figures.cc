#include "report/breakdown/figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/shift.h"
#include "base/stats.h"
#include "report/breakdown/figures_parts.h"
#include "report/breakdown/insights.h"
#include "text/units.h"

namespace assay {
namespace breakdown_figures {
namespace {

Table configs_table(const Configs& configs) {
  using Config = ConfigFigures;
  const auto unplaced = [](const Config& c) {
    return ratio(static_cast<double>(c.placement.unplaced.dur_ns),
                 static_cast<double>(c.placement.all.dur_ns));
  };
  TableOf table(configs, {.key = "configs",
                          .title = "Configurations and their throughput (Chopper, Figure 4, top)",
                          .terminal_limit = 0});
  table.add(keys::config, &Config::name)
      .add(keys::ranks, &Config::ranks, Show::kDataOnly)
      .add(keys::gpus, &Config::gpus)
      .add(keys::iterations, [](const Config& c) { return c.iterations.size(); })
      .add(
          keys::layers, [](const Config& c) { return c.placement.layers; }, Show::kDataOnly)
      .add(keys::unattributed_share, unplaced)
      .add(keys::span_ns, [](const Config& c) { return whole_ns(c.span_ns.median); })
      .add(keys::tokens, &Config::tokens)
      .add(keys::tokens_per_s, &Config::tokens_per_s)
      .add(keys::tokens_per_s_ratio,
           [&](const Config& c) { return ratio(c.tokens_per_s, configs.front().tokens_per_s); });
  return table;
}

// ---- what could not be made ----

struct Availability {
  const char* figure;
  const char* title;
  std::function<std::string(const ConfigFigures&)> lacks;  // the reason; empty = the figure exists
};

std::string lacks_iterations(const ConfigFigures& config) {
  return config.iterations.empty() ? "no iteration with a compute kernel in its traces" : "";
}

std::string lacks_collectives(const ConfigFigures& config) {
  if (std::string why = lacks_iterations(config); !why.empty()) return why;
  return config.comms.empty() ? "no collective in its traces" : "";
}

bool has_type(const ConfigFigures& config, OpType type) {
  return std::any_of(config.ops.begin(), config.ops.end(),
                     [type](const FigureOp& op) { return op.name.type == type; });
}

std::string lacks_curve(const ConfigFigures& config) {
  if (std::string why = lacks_collectives(config); !why.empty()) return why;
  return config.executions.empty() ? "no matrix product with a known layer" : "";
}

std::string lacks_attention(const ConfigFigures& config) {
  if (std::string why = lacks_collectives(config); !why.empty()) return why;
  return has_type(config, OpType::kAttention) ? "" : "no attention kernel in its traces";
}

std::string lacks_tokens(const ConfigFigures& config) {
  if (std::string why = lacks_iterations(config); !why.empty()) return why;
  return config.tokens ? ""
                       : "tokens per iteration are not known: record shapes, or say --tokens "
                         "CONFIG=N";
}

std::string lacks_cores(const ConfigFigures& config) {
  return config.cores.empty() ? "no log of processor utilisation" : "";
}

std::string lacks_moments(const ConfigFigures& config) {
  return config.moments.empty() ? "no log of GPU clocks or power" : "";
}

std::string lacks_waterfalls(const ConfigFigures& config) {
  if (!config.waterfalls.empty()) return "";
  return config.no_waterfalls.empty() ? "no counter runs" : config.no_waterfalls;
}

void add_availability(const Configs& configs, Section& section) {
  const std::vector<Availability> figures = {
      {"4, top", "throughput", lacks_tokens},
      {"4", "kernel time and launch overhead by phase and type", lacks_iterations},
      {"5", "operation duration", lacks_iterations},
      {"6", "communication kernels", lacks_collectives},
      {"7", "overlap and duration by layer", lacks_collectives},
      {"8", "overlap against duration", lacks_curve},
      {"9", "overlap of attention", lacks_attention},
      {"11", "preparation and call overhead", lacks_iterations},
      {"13", "active and needed cores", lacks_cores},
      {"14", "clocks and power", lacks_moments},
      {"15", "from peak to measured time", lacks_waterfalls},
  };
  struct Available {
    const Availability& figure;
    size_t made = 0;
    Value::List missing = {};
  };
  std::vector<Available> rows;
  Prose missing_words{.paragraphs = {}, .bullets = true, .show = Show::kReadersOnly};
  for (const Availability& figure : figures) {
    std::map<std::string, Value::List> missing;
    Available& row = rows.emplace_back(Available{figure});
    for (const ConfigFigures& config : configs) {
      const std::string why = figure.lacks(config);
      if (why.empty()) ++row.made;
      if (!why.empty()) missing[why].push_back(config.name);
    }
    for (const auto& [why, names] : missing) {
      const bool all = names.size() == configs.size();
      const std::string some = fmt::format("{}", fmt::join(names, ", "));
      row.missing.push_back(all ? why : some + ": " + why);
      missing_words.paragraphs.push_back(fmt::format("No Figure {} ({}){}: {}", figure.figure,
                                                     figure.title, all ? "" : " for " + some, why));
    }
  }
  TableOf table(rows, {.key = "available", .show = Show::kDataOnly});
  table.add(keys::figure, [](const Available& row) { return row.figure.figure; })
      .add(keys::shows, [](const Available& row) { return row.figure.title; })
      .add(keys::configs, &Available::made)
      .add(keys::missing,
           [](const Available& row) { return row.missing.empty() ? Value() : Value(row.missing); });
  section.blocks.push_back(std::move(table));
  if (!missing_words.paragraphs.empty()) section.blocks.push_back(std::move(missing_words));
}

// ---- words ----

std::string throughput_words(const Configs& configs) {
  const auto known = [](const ConfigFigures& c) { return std::isfinite(c.tokens_per_s); };
  const auto less = [&known](const ConfigFigures& a, const ConfigFigures& b) {
    return known(b) && (!known(a) || a.tokens_per_s < b.tokens_per_s);
  };
  const ConfigFigures& best = *std::max_element(configs.begin(), configs.end(), less);
  if (!known(best)) return "No configuration has a known number of tokens per iteration.";
  const ConfigFigures& first = configs.front();
  std::string words =
      fmt::format("{} has the highest throughput: {} tokens/s", best.name,
                  format_count(static_cast<int64_t>(std::llround(best.tokens_per_s))));
  if (&best != &first && known(first)) {
    words += fmt::format(", {:.2f} times that of {}", best.tokens_per_s / first.tokens_per_s,
                         first.name);
  }
  return words + ".";
}

struct Whole {
  double dur_ns = 0;
  double gemm_ns = 0;
};

Whole whole_of(const ConfigFigures& config) {
  Whole whole;
  for (const FigurePart& part : config.parts) {
    if (!part.op_type) whole.dur_ns += part.dur_ns;
    if (part.op_type == OpType::kGemm) whole.gemm_ns += part.dur_ns;
  }
  return whole;
}

FigureSeries& add_to(FigureSeries& sum, const FigureSeries& series) {
  sum.resize(std::max(sum.size(), series.size()), 0.0);
  for (size_t i = 0; i < series.size(); ++i) sum[i] += series[i];
  return sum;
}

// Components of an iteration by name, in ns.
std::map<std::string, FigureSeries> spent(const ConfigFigures& config) {
  std::map<std::string, FigureSeries> times;
  for (const FigurePart& part : config.parts) {
    if (part.op_type) {
      add_to(times[fmt::format("{} {} kernels", level_phase_name(part.phase),
                               op_type_name(*part.op_type))],
             part.dur_each);
      continue;
    }
    add_to(times["launch overhead"], part.launch_each);
    add_to(times["waits for collectives"], part.comm_wait_each);
  }
  return times;
}

// A configuration that lacks the component has zero in every iteration.
Shift part_shift(const std::map<std::string, FigureSeries>& a, size_t n_a,
                 const std::map<std::string, FigureSeries>& b, size_t n_b,
                 const std::string& name) {
  const auto of = [&name](const std::map<std::string, FigureSeries>& parts, size_t n) {
    const auto found = parts.find(name);
    return found == parts.end() ? FigureSeries(n, 0.0) : found->second;
  };
  return shift_of_rows(of(a, n_a), of(b, n_b));
}

std::string time_words(double ns) { return format_ns(std::llround(ns)); }
std::string signed_words(double ns) { return (ns > 0 ? "+" : "") + time_words(ns); }
std::string interval_words(const Shift& shift) {
  return fmt::format("{}, {} to {} at 95 %", signed_words(shift.change), signed_words(shift.low),
                     signed_words(shift.high));
}

// Components that explain the difference: same sign, significant, and at least a tenth of it.
std::string where_words(const ConfigFigures& first, const ConfigFigures& other, double change_ns) {
  constexpr double kOfChange = 0.1;
  constexpr size_t kNamed = 2;
  const std::map<std::string, FigureSeries> a = spent(first);
  const std::map<std::string, FigureSeries> b = spent(other);
  std::set<std::string> names;
  for (const auto& [name, series] : a) names.insert(name);
  for (const auto& [name, series] : b) names.insert(name);
  std::vector<std::pair<std::string, Shift>> parts;
  for (const std::string& name : names) {
    const Shift shift = part_shift(a, first.iterations.size(), b, other.iterations.size(), name);
    const bool same_way = (shift.change > 0) == (change_ns > 0);
    if (shift.real() && same_way && std::abs(shift.change) >= kOfChange * std::abs(change_ns))
      parts.emplace_back(name, shift);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& x, const auto& y) {
    return std::abs(x.second.change) > std::abs(y.second.change);
  });
  std::string where;
  for (size_t i = 0; i < std::min(parts.size(), kNamed); ++i) {
    where += fmt::format("{}{} ({})", i == 0 ? "; most in " : " and ", parts[i].first,
                         interval_words(parts[i].second));
  }
  return where;
}

std::string iterations_words(const ConfigFigures& first, const ConfigFigures& other) {
  const size_t n = first.iterations.size();
  const size_t m = other.iterations.size();
  return n == m ? fmt::format("{} iterations each", n) : fmt::format("{} and {} iterations", n, m);
}

// Which configuration has the longer iteration, by how much, and which components explain it, from
// iteration means over GPUs.
std::string slower_words(const ConfigFigures& first, const ConfigFigures& other) {
  const FigureSeries from = block_means(first.span_each);
  const FigureSeries to = block_means(other.span_each);
  if (from.empty() || to.empty()) return "";
  const Shift shift = shift_of_rows(first.span_each, other.span_each);
  // The displayed difference must equal the reported one.
  const double from_ns = shift.known ? shift.a : median(from);
  const double to_ns = shift.known ? shift.a + shift.change : median(to);
  if (!(from_ns > 0)) return "";
  const std::string times = fmt::format("{} against {}", time_words(to_ns), time_words(from_ns));
  if (!shift.known) {
    return fmt::format(
        "An iteration of {} spans {}, one of {} {}: too few iterations ({}) to separate noise from "
        "a difference.",
        other.name, time_words(to_ns), first.name, time_words(from_ns),
        iterations_words(first, other));
  }
  if (!shift.real()) {
    return fmt::format("Iterations of {} and {} do not differ significantly: {} ({}; {}).",
                       other.name, first.name, times, interval_words(shift),
                       iterations_words(first, other));
  }
  return fmt::format("An iteration of {} spans {} {} than one of {}: {} ({}; {}){}.", other.name,
                     format_share(std::abs(shift.change) / shift.a),
                     shift.change > 0 ? "more" : "less", first.name, times, interval_words(shift),
                     iterations_words(first, other), where_words(first, other, shift.change));
}

// "A % (name) to B % (name)", or a single number if all are equal.
std::string range_words(const Configs& configs,
                        const std::function<double(const ConfigFigures&)>& share) {
  std::vector<std::pair<double, std::string>> shares;
  for (const ConfigFigures& config : configs) {
    if (std::isfinite(share(config))) shares.emplace_back(share(config), config.name);
  }
  if (shares.empty()) return "";
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  if (shares.size() == 1 || format_share(low->first) == format_share(high->first))
    return format_share(low->first);
  return fmt::format("{} ({}) to {} ({})", format_share(low->first), low->second,
                     format_share(high->first), high->second);
}

std::string correlation_words(const Configs& configs) {
  const FigureOp* strongest = nullptr;
  const ConfigFigures* of = nullptr;
  for (const ConfigFigures& config : configs) {
    const double kernels_ns = whole_of(config).dur_ns;
    for (const FigureOp& op : config.ops) {
      const bool heavy = op.dur_ns.median > 0.02 * kernels_ns && op.executions >= 8;
      if (!heavy || !std::isfinite(op.correlation)) continue;
      if (strongest != nullptr && op.correlation <= strongest->correlation) continue;
      strongest = &op;
      of = &config;
    }
  }
  if (strongest == nullptr) return "";
  return fmt::format("Among the heavier operations, {} in {} correlates most with overlap: {:.2f}.",
                     name_of(strongest->name), of->name, strongest->correlation);
}

}  // namespace
}  // namespace breakdown_figures

std::vector<std::string> breakdown_figures_words(const std::vector<ConfigFigures>& configs,
                                                 const std::vector<Insight>& insights) {
  using namespace breakdown_figures;
  std::vector<std::string> words;
  if (configs.empty()) return words;
  words.push_back(throughput_words(configs));
  constexpr size_t kCompared = 4;
  for (size_t i = 1; i < std::min(configs.size(), kCompared); ++i) {
    std::string slower = slower_words(configs.front(), configs[i]);
    if (!slower.empty()) words.push_back(std::move(slower));
  }
  const std::string launch = range_words(configs, usual_launch_share);
  if (!launch.empty()) words.push_back("Launch overhead adds " + launch + " to the kernel time.");
  const std::string gemm = range_words(configs, [](const ConfigFigures& config) {
    const Whole whole = whole_of(config);
    return ratio(whole.gemm_ns, whole.dur_ns);
  });
  if (!gemm.empty()) words.push_back("Matrix products take " + gemm + " of the kernel time.");
  if (std::string strongest = correlation_words(configs); !strongest.empty())
    words.push_back(std::move(strongest));
  for (std::string& insight : insight_words(insights)) words.push_back(std::move(insight));
  return words;
}

Section breakdown_figures_section(const std::vector<ConfigFigures>& configs,
                                  const std::vector<Insight>& insights, const FiguresView& view) {
  using namespace breakdown_figures;
  Section section{.key = "figures", .title = "Configurations side by side"};
  section.blocks.push_back(configs_table(configs));
  add_availability(configs, section);
  section.blocks.push_back(insights_table(insights));
  if (Prose reasons = insight_reasons(insights); !reasons.paragraphs.empty())
    section.blocks.push_back(std::move(reasons));
  add_breakdown(configs, section);
  add_operations(configs, section);
  add_communication(configs, section);
  add_overlap(configs, view, section);
  add_curve(configs, view, section);
  add_launch(configs, section);
  add_cores(configs, section);
  add_telemetry(configs, section);
  add_waterfalls(configs, section);
  return section;
}

}  // namespace assay
