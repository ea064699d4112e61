#include "report/breakdown/roof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/stats.h"
#include "findings/utilisation.h"
#include "report/breakdown/results.h"
#include "report/flow/results.h"
#include "text/message.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr double kTeraPer = 1e12;
constexpr double kGigaPer = 1e9;
constexpr double kNanosPer = 1e9;
constexpr size_t kShapesShown = 6;
constexpr size_t kPointsShown = 400;  // in the chart
// FLOP per byte below which no known card is limited by arithmetic.
constexpr double kStreams = 10;
// Minimum share of the kernel time for which unknown work is reported.
constexpr double kMuchUnknown = 0.05;
// Clock resolution alone can make a call this much faster than its roofline time.
constexpr double kFasterThanRoof = 1.02;

Value text_value(std::string_view text) { return text.empty() ? Value() : Value(text); }

Value scaled(double value, double unit) { return finite_value(value / unit); }

std::string bound_words(const RoofSums& sums) {
  if (sums.roofed_ns == 0) return "";
  return sums.compute_bound() ? "compute" : "memory";
}

// The rate of the limiting resource, in the unit of data sheets.
std::string reached_words(const RoofSums& sums) {
  const bool dense = sums.flop > 0 && !(sums.intensity() < kStreams);
  const bool arithmetic = sums.roofed_ns > 0 ? sums.compute_bound() : dense;
  const double rate = arithmetic ? sums.flop_per_s() / kTeraPer : sums.bytes_per_s() / kGigaPer;
  return std::isfinite(rate) ? number_text(rate) + (arithmetic ? " TFLOP/s" : " GB/s") : "";
}

// Times and rates of `sums`.
template <typename R>
void add_roof_sums(TableOf<R>& table, bool roofed) {
  constexpr Show kData = Show::kDataOnly;
  const Show with_roof = shown_if(roofed);
  const auto of = [](auto RoofSums::*field) {
    return [field](const R& row) { return row.sums.*field; };
  };
  const auto roofed_value = [](int64_t RoofSums::*field) {
    return
        [field](const R& row) { return row.sums.roofed_ns > 0 ? Value(row.sums.*field) : Value(); };
  };
  table.add(keys::calls, of(&RoofSums::calls), kData)
      .add(keys::kernels, of(&RoofSums::kernels), kData)
      .add(keys::dur_ns, of(&RoofSums::dur_ns))
      .add(keys::flop, of(&RoofSums::flop), kData)
      .add(keys::moved_bytes, of(&RoofSums::bytes), kData)
      .add(
          keys::flop_per_s, [](const R& r) { return finite_value(r.sums.flop_per_s()); }, kData)
      .add(
          keys::bytes_per_s, [](const R& r) { return finite_value(r.sums.bytes_per_s()); }, kData)
      .add(
          keys::reached, [](const R& r) { return reached_words(r.sums); },
          Look(Show::kReadersOnly, false, Align::kRight))
      .add(
          keys::intensity, [](const R& r) { return finite_value(r.sums.intensity()); }, kData)
      .add(
          keys::roofline_share, [](const R& r) { return finite_value(r.sums.roof_share()); },
          with_roof)
      .add(
          keys::bound, [](const R& r) { return text_value(bound_words(r.sums)); }, kData)
      .add(keys::actual_clock_ns, of(&RoofSums::clocked_ns), kData)
      .add(
          keys::actual_clock_roofline_share,
          [](const R& r) { return finite_value(r.sums.clocked_roof_share()); }, kData)
      .add(keys::roofline_ns, roofed_value(&RoofSums::roof_ns), kData)
      .add(keys::above_ns, roofed_value(&RoofSums::above_ns), with_roof)
      .add(keys::below_roofline_ns, roofed_value(&RoofSums::beyond_ns), kData)
      .add(keys::underfilled_ns, roofed_value(&RoofSums::small_ns), kData)
      .add(keys::calls_below_roofline, of(&RoofSums::calls_beyond), kData)
      .add(keys::calls_cache_explained, of(&RoofSums::calls_cached), kData);
}

// Removes the namespace of PyTorch's own operators.
std::string short_name(const std::string& op) {
  constexpr std::string_view kAtenName = "aten::";
  return op.starts_with(kAtenName) ? op.substr(kAtenName.size()) : op;
}

Table ops_table(const JobRoof& roof, bool to_readers) {
  using Op = RoofOp;
  const bool roofed = roof.known.roofed_ns > 0;
  TableOf table(roof.ops,
                {.key = "ops",
                 .title = roofed ? "Operators by time above the roofline" : "Operators by time",
                 .terminal_limit = kShapesShown,
                 .show = to_readers ? Show::kEverywhere : Show::kDataOnly});
  table
      .add(
          keys::phase, [](const Op& op) { return level_phase_name(op.phase); }, Show::kDataOnly)
      .add(keys::op, &Op::op, Show::kDataOnly)
      .add(
          keys::op, [](const Op& op) { return short_name(op.op); }, elastic(Show::kReadersOnly))
      .add(
          keys::shape, [](const Op& op) { return text_value(op.shape); }, elastic())
      .add(
          keys::op_kind, [](const Op& op) { return work_kind_name(op.kind); }, Show::kDataOnly)
      .add(
          keys::math, [](const Op& op) { return text_value(element_type_name(op.math)); },
          Show::kDataOnly)
      .add(
          keys::device, [](const Op& op) { return text_value(op.device); }, Show::kDataOnly);
  add_roof_sums(table, roofed);
  return table;
}

// Sums over the layers of each phase.
std::vector<RoofPlace> phase_sums(const JobRoof& roof) {
  std::map<LevelPhase, RoofPlace> phases;
  for (const RoofPlace& place : roof.places) {
    RoofPlace& phase = phases[place.phase];
    phase.phase = place.phase;
    phase.sums.add(place.sums);
    phase.unknown_ns += place.unknown_ns;
  }
  std::vector<RoofPlace> found;
  for (auto& [key, phase] : phases) found.push_back(std::move(phase));
  return found;
}

Table phases_table(const JobRoof& roof, bool to_readers) {
  using Place = RoofPlace;
  const std::vector<RoofPlace> phases = phase_sums(roof);
  TableOf table(
      phases, {.key = "phases",
               .title = "By phase",
               .show = to_readers && phases.size() > 1 && roof.known.dur_ns > 0 ? Show::kEverywhere
                                                                                : Show::kDataOnly});
  table.add(keys::phase, [](const Place& p) { return level_phase_name(p.phase); })
      .add(keys::unknown_ns, &Place::unknown_ns);
  add_roof_sums(table, roof.known.roofed_ns > 0);
  return table;
}

// Layers by time above the roofline, largest first.
Table places_table(const JobRoof& roof, bool to_readers) {
  using Place = RoofPlace;
  std::vector<RoofPlace> places = roof.places;
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.sums.above_ns, a.sums.dur_ns) > std::pair(b.sums.above_ns, b.sums.dur_ns);
  });
  const bool layers = std::any_of(places.begin(), places.end(),
                                  [](const Place& one) { return one.layer != kNoLayer; });
  TableOf table(places,
                {.key = "places",
                 .title = "Layers by time above the roofline",
                 .terminal_limit = kShapesShown,
                 .show = to_readers && layers && roof.known.roofed_ns > 0 ? Show::kEverywhere
                                                                          : Show::kDataOnly});
  table.add(keys::phase, [](const Place& p) { return level_phase_name(p.phase); })
      .add(keys::layer,
           [](const Place& p) { return p.layer == kNoLayer ? Value() : Value(p.layer); })
      .add(keys::unknown_ns, &Place::unknown_ns);
  add_roof_sums(table, roof.known.roofed_ns > 0);
  return table;
}

Table unknown_table(const JobRoof& roof, bool to_readers) {
  using One = RoofUnknown;
  TableOf table(roof.unknown, {.key = "unknown",
                               .title = "Kernel time without known work",
                               .terminal_limit = 4,
                               .show = to_readers && !roof.unknown.empty() ? Show::kEverywhere
                                                                           : Show::kDataOnly});
  table.add(keys::name, &One::name, elastic())
      .add(keys::reason, [](const One& one) { return no_work_words(one.why); })
      .add(keys::kernels, &One::kernels)
      .add(keys::dur_ns, &One::dur_ns)
      .add(keys::share,
           [&](const One& one) { return finite_value(share(one.dur_ns, roof.kernel_ns)); });
  return table;
}

Value bound_share(const RoofBounds& one, int64_t roof_ns) {
  return one.roofed_ns > 0 ? finite_value(share(roof_ns, one.roofed_ns)) : Value();
}

double most_share(const RoofBounds& one) { return share(one.most_roof_ns, one.roofed_ns); }

Table bounds_table(const JobRoof& roof, bool to_readers) {
  using One = RoofBounds;
  TableOf table(roof.bounds,
                {.key = "bounds",
                 .title = "Kernel time with work known within bounds",
                 .terminal_limit = 4,
                 .show = to_readers && !roof.bounds.empty() ? Show::kEverywhere : Show::kDataOnly});
  table.add(keys::op, &One::op, elastic())
      .add(
          keys::shape, [](const One& one) { return text_value(one.shape); }, elastic())
      .add(
          keys::device, [](const One& one) { return text_value(one.device); }, Show::kDataOnly)
      .add(keys::calls, &One::calls)
      .add(keys::kernels, &One::kernels, Show::kDataOnly)
      .add(keys::dur_ns, &One::dur_ns)
      .add(
          keys::roofline_min_ns,
          [](const One& one) { return one.roofed_ns > 0 ? Value(one.least_roof_ns) : Value(); },
          Show::kDataOnly)
      .add(
          keys::roofline_max_ns,
          [](const One& one) { return one.roofed_ns > 0 ? Value(one.most_roof_ns) : Value(); },
          Show::kDataOnly)
      .add(keys::roofline_min_share,
           [](const One& one) { return bound_share(one, one.least_roof_ns); })
      .add(keys::roofline_max_share,
           [](const One& one) { return bound_share(one, one.most_roof_ns); })
      .add(keys::same_kernel_ns, &One::same_kernel_ns, Show::kDataOnly)
      .add(keys::limited_ns, &One::limited_ns, Show::kDataOnly)
      .add(keys::calls_above, &One::calls_beyond, Show::kDataOnly)
      .add(keys::calls_unexplained, &One::calls_unexplained, Show::kDataOnly);
  return table;
}

double algorithm_bandwidth(const RoofComm& comm) {
  if (comm.dur_ns <= 0) return std::nan("");
  return comm.message_bytes * static_cast<double>(comm.collectives) * kNanosPer /
         static_cast<double>(comm.dur_ns);
}

Value bus_bandwidth(const RoofComm& comm) {
  if (comm.factor <= 0) return {};
  return finite_value(algorithm_bandwidth(comm) * comm.factor);
}

Value link_share(const RoofComm& comm) {
  const auto bus = bus_bandwidth(comm).number();
  if (!bus || comm.link_bytes_per_s <= 0) return {};
  return finite_value(*bus / comm.link_bytes_per_s);
}

Table comm_table(const JobRoof& roof, bool to_readers) {
  using Comm = RoofComm;
  const bool any_network = std::any_of(roof.comm.begin(), roof.comm.end(),
                                       [](const Comm& comm) { return comm.network; });
  TableOf table(
      roof.comm,
      {.key = "collectives",
       .title = std::string(roof.ranks < 2 ? "Collectives (includes waiting for other ranks"
                                           : "Collectives (of each the rank that waits least") +
                (any_network ? "; network: a card for each GPU is assumed)" : ")"),
       .terminal_limit = 4,
       .show = to_readers && !roof.comm.empty() ? Show::kEverywhere : Show::kDataOnly});
  table.add(keys::collective, &Comm::kind)
      .add(keys::ranks, &Comm::group_size)
      .add(keys::dtype, &Comm::dtype, Show::kDataOnly)
      .add(keys::message_bytes, &Comm::message_bytes)
      .add(keys::collectives, &Comm::collectives)
      .add(keys::dur_ns, &Comm::dur_ns)
      .add(
          keys::algorithm_bytes_per_s,
          [](const Comm& comm) { return finite_value(algorithm_bandwidth(comm)); }, Show::kDataOnly)
      .add(keys::bus_bytes_per_s, bus_bandwidth, Show::kDataOnly)
      .add(
          keys::algorithm_gb_per_s,
          [](const Comm& comm) { return scaled(algorithm_bandwidth(comm), kGigaPer); },
          Show::kReadersOnly)
      .add(
          keys::bus_gb_per_s,
          [](const Comm& comm) {
            const auto bus = bus_bandwidth(comm).number();
            return bus ? scaled(*bus, kGigaPer) : Value();
          },
          Show::kReadersOnly)
      .add(keys::link_share, link_share)
      .add(
          keys::link,
          [](const Comm& comm) {
            if (comm.link_bytes_per_s <= 0) return Value();
            return Value(comm.network ? "network" : "peers");
          },
          shown_if(any_network));
  return table;
}

Facts totals(const JobRoof& roof) {
  Facts facts;
  const RoofSums& known = roof.known;
  const bool roofed = known.roofed_ns > 0;
  facts.items = {
      data_fact(keys::kernel_ns, roof.kernel_ns),
      data_fact(keys::known_ns, known.dur_ns),
      data_fact(keys::known_share, finite_value(share(known.dur_ns, roof.kernel_ns))),
      data_fact(keys::unknown_ns, roof.unknown_total_ns()),
      data_fact(keys::known_replayed_ns, roof.replayed_ns),
      data_fact(keys::with_roofline_ns, known.roofed_ns),
      data_fact(keys::roofline_ns, roofed ? Value(known.roof_ns) : Value()),
      data_fact(keys::above_ns, roofed ? Value(known.above_ns) : Value()),
      data_fact(keys::below_roofline_ns, roofed ? Value(known.beyond_ns) : Value()),
      data_fact(keys::underfilled_ns, roofed ? Value(known.small_ns) : Value()),
      data_fact(keys::roofline_share, finite_value(known.roof_share())),
      data_fact(keys::actual_clock_ns, known.clocked_ns),
      data_fact(keys::actual_clock_roofline_ns,
                known.clocked_ns > 0 ? Value(known.clocked_roof_ns) : Value()),
      data_fact(keys::actual_clock_roofline_share, finite_value(known.clocked_roof_share())),
      data_fact(keys::calls_below_roofline, known.calls_beyond),
      data_fact(keys::calls_cache_explained, known.calls_cached),
      data_fact(keys::calls_fit_in_cache, known.calls_fitting),
      data_fact(keys::fits_in_cache_ns, known.fitting_ns),
      data_fact(keys::cache_roofline_ns, known.cache_roof_ns),
      data_fact(keys::calls_beyond_cache, known.calls_beyond_cache),
      data_fact(keys::nested_calls, roof.nested_calls),
      data_fact(keys::flop, known.flop),
      data_fact(keys::moved_bytes, known.bytes),
      data_fact(keys::collectives_ns, roof.comm_ns),
      data_fact(keys::collectives_known_ns, roof.comm_told_ns),
      data_fact(keys::copies_ns, roof.copy_ns)};
  return facts;
}

std::vector<Item> use_items(const Utilisation& use) {
  return {data_fact(keys::mfu, finite_value(use.mfu)),
          data_fact(keys::mfu_low, finite_value(use.mfu_low)),
          data_fact(keys::mfu_high, finite_value(use.mfu_high)),
          data_fact(keys::hfu, finite_value(use.hfu)),
          data_fact(keys::mfu_palm, finite_value(use.mfu_palm)),
          data_fact(keys::mfu_by_type, finite_value(use.mfu_by_type)),
          data_fact(keys::mbu, finite_value(use.mbu)),
          data_fact(keys::peak_flop_per_s, finite_value(use.peak_flop_per_s)),
          data_fact(keys::peak_type, text_or_null(use.peak_type)),
          data_fact(keys::peak_source, text_or_null(use.peak_source))};
}

Facts use_facts(const JobRoof& roof) {
  Facts facts{.key = "utilisation", .items = use_items(roof.utilisation())};
  facts.items.push_back(data_fact(keys::wall_ns, roof.wall_ns));
  facts.items.push_back(data_fact(keys::product_flop, roof.known.products.flop));
  facts.items.push_back(data_fact(keys::model_flop, roof.known.products.model_flop));
  facts.items.push_back(data_fact(keys::unknown_product_ns, roof.unknown_product_ns));
  return facts;
}

// One GPU in one iteration, with its utilization.
struct UseRow {
  const RoofUse& of;
  Utilisation use;
};

std::vector<UseRow> uses_of(const JobRoof& roof) {
  std::vector<UseRow> rows;
  const bool known = std::any_of(roof.devices.begin(), roof.devices.end(),
                                 [](const DeviceRoof& one) { return one.exists(); });
  for (const RoofUse& of : roof.uses) {
    if (known) rows.push_back({of, roof.utilisation_of(of)});
  }
  return rows;
}

Table uses_table(const std::vector<UseRow>& rows) {
  TableOf table(rows, {.key = "iterations", .show = Show::kDataOnly});
  const auto use = [](double Utilisation::*field) {
    return [field](const UseRow& row) { return finite_value(row.use.*field); };
  };
  table.add(keys::iter, [](const UseRow& row) { return row.of.iter; })
      .add(keys::gpu, [](const UseRow& row) { return row.of.gpu; })
      .add(keys::span_ns, [](const UseRow& row) { return row.of.span_ns; })
      .add(keys::mfu, use(&Utilisation::mfu))
      .add(keys::mfu_low, use(&Utilisation::mfu_low))
      .add(keys::mfu_high, use(&Utilisation::mfu_high))
      .add(keys::hfu, use(&Utilisation::hfu))
      .add(keys::mfu_palm, use(&Utilisation::mfu_palm))
      .add(keys::mfu_by_type, use(&Utilisation::mfu_by_type))
      .add(keys::mbu, use(&Utilisation::mbu))
      .add(keys::product_flop, [](const UseRow& row) { return row.of.products.flop; })
      .add(keys::model_flop, [](const UseRow& row) { return row.of.products.model_flop; })
      .add(keys::unknown_product_ns, [](const UseRow& row) { return row.of.unknown_product_ns; });
  return table;
}

// FLOP of products by phase.
Table use_phases_table(const std::vector<RoofPlace>& phases) {
  using Place = RoofPlace;
  TableOf table(phases, {.key = "product_phases", .show = Show::kDataOnly});
  table.add(keys::phase, [](const Place& p) { return level_phase_name(p.phase); })
      .add(keys::product_flop, [](const Place& p) { return p.sums.products.flop; })
      .add(keys::model_flop, [](const Place& p) { return p.sums.products.model_flop; });
  return table;
}

struct PeakRow {
  std::string device;
  std::string attribute;
  double value = 0;
};

Table peaks_table(const JobRoof& roof) {
  std::vector<PeakRow> rows;
  for (const DeviceRoof& device : roof.devices) {
    if (!device.exists()) continue;
    rows.push_back({device.device, "bytes_per_s", device.memory_bytes_per_s});
    if (device.cache_bytes > 0) rows.push_back({device.device, "cache_bytes", device.cache_bytes});
    if (device.cache_bytes_per_s > 0)
      rows.push_back({device.device, "cache_bytes_per_s", device.cache_bytes_per_s});
    if (device.nic_bytes_per_s > 0)
      rows.push_back({device.device, "nic_bytes_per_s", device.nic_bytes_per_s});
    if (device.link_bytes_per_s > 0)
      rows.push_back({device.device, "link_bytes_per_s", device.link_bytes_per_s});
    for (const auto& [name, value] : device.flop_per_s)
      rows.push_back({device.device, name, value});
  }
  TableOf table(rows, {.key = "peaks", .show = Show::kDataOnly});
  table.add(keys::device, &PeakRow::device)
      .add(keys::quantity, &PeakRow::attribute)
      .add(keys::value, &PeakRow::value);
  return table;
}

// ---- the roofline ----

// Peak rates of the types that occur among the points.
std::map<std::string, double> peaks_used(const JobRoof& roof, const DeviceRoof& device) {
  std::map<std::string, double> peaks;
  for (const RoofOp& op : roof.ops) {
    if (op.device != device.device || op.sums.flop <= 0) continue;
    OpWork work{.kind = op.kind, .matrix = op.matrix, .math = op.math, .flop = 1};
    const double peak = peak_flop_per_s(device, work);
    if (!std::isfinite(peak)) continue;
    peaks[op.matrix ? std::string(element_type_name(op.math)) + " matrix units" : "vector units"] =
        peak;
  }
  return peaks;
}

Series roof_line(const std::string& name, double peak, double bandwidth, double from, double to) {
  Series line{.name = "roofline, " + name, .mark = Mark::kLine};
  const double ridge = peak / bandwidth;
  for (const double x : {from, std::clamp(ridge, from, to), to}) {
    line.x.push_back(x);
    line.y.push_back(std::min(peak, x * bandwidth));
  }
  return line;
}

Chart roofline_chart(const JobRoof& roof, const DeviceRoof& device, size_t nth) {
  Chart chart{.key = "roofline" + (nth == 0 ? std::string() : std::to_string(nth)),
              .title = "Roofline of " + device.device,
              .caption =
                  "One point per operator and shape, on every GPU and in every layer; of those "
                  "with operations to do. Peaks are those of the boost clock.",
              .x = {"FLOP per byte", Unit::kRatio, true},
              .y = {"FLOP per second", Unit::kPerSecond, true}};
  std::map<bool, Series> points;
  double from = 1;
  double to = 1000;
  size_t shown = 0;
  for (const RoofOp& op : roof.ops) {
    const bool drawable = op.sums.flop > 0 && op.sums.bytes > 0 && op.sums.dur_ns > 0;
    if (op.device != device.device || !drawable || shown++ >= kPointsShown) continue;
    Series& series = points[op.sums.compute_bound()];
    series.x.push_back(op.sums.intensity());
    series.y.push_back(op.sums.flop_per_s());
    series.labels.push_back(fmt::format("{} {}: {}, {} of the roofline", op.op, op.shape,
                                        format_ns(op.sums.dur_ns),
                                        format_share(op.sums.roof_share())));
    from = std::min(from, op.sums.intensity());
    to = std::max(to, op.sums.intensity());
  }
  for (const auto& [name, peak] : peaks_used(roof, device))
    chart.series.push_back(roof_line(name, peak, device.memory_bytes_per_s, from, to));
  for (auto& [compute, series] : points) {
    series.name = compute ? "bound by compute" : "bound by memory";
    series.mark = Mark::kPoints;
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// ---- words ----

std::string known_words(const JobRoof& roof) {
  std::string text =
      fmt::format("The work of {} of the kernel time is known from shapes ({} of {})",
                  format_share(share(roof.known.dur_ns, roof.kernel_ns)),
                  format_ns(roof.known.dur_ns), format_ns(roof.kernel_ns));
  std::vector<std::pair<int64_t, std::string>> parts;
  for (size_t i = 0; i < kNoWorks; ++i) {
    const int64_t ns = roof.unknown_ns[i];
    if (ns <= 0) continue;
    parts.push_back({ns, fmt::format("{} {}", no_work_words(static_cast<NoWork>(i)),
                                     format_share(share(ns, roof.kernel_ns)))});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? ". The rest: " : ", ") + parts[i].second;
  text += ".";
  if (roof.replayed_ns > 0) {
    text += fmt::format(" The known time includes {} of graph replays with recorded work.",
                        format_ns(roof.replayed_ns));
  }
  return text;
}

std::string device_words(const JobRoof& roof) {
  std::string names;
  for (const DeviceRoof& device : roof.devices) {
    if (!device.exists()) continue;
    names += (names.empty() ? "" : ", ") + device.device;
    if (!device.part.empty()) names += " (" + device.part + ")";
  }
  return names;
}

std::string most_words(const JobRoof& roof) {
  const auto found = std::find_if(roof.ops.begin(), roof.ops.end(),
                                  [](const RoofOp& op) { return op.sums.above_ns > 0; });
  if (found == roof.ops.end()) return "";
  const RoofSums& sums = found->sums;
  const std::string which = fmt::format("Most above it: {} {} with {}", found->op, found->shape,
                                        format_ns(sums.above_ns));
  // Calls dominated by latency are limited by neither.
  if (2 * sums.small_ns > sums.above_ns) {
    return fmt::format("{} in {}, most of {} too small to fill the GPU.", which,
                       format_counted(sums.calls, "call", "calls"),
                       sums.calls == 1 ? "it" : "them");
  }
  return fmt::format("{}, at {} of its roofline, bound by {}.", which,
                     format_share(sums.roof_share()), bound_words(sums));
}

std::string small_words(const JobRoof& roof) {
  constexpr double kWorthTelling = 0.05;
  if (!(share(roof.known.small_ns, roof.known.above_ns) >= kWorthTelling)) return "";
  return fmt::format(
      "Of that, {} lies in calls that need less than {} at the roofline: they are too small to "
      "fill the GPU.",
      format_ns(roof.known.small_ns), format_ns(kSmallRoofNs));
}

// The operator furthest below its roofline time, over all its calls; nullptr if there is none.
const RoofOp* most_beyond(const JobRoof& roof) {
  const RoofOp* most = nullptr;
  for (const RoofOp& op : roof.ops) {
    const bool over = op.sums.calls_beyond > 0 && op.sums.roof_share() > kFasterThanRoof;
    if (over && (most == nullptr || op.sums.calls_beyond_ns > most->sums.calls_beyond_ns))
      most = &op;
  }
  return most;
}

std::string beyond_words(const JobRoof& roof) {
  const RoofSums& known = roof.known;
  if (known.calls_beyond == 0) return "";
  std::string text = fmt::format("{} faster than the roofline, by {} in all",
                                 format_counted(known.calls_beyond, "call is", "calls are"),
                                 format_ns(known.calls_beyond_ns));
  const uint64_t others = known.calls_beyond - known.calls_cached;
  if (others == 0) {
    text += "; what the cache held explains it";
  } else if (known.calls_cached > 0) {
    text += fmt::format("; what the cache held explains {}",
                        format_count(static_cast<int64_t>(known.calls_cached)));
  }
  if (others > 0) {
    text += fmt::format("; {} an algorithm of fewer operations, or the model or the peak is wrong",
                        known.calls_cached > 0 ? "the others have" : "either they have");
  }
  if (known.calls_fitting > 0) {
    text += fmt::format("; {} with bytes that fit the cache {} at {} of its rate",
                        format_counted(known.calls_fitting, "call", "calls"),
                        known.calls_fitting == 1 ? "is" : "are",
                        format_share(share(known.cache_roof_ns, known.fitting_ns)));
    if (known.calls_beyond_cache > 0) {
      text += fmt::format(", {} of them beyond it",
                          format_count(static_cast<int64_t>(known.calls_beyond_cache)));
    }
  }
  if (const RoofOp* most = most_beyond(roof)) {
    text += fmt::format(". Most: {} {} at {}", most->op, most->shape,
                        format_share(most->sums.roof_share()));
  }
  return text + ".";
}

// How upper bounds of partially known work were found, and why some shares exceed 100 %.
std::string bounds_words(const JobRoof& roof) {
  RoofBounds all;
  const RoofBounds* above = nullptr;
  for (const RoofBounds& one : roof.bounds) {
    all.dur_ns += one.dur_ns;
    all.same_kernel_ns += one.same_kernel_ns;
    all.limited_ns += one.limited_ns;
    all.calls_unexplained += one.calls_unexplained;
    if (one.most_roof_ns <= one.roofed_ns) continue;
    if (above == nullptr || most_share(one) > most_share(*above)) above = &one;
  }
  if (all.dur_ns == 0) return "";
  std::string text = fmt::format("{} of kernels are known within bounds", format_ns(all.dur_ns));
  if (all.same_kernel_ns > 0) {
    text +=
        fmt::format("; for {} the same kernel with recorded sizes shows the elements per thread",
                    format_ns(all.same_kernel_ns));
  }
  if (all.limited_ns > 0) {
    text += fmt::format("; for {} the upper end is what memory and a full cache carry in that time",
                        format_ns(all.limited_ns));
  }
  text += ".";
  if (above != nullptr) {
    text += fmt::format(
        " Upper ends are above 100 %, {} at most ({}), where the last cache may hold what a call "
        "moves, or its size is not known.",
        format_share(most_share(*above)), above->op);
  }
  if (all.calls_unexplained > 0) {
    text += fmt::format(" Of {} that does not explain it: the model or the peak is wrong.",
                        format_counted(all.calls_unexplained, "call", "calls"));
  }
  return text;
}

std::string comm_words(const JobRoof& roof) {
  if (roof.comm.empty()) return "";
  const RoofComm& most = roof.comm.front();
  std::string text =
      fmt::format("Collectives with a known message take {}", format_ns(roof.comm_told_ns));
  text += roof.comm.size() == 1
              ? ": "
              : fmt::format(", the longest of them, {}, are ", format_ns(most.dur_ns));
  text += fmt::format("{} of {}", most.kind, format_bytes(std::llround(most.message_bytes)));
  if (most.group_size > 0) text += fmt::format(" over {} ranks", most.group_size);
  text += ": " + number_text(algorithm_bandwidth(most) / kGigaPer) + " GB/s";
  if (const auto bus = bus_bandwidth(most).number())
    text += ", bus " + number_text(*bus / kGigaPer) + " GB/s";
  if (const auto of_link = link_share(most).number())
    text += fmt::format(
        ", {} of the {}", format_share(*of_link),
        most.network ? "network (assumed: one network card per GPU, as is typical)" : "link");
  return text + (roof.ranks < 2 ? ". This includes waiting for other ranks." : ".");
}

}  // namespace

std::string roof_clock_words(const JobRoof& roof, const TelemetryReport& samples) {
  std::vector<double> clocks;
  for (const TelemetryTrack& track : samples.tracks) {
    if (track.signal != TelemetrySignal::kSmClock) continue;
    clocks.insert(clocks.end(), track.value.begin(), track.value.end());
  }
  const auto device =
      std::find_if(roof.devices.begin(), roof.devices.end(),
                   [](const DeviceRoof& one) { return one.exists() && one.clock_hz > 0; });
  if (clocks.empty() || device == roof.devices.end()) return "";
  constexpr double kMegaHertz = 1e6;
  const double read_mhz = median(std::move(clocks));
  std::string text = fmt::format(
      "The median sampled clock is {:.0f} MHz; the peaks hold at {:.0f} MHz. The sampled clock "
      "allows {} of the compute roofline.",
      read_mhz, device->clock_hz / kMegaHertz,
      format_share(read_mhz * kMegaHertz / device->clock_hz));
  const RoofSums& known = roof.known;
  if (known.clocked_ns <= 0) return text;
  return text + fmt::format(
                    " With the peaks at the highest clock around each call, {} of kernels are at "
                    "{} of the roofline.",
                    format_ns(known.clocked_ns), format_share(known.clocked_roof_share()));
}

std::string roof_sentence(const JobRoof& roof) {
  const RoofSums& known = roof.known;
  if (known.roofed_ns <= 0) return "";
  return fmt::format(
      "By their shapes, {} of kernels need at least {} on {} at boost clock: they are at {} of the "
      "roofline, {} above it.",
      format_ns(known.roofed_ns), format_ns(known.roof_ns), device_words(roof),
      format_share(known.roof_share()), format_ns(known.above_ns));
}

std::string use_sentence(const JobRoof& roof) {
  const auto finding = findings::utilisation_finding(roof.utilisation());
  return finding ? text::message(*finding) : "";
}

std::vector<std::string> roof_words(const JobRoof& roof) {
  if (roof.kernel_ns == 0)
    return {"No compute kernel is in this trace: there is nothing to compare."};
  std::vector<std::string> words = {known_words(roof)};
  for (const DeviceRoof& device : roof.devices) {
    if (!device.exists()) words.push_back(device.why_none);
  }
  for (std::string text : {roof_sentence(roof), small_words(roof), most_words(roof),
                           beyond_words(roof), bounds_words(roof), comm_words(roof)}) {
    if (!text.empty()) words.push_back(std::move(text));
  }
  return words;
}

Section roof_section(const JobRoof& roof, const RoofView& view) {
  Section section{.key = "roofline", .title = "Distance from the roofline"};
  if (view.words) {
    section.blocks.push_back(Prose{.paragraphs = roof_words(roof), .show = Show::kReadersOnly});
  }
  section.blocks.push_back(totals(roof));
  if (view.use) {
    section.blocks.push_back(use_facts(roof));
    push_step_rows(section, uses_of(roof), view.most_steps, {keys::span_ns, keys::unknown_product_ns}, uses_table);
    section.blocks.push_back(use_phases_table(phase_sums(roof)));
  }
  section.blocks.push_back(ops_table(roof, (view.operators || view.tables) && !roof.ops.empty()));
  size_t nth = 0;
  for (const DeviceRoof& device : roof.devices) {
    if (device.exists() && roof.known.roofed_ns > 0)
      section.blocks.push_back(roofline_chart(roof, device, nth++));
  }
  const bool operators = view.operators || view.tables;
  section.blocks.push_back(phases_table(roof, operators));
  section.blocks.push_back(places_table(roof, operators));
  section.blocks.push_back(bounds_table(roof, operators));
  section.blocks.push_back(comm_table(roof, operators));
  const double unknown = share(roof.unknown_total_ns(), roof.kernel_ns);
  section.blocks.push_back(
      unknown_table(roof, view.tables || (view.operators && unknown >= kMuchUnknown)));
  section.blocks.push_back(peaks_table(roof));
  return section;
}

}  // namespace assay
