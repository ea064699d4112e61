#include "breakdown/counters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/stats.h"
#include "breakdown/lcs.h"
#include "kernels/name.h"
#include "kernels/views.h"
#include "roof/work.h"
#include "trace/hip_kernels.h"

namespace assay {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// ---- sequences ----------------------------------------------------------------------------------

// A kernel on either side of the alignment.
struct Item {
  uint32_t row = 0;  // of BreakdownReport::rows or CounterPass::dispatches
  uint32_t plain = 0;
  uint32_t base = 0;
  uint64_t blocks = 0;
  uint64_t threads = 0;
  int64_t lane = -1;  // launching thread; -1 = unknown
};
using Sequence = std::vector<Item>;

// Numbers kernel names; each distinct name is parsed once.
class NameBook {
 public:
  void fill(std::string_view name, Item& item) {
    const auto [found, is_new] = known_.try_emplace(std::string(name));
    if (is_new) {
      found->second = {number(plain_, plain_kernel_name(name)),
                       number(base_, base_kernel_name(name))};
    }
    item.plain = found->second.first;
    item.base = found->second.second;
  }

 private:
  using Numbers = std::unordered_map<std::string, uint32_t>;
  static uint32_t number(Numbers& numbers, std::string text) {
    return numbers.try_emplace(std::move(text), static_cast<uint32_t>(numbers.size()))
        .first->second;
  }
  Numbers plain_;
  Numbers base_;
  std::unordered_map<std::string, std::pair<uint32_t, uint32_t>> known_;
};

// How two items are compared.
struct Comparison {
  bool base_names = false;
  bool shapes = false;
};

class Tokens {
 public:
  explicit Tokens(Comparison how) : how_(how) {}
  uint32_t of(const Item& item) {
    const std::tuple key(how_.base_names ? item.base : item.plain, how_.shapes ? item.blocks : 0,
                         how_.shapes ? item.threads : 0);
    return numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size())).first->second;
  }
  std::vector<uint32_t> of(const Sequence& items) {
    std::vector<uint32_t> tokens;
    tokens.reserve(items.size());
    for (const Item& item : items) tokens.push_back(of(item));
    return tokens;
  }

 private:
  Comparison how_;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, uint32_t> numbers_;
};

bool all_shaped(const Sequence& items) {
  return std::all_of(items.begin(), items.end(),
                     [](const Item& item) { return item.blocks > 0 && item.threads > 0; });
}

// ---- alignment of two sequences -----------------------------------------------------------------

struct Match {
  std::vector<std::pair<uint32_t, uint32_t>> rows;  // of the trace, of the pass
  uint64_t trace_kernels = 0;
  uint64_t pass_kernels = 0;
  uint64_t bound = 0;  // upper bound of the matches, if the search was stopped
  bool at_most = false;

  double rate() const {
    const uint64_t larger = std::max(trace_kernels, pass_kernels);
    const uint64_t found = at_most ? bound : rows.size();
    return larger == 0 ? 0 : static_cast<double>(found) / static_cast<double>(larger);
  }
  void add(const Match& other) {
    rows.insert(rows.end(), other.rows.begin(), other.rows.end());
    trace_kernels += other.trace_kernels;
    pass_kernels += other.pass_kernels;
    bound += other.at_most ? other.bound : other.rows.size();
    at_most |= other.at_most;
  }
};

Match align(const Sequence& trace, const Sequence& pass, Comparison how) {
  // If more than a fifth of the longer sequence differs, the match rate is below 90 %. Small
  // sequences are always searched completely, so that the error can state the rate.
  constexpr size_t kSearchedFully = 4000;
  Tokens tokens(how);
  const std::vector<uint32_t> a = tokens.of(trace);
  const std::vector<uint32_t> b = tokens.of(pass);
  Match match;
  match.trace_kernels = a.size();
  match.pass_kernels = b.size();
  const size_t limit = std::max(std::max(a.size(), b.size()) / 4, kSearchedFully);
  const auto pairs = common_subsequence(a, b, limit);
  if (!pairs) {
    match.at_most = true;
    match.bound = std::min({a.size(), b.size(), (a.size() + b.size() - limit) / 2});
    return match;
  }
  for (const auto& [i, j] : *pairs) match.rows.emplace_back(trace[i].row, pass[j].row);
  match.bound = match.rows.size();
  return match;
}

// Splits both sides by launching thread, sorted by number of launches, so that corresponding
// threads are at the same index.
std::vector<Sequence> by_lane(const Sequence& items) {
  std::map<int64_t, Sequence> lanes;
  for (const Item& item : items) lanes[item.lane].push_back(item);
  std::vector<Sequence> sorted;
  for (auto& [lane, list] : lanes) sorted.push_back(std::move(list));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Sequence& a, const Sequence& b) { return a.size() > b.size(); });
  return sorted;
}

Match align_lanes(const Sequence& trace, const Sequence& pass, Comparison how, bool& used) {
  const std::vector<Sequence> a = by_lane(trace);
  const std::vector<Sequence> b = by_lane(pass);
  Match match;
  used = a.size() == b.size() && a.size() > 1;
  for (size_t i = 0; used && i < a.size(); ++i) match.add(align(a[i], b[i], how));
  return match;
}

// ---- iterations of the counter run --------------------------------------------------------------

std::vector<size_t> places_of(const std::vector<uint32_t>& gram,
                              const std::vector<uint32_t>& tokens) {
  std::vector<size_t> places;
  auto at = tokens.begin();
  while ((at = std::search(at, tokens.end(), gram.begin(), gram.end())) != tokens.end()) {
    places.push_back(static_cast<size_t>(at - tokens.begin()));
    ++at;
  }
  return places;
}

// Starts of iterations in the counter run: all positions that match the beginning of the trace's
// iterations, using the shortest beginning that occurs exactly once in each of them.
std::vector<size_t> iteration_starts(const std::vector<Sequence>& trace, const Sequence& pass,
                                     Comparison how) {
  constexpr size_t kLongest = 64;
  Tokens tokens(how);
  std::vector<std::vector<uint32_t>> iterations;
  for (const Sequence& one : trace) iterations.push_back(tokens.of(one));
  const std::vector<uint32_t> whole = tokens.of(pass);
  const std::vector<uint32_t>& last = iterations.back();
  for (size_t length = 1; length <= std::min(kLongest, last.size()); ++length) {
    const std::vector<uint32_t> gram(last.begin(),
                                     last.begin() + static_cast<std::ptrdiff_t>(length));
    const bool once = std::all_of(iterations.begin(), iterations.end(), [&](const auto& iteration) {
      return places_of(gram, iteration).size() == 1;
    });
    if (once) return places_of(gram, whole);
  }
  return {};
}

// Iterations by named ranges of the counter run; empty unless all names exist.
std::vector<Sequence> marked_iterations(const std::vector<std::string>& names,
                                        const CounterPass& pass, const Sequence& items) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const std::string& name : names) {
    const auto range = std::find_if(pass.ranges.begin(), pass.ranges.end(),
                                    [&](const CounterRange& one) { return one.name == name; });
    if (range == pass.ranges.end()) return {};
    spans.emplace_back(range->start_ns, range->end_ns);
  }
  std::vector<Sequence> iterations(names.size());
  for (const Item& item : items) {
    const int64_t start_ns = pass.dispatches[item.row].start_ns;
    if (start_ns == kNoCounterTime) return {};
    for (size_t i = 0; i < spans.size(); ++i) {
      if (start_ns < spans[i].first || start_ns >= spans[i].second) continue;
      iterations[i].push_back(item);
      break;
    }
  }
  return iterations;
}

Sequence joined(const std::vector<Sequence>& parts) {
  Sequence all;
  for (const Sequence& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// The last iterations of the counter run, as many as the trace has: a trace recorded after warm-up
// corresponds to the end of the run.
std::vector<Sequence> last_iterations(const std::vector<Sequence>& trace, const Sequence& pass,
                                      Comparison how) {
  const std::vector<size_t> starts = iteration_starts(trace, pass, how);
  if (starts.size() < trace.size()) return {};
  std::vector<Sequence> iterations;
  for (size_t i = starts.size() - trace.size(); i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : pass.size();
    iterations.emplace_back(pass.begin() + static_cast<std::ptrdiff_t>(starts[i]),
                            pass.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return iterations;
}

// ---- one pass against one GPU -------------------------------------------------------------------

struct Side {
  std::vector<Sequence> iterations;  // of the trace
  std::vector<std::string> names;    // of them
};

struct Attempt {
  Match match;
  PassAlignment facts;
};

Match align_all(const std::vector<Sequence>& trace, const std::vector<Sequence>& pass,
                Comparison how, const CounterOptions& options, bool& per_thread) {
  Match match;
  for (size_t i = 0; i < trace.size(); ++i) match.add(align(trace[i], pass[i], how));
  per_thread = false;
  if (match.rate() >= options.warn_below) return match;
  Match lanes;
  bool all = true;
  for (size_t i = 0; i < trace.size() && all; ++i) {
    lanes.add(align_lanes(trace[i], pass[i], how, all));
  }
  if (!all || lanes.rate() <= match.rate()) return match;
  per_thread = true;
  return lanes;
}

Attempt attempt(const Side& side, const Sequence& pass, const CounterPass& run, Comparison how,
                const CounterOptions& options) {
  // A counter run with additional iterations is longer by more than 10 %.
  const Sequence whole = joined(side.iterations);
  Attempt best;
  std::vector<std::vector<Sequence>> cuts;
  std::vector<Sequence> marked = marked_iterations(side.names, run, pass);
  if (!marked.empty()) cuts.push_back(std::move(marked));
  if (pass.size() * 10 > whole.size() * 11) {
    std::vector<Sequence> last = last_iterations(side.iterations, pass, how);
    if (!last.empty()) cuts.push_back(std::move(last));
  }
  const auto consider = [&](Match match, bool split, bool per_thread) {
    const bool better = best.facts.iterations == 0 || match.rate() > best.match.rate();
    if (!better) return;
    best.match = std::move(match);
    best.facts.iterations = side.iterations.size();
    best.facts.split = split;
    best.facts.per_thread = per_thread;
  };
  for (const std::vector<Sequence>& cut : cuts) {
    bool per_thread = false;
    Match match = align_all(side.iterations, cut, how, options, per_thread);
    consider(std::move(match), true, per_thread);
  }
  if (best.facts.iterations == 0 || best.match.rate() < options.warn_below) {
    bool per_thread = false;
    Match match = align_all({whole}, {pass}, how, options, per_thread);
    consider(std::move(match), false, per_thread);
  }
  best.facts.base_names = how.base_names;
  best.facts.shapes = how.shapes;
  best.facts.unused_kernels = pass.size() - best.match.pass_kernels;
  return best;
}

// Removes kernels from the trace's side if the counter run lacks their names. Returns the number.
uint64_t keep_common(Side& side, const Sequence& pass) {
  std::set<uint32_t> known;
  for (const Item& item : pass) known.insert(item.base);
  uint64_t absent = 0;
  for (Sequence& iteration : side.iterations) {
    absent +=
        std::erase_if(iteration, [&](const Item& item) { return known.count(item.base) == 0; });
  }
  return absent;
}

Attempt align_pass(Side side, const Sequence& pass, const CounterPass& run,
                   const CounterOptions& options) {
  const uint64_t absent = options.partial ? keep_common(side, pass) : 0;
  const bool shaped =
      all_shaped(pass) && std::all_of(side.iterations.begin(), side.iterations.end(), all_shaped);
  Attempt best = attempt(side, pass, run, {false, shaped}, options);
  if (best.match.rate() < options.warn_below) {
    Attempt by_base = attempt(side, pass, run, {true, shaped}, options);
    if (by_base.match.rate() > best.match.rate()) best = std::move(by_base);
  }
  best.facts.absent_kernels = absent;
  return best;
}

// ---- the trace's side ---------------------------------------------------------------------------

class Joining {
 public:
  Joining(const Trace& trace, const Links& links, const Windows& windows,
          const BreakdownReport& report, const CounterOptions& options)
      : trace_(trace), links_(links), windows_(windows), report_(report), options_(options) {}

  Status add(const CounterPass& pass);
  CounterJoin finish();
  void list_gpus();
  Status refuse_if_empty() const;

 private:
  struct Measured {
    std::vector<double> sum;  // per row of the report
    std::vector<double> low;
    std::vector<double> high;
    std::vector<uint8_t> times;
  };

  Item item_of(uint32_t row);
  Result<int64_t> device_for(const CounterPass& pass, int64_t gpu,
                             const std::vector<int64_t>& devices) const;
  void take(const CounterPass& pass, const Match& match);
  void note_device(const CounterPass& pass, int64_t device, int64_t gpu);
  void repeats();
  void cells();
  void flops(std::vector<double>& flop_of_row) const;
  double weight_of(size_t row) const;
  double value_of(const Measured& measured, size_t row) const {
    return measured.times[row] == 0 ? kMissing : measured.sum[row] / measured.times[row];
  }
  void notes();
  std::vector<bool> compute_kernels(const CounterPass& pass) const;  // by number of the name

  const Trace& trace_;
  const Links& links_;
  const Windows& windows_;
  const BreakdownReport& report_;
  const CounterOptions& options_;
  NameBook names_;
  std::map<int64_t, Side> sides_;  // by GPU
  std::vector<const Measured*> cycle_counters_;
  std::map<std::string, Measured> measured_;
  std::map<int64_t, uint64_t> passes_of_gpu_;
  std::vector<uint8_t> matched_passes_;  // per row
  std::map<int64_t, CounterDevice> devices_;
  CounterJoin join_;
};

Item Joining::item_of(uint32_t row) {
  const KernelLevel& level = report_.rows[row];
  Item item;
  item.row = row;
  names_.fill(trace_.text(level.kernel), item);
  const std::vector<ActivityId>& shaped = trace_.kernel_shapes.activity;
  const auto shape = std::lower_bound(shaped.begin(), shaped.end(), level.activity);
  if (shape != shaped.end() && *shape == level.activity) {
    const KernelShapeTable& sizes = trace_.kernel_shapes;
    const auto at = static_cast<size_t>(shape - shaped.begin());
    item.blocks = uint64_t{sizes.grid_x[at]} * std::max(sizes.grid_y[at], 1u) *
                  std::max(sizes.grid_z[at], 1u);
    item.threads = uint64_t{sizes.block_x[at]} * std::max(sizes.block_y[at], 1u) *
                   std::max(sizes.block_z[at], 1u);
  }
  const ApiCallId call = links_.activity_call[level.activity.index()];
  if (call) item.lane = trace_.api_calls.thread[call.index()].value;
  return item;
}

// Lists compute kernels per GPU and iteration, in launch order.
void Joining::list_gpus() {
  std::map<std::pair<int64_t, int32_t>, std::vector<uint32_t>> groups;
  for (size_t row = 0; row < report_.rows.size(); ++row) {
    const KernelLevel& level = report_.rows[row];
    // A profiler may list HIP's copies as kernels, as counter runs do.
    const bool kernel = kind_of_hip_kernel(trace_.text(level.kernel)) == ActivityKind::kKernel;
    if (level.compute && kernel && level.window >= 0)
      groups[{level.gpu, level.window}].push_back(static_cast<uint32_t>(row));
  }
  for (auto& [key, rows] : groups) {
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      const auto order = [&](uint32_t row) {
        const KernelLevel& level = report_.rows[row];
        const int64_t launched_ns = level.t_l_ns == kNoTime ? level.t_ks_ns : level.t_l_ns;
        return std::tuple(launched_ns, level.t_ks_ns, row);
      };
      return order(a) < order(b);
    });
    Side& side = sides_[key.first];
    side.names.push_back(windows_.windows[static_cast<size_t>(key.second)].name);
    Sequence& sequence = side.iterations.emplace_back();
    for (const uint32_t row : rows) sequence.push_back(item_of(row));
  }
  matched_passes_.resize(report_.rows.size());
}

Status Joining::refuse_if_empty() const {
  if (!sides_.empty()) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "the trace has no compute kernel inside an iteration, so that there is nothing to "
               "give counters to",
               "", -1};
}

std::vector<int64_t> devices_in(const CounterPass& pass) {
  std::set<int64_t> devices;
  for (const CounterDispatch& dispatch : pass.dispatches) devices.insert(dispatch.device);
  return {devices.begin(), devices.end()};
}

Error pass_error(const CounterPass& pass, std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), pass.source, -1};
}

// Device of the counter run that corresponds to this GPU of the trace.
Result<int64_t> Joining::device_for(const CounterPass& pass, int64_t gpu,
                                    const std::vector<int64_t>& devices) const {
  for (const CounterDevice& device : pass.devices) {
    const bool counted = std::find(devices.begin(), devices.end(), device.device) != devices.end();
    if (counted && device.ordinal == gpu && devices.size() > 1) return device.device;
  }
  if (devices.size() == sides_.size()) {
    const auto place = std::distance(sides_.begin(), sides_.find(gpu));
    return devices[static_cast<size_t>(place)];
  }
  return pass_error(pass, "has kernels of " + std::to_string(devices.size()) +
                              " devices, the trace of " + std::to_string(sides_.size()) +
                              " GPUs, and no record identifies them; give the run of these GPUs "
                              "only, with its agent_info.csv in the same folder");
}

std::string percent(double share) {
  const auto tenths = static_cast<int64_t>(std::floor(share * 1000));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

Status check_rate(const CounterPass& pass, const Attempt& attempt, const CounterOptions& options) {
  if (attempt.match.rate() >= options.refuse_below && !attempt.match.at_most) return Ok{};
  return pass_error(
      pass, "fits the trace at " + std::string(attempt.match.at_most ? "at most " : "") +
                percent(attempt.match.rate()) + " of the kernels (trace " +
                std::to_string(attempt.match.trace_kernels) + ", counter run " +
                std::to_string(attempt.match.pass_kernels) + "), refused below " +
                percent(options.refuse_below) +
                ": counters would go to wrong kernels. Record both runs with the same command, "
                "sizes and seed; --partial-counters is for runs restricted to some kernels");
}

void Joining::note_device(const CounterPass& pass, int64_t device, int64_t gpu) {
  CounterDevice& known = devices_[gpu];
  known.device = gpu;
  known.ordinal = gpu;
  for (const CounterDevice& told : pass.devices) {
    if (told.device != device) continue;
    if (known.name.empty()) known.name = told.name;
    if (known.architecture.empty()) known.architecture = told.architecture;
    known.compute_units = std::max(known.compute_units, told.compute_units);
    known.simd_per_cu = std::max(known.simd_per_cu, told.simd_per_cu);
    known.xcds = std::max(known.xcds, told.xcds);
    known.max_clock_mhz = std::max(known.max_clock_mhz, told.max_clock_mhz);
  }
  for (const DeviceProperties& told : trace_.devices) {
    if (told.id == gpu && known.name.empty()) known.name = told.name;
  }
}

void Joining::take(const CounterPass& pass, const Match& match) {
  for (size_t c = 0; c < pass.counters.size(); ++c) {
    Measured& measured = measured_[pass.counters[c]];
    measured.sum.resize(report_.rows.size());
    measured.low.resize(report_.rows.size());
    measured.high.resize(report_.rows.size());
    measured.times.resize(report_.rows.size());
    for (const auto& [row, dispatch] : match.rows) {
      const double value = pass.value(dispatch, c);
      if (!std::isfinite(value)) continue;
      const bool first = measured.times[row]++ == 0;
      measured.sum[row] += value;
      measured.low[row] = first ? value : std::min(measured.low[row], value);
      measured.high[row] = first ? value : std::max(measured.high[row], value);
    }
  }
  for (const auto& [row, dispatch] : match.rows) ++matched_passes_[row];
}

std::vector<bool> Joining::compute_kernels(const CounterPass& pass) const {
  const KernelBook& book =
      options_.kernels != nullptr ? *options_.kernels : *KernelBook::built_in();
  std::vector<bool> computes;
  for (const std::string& name : pass.kernels) {
    // HIP's copy kernels appear as copies in a trace.
    const bool kernel = kind_of_hip_kernel(name) == ActivityKind::kKernel;
    computes.push_back(kernel && is_compute(book.classify(name)));
  }
  return computes;
}

Status Joining::add(const CounterPass& pass) {
  const std::vector<int64_t> devices = devices_in(pass);
  const std::vector<bool> computes = compute_kernels(pass);
  for (const auto& [gpu, side] : sides_) {
    ASSAY_TRY_ASSIGN(const int64_t device, device_for(pass, gpu, devices));
    Sequence items;
    for (size_t row = 0; row < pass.dispatches.size(); ++row) {
      const CounterDispatch& dispatch = pass.dispatches[row];
      const std::string& name = pass.kernels[dispatch.kernel];
      if (dispatch.device != device || !computes[dispatch.kernel]) continue;
      Item item;
      item.row = static_cast<uint32_t>(row);
      names_.fill(name, item);
      item.blocks = dispatch.blocks;
      item.threads = dispatch.threads_per_block;
      item.lane = dispatch.thread;
      items.push_back(item);
    }
    Attempt found = align_pass(side, items, pass, options_);
    ASSAY_TRY(check_rate(pass, found, options_));
    PassAlignment& facts = found.facts;
    facts.pass = pass.source;
    facts.format = pass.format;
    facts.gpu = gpu;
    facts.device = device;
    facts.kernels = found.match.trace_kernels;
    facts.pass_kernels = found.match.pass_kernels;
    facts.matched = found.match.rows.size();
    facts.match_rate = found.match.rate();
    facts.at_most = found.match.at_most;
    facts.counters = pass.counters;
    note_device(pass, device, gpu);
    take(pass, found.match);
    ++passes_of_gpu_[gpu];
    join_.passes.push_back(std::move(facts));
  }
  return Ok{};
}

void Joining::repeats() {
  for (const auto& [name, measured] : measured_) {
    CounterRepeat repeat{.counter = name};
    std::vector<double> spreads;
    for (size_t row = 0; row < measured.times.size(); ++row) {
      if (measured.times[row] < 2) continue;
      const double mean = measured.sum[row] / measured.times[row];
      const double range = measured.high[row] - measured.low[row];
      spreads.push_back(mean > 0 ? range / mean : (range > 0 ? 1.0 : 0.0));
    }
    if (spreads.empty()) continue;
    repeat.kernels = spreads.size();
    repeat.spread_max = *std::max_element(spreads.begin(), spreads.end());
    repeat.above_limit = static_cast<uint64_t>(std::count_if(
        spreads.begin(), spreads.end(), [](double spread) { return spread > kRepeatLimit; }));
    repeat.spread_median = median(std::move(spreads));
    join_.repeats.push_back(std::move(repeat));
  }
}

double Joining::weight_of(size_t row) const {
  for (const Measured* cycles : cycle_counters_) {
    const double value = value_of(*cycles, row);
    if (value > 0) return value;
  }
  return static_cast<double>(report_.rows[row].dur_ns());
}

// Assigns the FLOP of an operator's call to the longest kernel that it launched.
void Joining::flops(std::vector<double>& flop_of_row) const {
  std::vector<double> flop(trace_.ops.size(), kMissing);
  for (size_t i = 0; i < trace_.op_inputs.size(); ++i) {
    const OpId op = trace_.op_inputs.op[i];
    flop[op.index()] =
        matrix_flop(trace_.text(trace_.ops.name[op.index()]), trace_.text(trace_.op_inputs.dims[i]),
                    trace_.text(trace_.op_inputs.concrete[i]));
  }
  std::map<OpId, size_t> longest;
  for (size_t row = 0; row < report_.rows.size(); ++row) {
    const KernelLevel& level = report_.rows[row];
    if (!level.compute) continue;
    OpId op = links_.activity_op[level.activity.index()];
    while (op && std::isnan(flop[op.index()])) op = links_.op_parent[op.index()];
    if (!op) continue;
    const auto [found, is_new] = longest.try_emplace(op, row);
    if (!is_new && level.dur_ns() > report_.rows[found->second].dur_ns()) found->second = row;
  }
  flop_of_row.assign(report_.rows.size(), kMissing);
  for (const auto& [op, row] : longest) {
    double& sum = flop_of_row[row];
    sum = std::isnan(sum) ? flop[op.index()] : sum + flop[op.index()];
  }
}

void Joining::cells() {
  std::vector<double> flop_of_row;
  flops(flop_of_row);
  using Key = std::tuple<int64_t, int32_t, LevelPhase, int32_t, uint32_t, OpType>;
  std::map<Key, CounterCell> cells;
  for (size_t row = 0; row < report_.rows.size(); ++row) {
    const KernelLevel& level = report_.rows[row];
    if (!level.compute || level.window < 0) continue;
    const int32_t iter = report_.iterations[static_cast<size_t>(level.window)];
    const Key key(level.gpu, iter, level.phase, level.layer, level.op, level.op_type);
    const auto [found, is_new] = cells.try_emplace(key);
    CounterCell& cell = found->second;
    if (is_new) {
      std::tie(cell.gpu, cell.iter, cell.phase, cell.layer, cell.op, cell.op_type) = key;
      cell.values.assign(join_.counters.size(), 0);
    }
    ++cell.kernels;
    const uint64_t passes = passes_of_gpu_[level.gpu];
    if (passes > 0 && matched_passes_[row] == passes) ++cell.measured;
    cell.dur_ns += level.dur_ns();
    cell.overlap_ns += level.overlap_ns;
    const double flop = flop_of_row[row];
    if (!std::isnan(flop)) cell.flop = std::isnan(cell.flop) ? flop : cell.flop + flop;
    const double weight = weight_of(row);
    cell.weight += weight;
    size_t column = 0;
    for (const auto& [name, measured] : measured_) {
      cell.values[column++] += value_of(measured, row) * (is_ratio_counter(name) ? weight : 1);
    }
  }
  for (auto& [key, cell] : cells) join_.cells.push_back(std::move(cell));
}

void Joining::notes() {
  NoteList notes;
  uint64_t low = 0;
  uint64_t unmatched = 0;
  uint64_t absent = 0;
  uint64_t by_base = 0;
  uint64_t unshaped = 0;
  for (const PassAlignment& pass : join_.passes) {
    if (pass.match_rate < options_.warn_below) ++low;
    unmatched += pass.kernels - pass.matched;
    absent += pass.absent_kernels;
    by_base += pass.base_names ? 1 : 0;
    unshaped += pass.shapes ? 0 : 1;
  }
  notes.add("counters_low_match", low, 0, "waterfall,alignment",
            "counter runs that fit the trace at less than 99 % of its kernels: the model should be "
            "deterministic, so the two runs differ somewhere");
  notes.add("counters_unmatched", unmatched, 0, "waterfall",
            "kernels of the trace without a partner in a counter run: executions with one of them "
            "are in no waterfall");
  notes.add("counters_absent", absent, 0, "waterfall",
            "kernels with a name that a counter run lacks (--partial-counters): their operations "
            "have no waterfall");
  notes.add("counters_by_base_name", by_base, 0, "alignment",
            "counter runs that call kernels differently: matched on the function's name alone, "
            "template arguments ignored");
  notes.add("counters_without_shape", unshaped, 0, "alignment",
            "counter runs or traces without grid and block of every kernel: matched on names "
            "alone");
  uint64_t spread = 0;
  for (const CounterRepeat& repeat : join_.repeats) spread += repeat.above_limit;
  notes.add("counters_not_repeatable", spread, 0, "waterfall",
            "values that differ by more than 5 % between passes: the mean is used, and everything "
            "derived from it is as uncertain");
  join_.trust = notes.take();
}

CounterJoin Joining::finish() {
  for (const auto& [name, measured] : measured_) join_.counters.push_back(name);
  for (const char* name :
       {"GRBM_GUI_ACTIVE", "gpc__cycles_elapsed.max", "sm__cycles_elapsed.max"}) {
    const auto found = measured_.find(name);
    if (found != measured_.end()) cycle_counters_.push_back(&found->second);
  }
  repeats();
  cells();
  for (auto& [gpu, device] : devices_) join_.devices.push_back(std::move(device));
  notes();
  return std::move(join_);
}

}  // namespace

bool is_ratio_counter(std::string_view name) {
  for (const std::string_view part :
       {".pct", ".ratio", ".avg", ".max_rate", "_pct", ".per_second", ".per_cycle_"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  // rocprofv3's derived metrics with names that denote shares or averages.
  for (const std::string_view ending : {"Percent", "Util", "Utilization", "Busy", "Stalled", "Hit",
                                        "BankConflict", "PerWave", "Occupancy"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

Result<CounterJoin> join_counters(const Trace& trace, const Links& links, const Windows& windows,
                                  const BreakdownReport& report,
                                  const std::vector<CounterPass>& passes,
                                  const CounterOptions& options) {
  Joining joining(trace, links, windows, report, options);
  joining.list_gpus();
  ASSAY_TRY(joining.refuse_if_empty());
  std::vector<const CounterPass*> sorted;
  for (const CounterPass& pass : passes) sorted.push_back(&pass);
  std::stable_sort(sorted.begin(), sorted.end(), [](const CounterPass* a, const CounterPass* b) {
    return a->source < b->source;
  });
  for (const CounterPass* pass : sorted) ASSAY_TRY(joining.add(*pass));
  return joining.finish();
}

}  // namespace assay
