#include "breakdown/roof_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/numbers.h"
#include "kernels/name.h"
#include "roof/collective.h"

namespace assay {
namespace {

constexpr double kNanos = 1e9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
double part_over(double part, double whole) { return whole > 0 ? part / whole : kNan; }

// For a call that is faster than memory bandwidth allows: compares it with the bandwidth of the
// cache that can hold all its bytes.
void compare_with_cache(const OpWork& work, int64_t dur_ns, int64_t unsure_ns,
                        const DeviceRoof& roof, RoofSums& sums) {
  if (roof.cache_bytes_per_s <= 0 || work.bytes() > roof.cache_bytes) return;
  if (work.bytes() <= roof.cache_front_bytes) return;  // a faster cache may have held them
  sums.calls_fitting = 1;
  sums.fitting_ns = dur_ns;
  sums.cache_roof_ns = std::llround(work.bytes() / roof.cache_bytes_per_s * kNanos);
  sums.calls_beyond_cache = sums.cache_roof_ns > dur_ns + unsure_ns ? 1 : 0;
}

// Compares one call with its roofline time. unsure_ns: maximum error of its duration due to the
// recorder's clock; a smaller advantage does not count as faster.
RoofSums sums_of_call(const OpWork& work, int64_t dur_ns, uint64_t kernels, int64_t unsure_ns,
                      const DeviceRoof& roof) {
  RoofSums sums;
  sums.calls = 1;
  sums.kernels = kernels;
  sums.dur_ns = dur_ns;
  sums.flop = work.flop;
  sums.bytes = work.bytes();
  if (!roof.exists()) return sums;
  const RoofTime least = roof_time(roof, work);
  if (std::isnan(least.compute_s)) return sums;
  sums.roofed_ns = dur_ns;
  sums.roof_ns = std::llround(least.at_least_s() * kNanos);
  sums.above_ns = std::max<int64_t>(0, dur_ns - sums.roof_ns);
  sums.beyond_ns = std::max<int64_t>(0, sums.roof_ns - dur_ns);
  if (sums.roof_ns < kSmallRoofNs) sums.small_ns = sums.above_ns;
  if (least.compute_bound()) sums.compute_roof_ns = sums.roof_ns;
  if (sums.beyond_ns > unsure_ns) {
    sums.calls_beyond = 1;
    sums.calls_beyond_ns = sums.beyond_ns;
    const double from_memory_s = (work.bytes() - roof.cache_bytes) / roof.memory_bytes_per_s;
    const bool in_time = from_memory_s * kNanos <= static_cast<double>(dur_ns);
    if (!least.compute_bound()) compare_with_cache(work, dur_ns, unsure_ns, roof, sums);
    const bool cached = !least.compute_bound() && roof.cache_bytes > 0 && in_time;
    sums.calls_cached = cached && sums.calls_beyond_cache == 0 ? 1 : 0;
  }
  return sums;
}

OpWork times_over(OpWork work, uint64_t times) {
  const auto factor = static_cast<double>(times);
  work.flop *= factor;
  work.masked_flop *= factor;
  work.repeated_flop *= factor;
  work.read_bytes *= factor;
  work.write_bytes *= factor;
  return work;
}

template <typename Map, typename List>
void take_values(Map& map, List& list) {
  for (auto& [key, value] : map) list.push_back(std::move(value));
}

}  // namespace

void RoofSums::add(const RoofSums& other) {
  calls += other.calls;
  kernels += other.kernels;
  dur_ns += other.dur_ns;
  flop += other.flop;
  bytes += other.bytes;
  roofed_ns += other.roofed_ns;
  roof_ns += other.roof_ns;
  above_ns += other.above_ns;
  beyond_ns += other.beyond_ns;
  compute_roof_ns += other.compute_roof_ns;
  small_ns += other.small_ns;
  calls_beyond += other.calls_beyond;
  calls_cached += other.calls_cached;
  calls_beyond_ns += other.calls_beyond_ns;
  fitting_ns += other.fitting_ns;
  cache_roof_ns += other.cache_roof_ns;
  calls_fitting += other.calls_fitting;
  calls_beyond_cache += other.calls_beyond_cache;
  clocked_ns += other.clocked_ns;
  clocked_roof_ns += other.clocked_roof_ns;
  products.add(other.products);
}

double ClockReadings::highest_hz(int64_t start_ns, int64_t end_ns) const {
  const auto after = std::upper_bound(t_ns.begin(), t_ns.end(), start_ns);
  const auto behind = std::lower_bound(t_ns.begin(), t_ns.end(), end_ns);
  if (after == t_ns.begin() || behind == t_ns.end()) return 0;
  const auto first = hz.begin() + (after - t_ns.begin() - 1);
  return *std::max_element(first, hz.begin() + (behind - t_ns.begin()) + 1);
}

double RoofSums::flop_per_s() const {
  return part_over(flop * kNanos, static_cast<double>(dur_ns));
}
double RoofSums::bytes_per_s() const {
  return part_over(bytes * kNanos, static_cast<double>(dur_ns));
}
double RoofSums::intensity() const { return part_over(flop, bytes); }
double RoofSums::clocked_roof_share() const {
  return part_over(static_cast<double>(clocked_roof_ns), static_cast<double>(clocked_ns));
}
double RoofSums::roof_share() const {
  return part_over(static_cast<double>(roof_ns), static_cast<double>(roofed_ns));
}

int64_t JobRoof::unknown_total_ns() const {
  return std::accumulate(unknown_ns.begin(), unknown_ns.end(), int64_t{0});
}

double JobRoof::known_share() const {
  return part_over(static_cast<double>(known.dur_ns), static_cast<double>(kernel_ns));
}

Utilisation JobRoof::utilisation_of(const RoofUse& use) const {
  const auto device = std::find_if(devices.begin(), devices.end(),
                                   [](const DeviceRoof& one) { return one.exists(); });
  if (device == devices.end()) return {};
  Utilisation found = assay::utilisation_of(use.products, *device, static_cast<double>(use.span_ns) / kNanos,
                                            static_cast<double>(use.unknown_product_ns) / kNanos);
  found.known_share = known_share();
  return found;
}

Utilisation JobRoof::utilisation() const {
  return utilisation_of({.span_ns = wall_ns, .products = known.products, .unknown_product_ns = unknown_product_ns});
}

std::vector<Utilisation> JobRoof::utilisations(const std::vector<int32_t>& iterations) const {
  std::unordered_map<int32_t, RoofUse> sums;
  for (const RoofUse& use : uses) {
    RoofUse& sum = sums[use.iter];
    sum.products.add(use.products);
    sum.span_ns += use.span_ns;
    sum.unknown_product_ns += use.unknown_product_ns;
  }
  std::vector<Utilisation> found;
  for (const int32_t iter : iterations) found.push_back(utilisation_of(sums[iter]));
  return found;
}

const DeviceRoof& RoofReader::roof_of(const Trace& trace, int64_t device) {
  const auto [place, is_new] = roof_of_device_.try_emplace(device, nullptr);
  if (is_new) {
    DeviceRoof roof = trace_roof(facts_, trace, device, asked_);
    const std::string name = roof.device;
    place->second = &roofs_.try_emplace(name, std::move(roof)).first->second;
  }
  return *place->second;
}

// Contribution of one trace: its calls, with the time of their kernels.
struct RoofReader::Rank {
  RoofReader& reader;
  const Trace& trace;
  const KernelNames& kernels;
  RoofCalls found;
  RecordedInputs inputs;
  const ReplayReport* replays = nullptr;
  const ClocksByGpu& clocks;
  struct Spent {
    const KernelLevel* row = nullptr;  // row of the first kernel
    int64_t start_ns = 0;
    int64_t end_ns = 0;  // end of the last kernel
    int64_t dur_ns = 0;
    uint64_t kernels = 0;
    bool tf32 = false;

    void add(const KernelLevel& one) {
      start_ns = row == nullptr ? one.t_ks_ns : std::min(start_ns, one.t_ks_ns);
      end_ns = row == nullptr ? one.t_ke_ns : std::max(end_ns, one.t_ke_ns);
      if (row == nullptr) row = &one;
      dur_ns += one.dur_ns();
      ++kernels;
    }
  };
  std::vector<Spent> spent = {};
  std::vector<Spent> spent_bounded = {};     // per entry of found.bounds
  std::map<uint32_t, double> possible = {};  // kernel name -> maximum elements per thread
  // Captured calls, per replay: key {launch, index into ReplayReport::calls}.
  std::map<std::pair<uint32_t, uint32_t>, Spent> spent_again = {};
  std::vector<const ReplayedActivity*> replayed = {};  // per activity; empty = no replays

  RoofUse& use_of(const KernelLevel& row) {
    return reader.uses_[{reader.job_.ranks, row.gpu, row.window}];
  }

  void find_replayed() {
    if (replays == nullptr || replays->activities.empty()) return;
    replayed.resize(trace.activities.size(), nullptr);
    for (const ReplayedActivity& one : replays->activities) replayed[one.activity.index()] = &one;
  }

  void count_unknown(const KernelLevel& row, NoWork why, std::string name) {
    RoofUnknown& unknown = reader.unknown_[{why, name}];
    unknown.why = why;
    unknown.name = std::move(name);
    ++unknown.kernels;
    unknown.dur_ns += row.dur_ns();
    reader.job_.unknown_ns[static_cast<size_t>(why)] += row.dur_ns();
    place_of(row).unknown_ns += row.dur_ns();
    const KernelKind kind = kernels.of(row.kernel).kind;
    const bool multiplies =
        kind == KernelKind::kGemm || kind == KernelKind::kConv || kind == KernelKind::kAttention;
    if (!multiplies) return;
    reader.job_.unknown_product_ns += row.dur_ns();
    use_of(row).unknown_product_ns += row.dur_ns();
  }

  void add_unknown(const KernelLevel& row) {
    const size_t activity = row.activity.index();
    const OpId op = found.innermost[activity];
    count_unknown(row, found.why[activity],
                  op ? std::string(trace.text(trace.ops.name[op.index()]))
                     : describe_kernel(trace.text(row.kernel)));
  }

  void add_replayed(const KernelLevel& row, const ReplayedActivity& one) {
    const CapturedNode& node = replays->nodes[one.node];
    if (replayed_call(*replays, one) == nullptr) {
      // Bounds depend on recorded values, which may differ in a replay.
      const NoWork recorded = node.no_work == NoWork::kBounds ? NoWork::kUntold : node.no_work;
      const NoWork why = node.call == kNoCallWork ? recorded : NoWork::kGraphSizes;
      count_unknown(
          row, why,
          node.no_work_op.empty() ? describe_kernel(trace.text(row.kernel)) : node.no_work_op);
      return;
    }
    Spent& again = spent_again[{one.launch, node.call}];
    again.add(row);
    again.tf32 |= element_type_named(kernels.of(row.kernel).data_type) == ElementType::kTf32;
  }

  RoofPlace& place_of(const KernelLevel& row) {
    RoofPlace& place = reader.places_[{row.phase, row.layer}];
    place.phase = row.phase;
    place.layer = row.layer;
    return place;
  }

  void add_row(const KernelLevel& row) {
    reader.job_.kernel_ns += row.dur_ns();
    const size_t activity = row.activity.index();
    if (!replayed.empty() && replayed[activity] != nullptr) {
      add_replayed(row, *replayed[activity]);
    } else if (found.call[activity] == kNoCallWork) {
      add_unknown(row);
      if (found.bound[activity] != kNoCallWork) spent_bounded[found.bound[activity]].add(row);
    } else {
      spent[found.call[activity]].add(row);
    }
  }

  // Maximum amount by which the recorder's clock resolution may shorten the time.
  int64_t unsure_ns(const Spent& one) const {
    constexpr int64_t kMicrosecond = 1'000;  // start and end are rounded to 1 us
    return trace.whole_microseconds ? kMicrosecond * static_cast<int64_t>(one.kernels) : 0;
  }

  RoofSums sums_of(const OpWork& work, const Spent& one, const DeviceRoof& roof) const {
    return sums_of_call(work, one.dur_ns, one.kernels, unsure_ns(one), roof);
  }

  void take_clock(const OpWork& work, const Spent& one, const DeviceRoof& roof,
                  RoofSums& sums) const {
    const auto readings = clocks.find(one.row->gpu);
    if (readings == clocks.end() || sums.roofed_ns == 0 || !(roof.clock_hz > 0)) return;
    const double hz = readings->second.highest_hz(one.start_ns, one.end_ns);
    if (!(hz > 0)) return;
    RoofTime least = roof_time(roof, work);
    least.compute_s *= roof.clock_hz / hz;
    sums.clocked_ns = sums.dur_ns;
    sums.clocked_roof_ns = std::llround(least.at_least_s() * kNanos);
  }

  void add_call(const CapturedCall& call, const Spent& one) {
    const DeviceRoof& roof = reader.roof_of(trace, one.row->gpu);
    RoofSums sums = sums_of(call.work, one, roof);
    sums.products.add(call.work, one.row->phase == LevelPhase::kRecompute, roof);
    use_of(*one.row).products.add(sums.products);
    take_clock(call.work, one, roof, sums);
    RoofOp& group = reader.ops_[{one.row->phase, call.op, call.shape, roof.device}];
    if (group.sums.calls == 0) {
      group.phase = one.row->phase;
      group.op = call.op;
      group.shape = call.shape;
      group.kind = call.work.kind;
      group.math = call.work.math;
      group.matrix = call.work.matrix;
      group.device = roof.device;
    }
    group.sums.add(sums);
    place_of(*one.row).sums.add(sums);
    reader.job_.known.add(sums);
    if (call.nested) ++reader.job_.nested_calls;
  }

  // Time in which memory would transfer the bytes that these calls can have used at most: their own
  // time, plus twice the last-level cache per call (data read from it, and data left in it). It
  // bounds the roofline time of memory-bound work. Infinite if the cache is unknown.
  double carried_ns(const Spent& one, uint64_t calls, const DeviceRoof& roof) const {
    if (!roof.exists() || roof.cache_bytes <= 0) return kInfinity;
    const double from_cache_s = 2 * roof.cache_bytes / roof.memory_bytes_per_s;
    return static_cast<double>(one.dur_ns + unsure_ns(one)) +
           static_cast<double>(calls) * from_cache_s * kNanos;
  }

  // All launches of a kernel have the same number of elements per thread. Finds the largest number
  // for which memory and cache can transfer the bytes of every launch.
  void find_possible() {
    for (size_t i = 0; i < spent_bounded.size(); ++i) {
      const Spent& one = spent_bounded[i];
      const std::vector<LaunchChoice>& choices = found.bounds[i].choices;
      if (one.row == nullptr || choices.size() < 2) continue;
      const DeviceRoof& roof = reader.roof_of(trace, one.row->gpu);
      const double most_ns = carried_ns(one, one.kernels, roof);
      double most = choices.front().per_thread;
      for (const LaunchChoice& choice : choices) {
        const double bytes = choice.least.bytes() * static_cast<double>(one.kernels);
        if (bytes / roof.memory_bytes_per_s * kNanos <= most_ns) most = choice.per_thread;
      }
      const auto [place, is_new] = possible.try_emplace(one.row->kernel.value, most);
      place->second = std::min(place->second, most);
    }
  }

  // Maximum work of a call, excluding choices that some launch of its kernel rules out.
  const OpWork& most_possible(const CallBounds& call, const Spent& one) const {
    const OpWork* most = &call.most;
    for (const LaunchChoice& choice : call.choices) {
      const auto limit = possible.find(one.row->kernel.value);
      if (limit != possible.end() && choice.per_thread <= limit->second) most = &choice.most;
    }
    return *most;
  }

  void add_bounds(const CallBounds& call, const Spent& one) {
    const DeviceRoof& roof = reader.roof_of(trace, one.row->gpu);
    const OpId named = call.op ? call.op : found.innermost[one.row->activity.index()];
    const std::string op = named ? std::string(trace.text(trace.ops.name[named.index()]))
                                 : describe_kernel(trace.text(one.row->kernel));
    const std::string shape = call.op ? shape_words(inputs.of(call.op)) : "by the launch grid";
    RoofBounds& group = reader.bounds_[{op, shape, roof.device}];
    group.op = op;
    group.shape = shape;
    group.device = roof.device;
    group.calls += call.op ? 1 : one.kernels;
    group.kernels += one.kernels;
    group.dur_ns += one.dur_ns;
    const uint64_t times = call.op ? 1 : one.kernels;
    const RoofSums least = sums_of(times_over(call.least, times), one, roof);
    const OpWork& possible_work = most_possible(call, one);
    const RoofSums most = sums_of(times_over(possible_work, times), one, roof);
    if (call.shown) group.same_kernel_ns += one.dur_ns;
    if (least.roofed_ns == 0 || most.roofed_ns == 0) return;
    const double carried =
        std::max(static_cast<double>(least.roof_ns), carried_ns(one, times, roof));
    if (least.beyond_ns > unsure_ns(one)) {
      group.calls_beyond += times;
      if (static_cast<double>(least.roof_ns) > carried_ns(one, times, roof))
        group.calls_unexplained += times;
    }
    const bool too_much = static_cast<double>(most.roof_ns) > carried;
    group.roofed_ns += one.dur_ns;
    group.least_roof_ns += least.roof_ns;
    group.most_roof_ns += too_much ? std::llround(carried) : most.roof_ns;
    if (too_much || possible_work.bytes() < call.most.bytes()) group.limited_ns += one.dur_ns;
  }

  void add_calls() {
    find_possible();
    for (size_t i = 0; i < spent_bounded.size(); ++i) {
      if (spent_bounded[i].row != nullptr) add_bounds(found.bounds[i], spent_bounded[i]);
    }
    for (size_t i = 0; i < spent.size(); ++i) {
      if (spent[i].row == nullptr) continue;
      add_call(captured_call(trace, inputs, found.calls[i]), spent[i]);
    }
    for (const auto& [key, one] : spent_again) {
      CapturedCall call = replays->calls[key.second];
      if (one.tf32) call.work.multiply_as(ElementType::kTf32);
      add_call(call, one);
      reader.job_.replayed_ns += one.dur_ns;
    }
  }
};

// Index of the window with this iteration number; -1 = none.
static int32_t window_numbered(const BreakdownReport& report, int32_t iter) {
  const auto& numbers = report.iterations;
  const auto found = std::find(numbers.begin(), numbers.end(), iter);
  return found == numbers.end() ? -1 : static_cast<int32_t>(found - numbers.begin());
}

void RoofReader::add(const Trace& trace, const Links& links, const KernelNames& kernels,
                     const BreakdownReport& report, const ReplayReport* replays,
                     const ClocksByGpu& clocks) {
  ++job_.ranks;
  roof_of_device_.clear();
  Rank rank{.reader = *this,
            .trace = trace,
            .kernels = kernels,
            .found = find_roof_calls(trace, links, kernels),
            .inputs = RecordedInputs(trace),
            .replays = replays,
            .clocks = clocks};
  rank.spent.resize(rank.found.calls.size());
  rank.spent_bounded.resize(rank.found.bounds.size());
  rank.find_replayed();
  for (const KernelLevel& row : report.rows) {
    if (row.comm) {
      job_.comm_ns += row.dur_ns();
    } else if (row.compute) {
      roof_of(trace, row.gpu);
      rank.add_row(row);
    } else {
      job_.copy_ns += row.dur_ns();
    }
  }
  rank.add_calls();
  for (const GpuExtent& extent : report.extents) job_.wall_ns += extent.span_ns();
  for (const LevelSpan& span : report.spans) {
    const int32_t window = window_numbered(report, span.iter);
    const auto use = uses_.find({job_.ranks, span.gpu, window});
    if (window < 0 || use == uses_.end()) continue;
    use->second.iter = span.iter;
    use->second.gpu = span.gpu;
    use->second.span_ns = span.span_ns;
  }
  add_collectives(trace, kernels, report);
}

// The slower of the links inside a machine and the network; rate 0 for a single rank, or if the
// group spans machines and the network rate is unknown.
RoofReader::CommLink RoofReader::link_of(const CommKey& key, const GroupPlace& place,
                                         const DeviceRoof& roof) {
  if (key.group_size < 2) return {};
  if (place.machines < 2) return {false, roof.link_bytes_per_s};
  const double network =
      network_bus_bytes_per_s(key.kind, place, key.group_size, roof.nic_bytes_per_s);
  const bool slower = roof.link_bytes_per_s <= 0 || network < roof.link_bytes_per_s;
  if (network <= 0) return {};
  return slower ? CommLink{true, network} : CommLink{false, roof.link_bytes_per_s};
}

void RoofReader::add_collectives(const Trace& trace, const KernelNames& kernels,
                                 const BreakdownReport& report) {
  const CollectiveTable& table = trace.collectives;
  const auto listed = static_cast<int64_t>(trace.devices.size());
  const int64_t here = listed > 1 ? listed : kMachineGpus;
  std::map<std::pair<std::string_view, int64_t>, GroupPlace> places;  // keyed by the text of ranks
                                                                      // and their number
  std::vector<const KernelLevel*> rows(trace.activities.size(), nullptr);
  for (const KernelLevel& row : report.rows) {
    if (row.comm) rows[row.activity.index()] = &row;
  }
  for (size_t i = 0; i < table.size(); ++i) {
    const KernelLevel* row = rows[table.activity[i].index()];
    if (row == nullptr) continue;
    CommKey key;
    key.kind = kernels.book().collective_of(trace.text(table.collective[i]));
    key.dtype = trace.text(table.dtype[i]);
    const MessageSize message = message_size(key.kind, key.dtype, table.in_elements[i],
                                             table.out_elements[i], table.group_size[i]);
    if (message.bytes <= 0) continue;
    key.group = std::string(trace.text(table.process_group[i])) + " " +
                std::string(trace.text(table.ranks[i]));
    key.group_size = table.group_size[i];
    key.bytes = message.bytes;
    key.seq = table.seq[i];
    if (key.seq < 0) key.nth = ++nth_comm_;
    job_.comm_told_ns += row->dur_ns();
    const auto [place, is_new] = comm_.try_emplace(key);
    CommSpan& span = place->second;
    span.dur_ns = is_new ? row->dur_ns() : std::min(span.dur_ns, row->dur_ns());
    span.factor = message.factor;
    const std::string_view ranks = trace.text(table.ranks[i]);
    const auto [group, is_new_group] = places.try_emplace({ranks, key.group_size});
    if (is_new_group) group->second = place_of_group(ranks, key.group_size, here);
    span.link = link_of(key, group->second, roof_of(trace, row->gpu));
  }
}

JobRoof RoofReader::finish() {
  using Alike = std::tuple<std::string, std::string, int64_t, double, bool, double>;
  std::map<Alike, RoofComm> comm;
  for (const auto& [key, span] : comm_) {
    const auto& [network, link_bytes_per_s] = span.link;
    RoofComm& row =
        comm[{key.kind, key.dtype, key.group_size, key.bytes, network, link_bytes_per_s}];
    row.kind = key.kind;
    row.dtype = key.dtype;
    row.group_size = key.group_size;
    row.message_bytes = key.bytes;
    row.factor = span.factor;
    row.link_bytes_per_s = link_bytes_per_s;
    row.network = network;
    ++row.collectives;
    row.dur_ns += span.dur_ns;
  }
  for (auto& [key, use] : uses_) {
    if (use.span_ns > 0) job_.uses.push_back(use);
  }
  take_values(roofs_, job_.devices);
  take_values(ops_, job_.ops);
  take_values(places_, job_.places);
  take_values(unknown_, job_.unknown);
  take_values(bounds_, job_.bounds);
  take_values(comm, job_.comm);
  const auto by_above = [](const RoofOp& a, const RoofOp& b) {
    return std::pair(a.sums.above_ns, a.sums.dur_ns) > std::pair(b.sums.above_ns, b.sums.dur_ns);
  };
  const auto longer = [](const auto& a, const auto& b) { return a.dur_ns > b.dur_ns; };
  std::stable_sort(job_.ops.begin(), job_.ops.end(), by_above);
  std::stable_sort(job_.unknown.begin(), job_.unknown.end(), longer);
  std::stable_sort(job_.bounds.begin(), job_.bounds.end(), longer);
  std::stable_sort(job_.comm.begin(), job_.comm.end(), longer);
  return std::move(job_);
}

}  // namespace assay
