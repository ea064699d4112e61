#include "breakdown/ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "breakdown/arrivals.h"
#include "breakdown/token_groups.h"

namespace assay {
namespace {

// Minimum share of a GPU's kernel time for an operation to be reported as slow.
constexpr double kHeavyShare = 0.01;

std::string base_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Natural order: runs of digits compare as numbers, so rank_2 precedes rank_10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [&digit](const std::string& text, size_t& at) {
      size_t begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      while (begin + 1 < at && text[begin] == '0') ++begin;
      return text.substr(begin, at - begin);
    };
    const std::string x = number(a, i);
    const std::string y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

void sort_ranks(std::vector<RankLevels>& ranks) {
  std::sort(ranks.begin(), ranks.end(), [](const RankLevels& a, const RankLevels& b) {
    const int64_t x = a.rank.value_or(INT64_MAX);
    const int64_t y = b.rank.value_or(INT64_MAX);
    if (x != y) return x < y;
    const std::string name_a = base_name(a.file);
    const std::string name_b = base_name(b.file);
    if (name_a != name_b)
      return natural_less(name_a, name_b) || (!natural_less(name_b, name_a) && name_a < name_b);
    return a.file < b.file;
  });
}

std::vector<int64_t> devices_of(const BreakdownReport& report) {
  std::set<int64_t> devices;
  for (const LevelSpan& span : report.spans) devices.insert(span.gpu);
  return {devices.begin(), devices.end()};
}

// Per rank: device index -> GPU number of the job.
std::vector<std::map<int64_t, int64_t>> number_gpus(const std::vector<RankLevels>& ranks) {
  std::vector<std::map<int64_t, int64_t>> numbers(ranks.size());
  std::set<int64_t> seen;
  bool by_rank = ranks.size() > 1;
  for (const RankLevels& rank : ranks) {
    by_rank = by_rank && rank.rank && seen.insert(*rank.rank).second &&
              devices_of(rank.report).size() <= 1;
  }
  int64_t next = 0;
  for (size_t r = 0; r < ranks.size(); ++r) {
    for (int64_t device : devices_of(ranks[r].report)) {
      numbers[r][device] = ranks.size() == 1 ? device : by_rank ? *ranks[r].rank : next++;
    }
  }
  return numbers;
}

void add_placement(const PlacementStats& from, PlacementStats& to) {
  const auto add = [](const PlacementCount& a, PlacementCount& b) {
    b.activities += a.activities;
    b.dur_ns += a.dur_ns;
  };
  add(from.all, to.all);
  add(from.unplaced, to.unplaced);
  add(from.no_layer, to.no_layer);
  add(from.no_phase, to.no_phase);
  add(from.phase_by_name, to.phase_by_name);
  for (size_t i = 0; i < kPlacedBy; ++i) add(from.by[i], to.by[i]);
  for (size_t i = 0; i < kUnplacedReasons; ++i) add(from.reasons[i], to.reasons[i]);
  to.layers = std::max(to.layers, from.layers);
  if (to.layer_source.empty()) to.layer_source = from.layer_source;
  to.flows += from.flows;
  to.flows_compared += from.flows_compared;
  to.flows_agree += from.flows_agree;
}

// Layer stacks of all ranks, merged by name; a pipeline rank has only some of them.
class JobStacks {
 public:
  explicit JobStacks(const std::vector<RankLevels>& ranks) {
    for (const RankLevels& rank : ranks) {
      for (const LayerStack& stack : rank.report.stacks) {
        LayerStack& own = stacks_[find(stack.name)];
        own.places = std::max(own.places, stack.places);
        own.layers = std::max(own.layers, stack.layers);
      }
    }
    int32_t first = 0;
    for (LayerStack& stack : stacks_) {
      stack.first = first;
      first += stack.places;
    }
  }
  std::vector<int32_t> ids_of(const std::vector<LayerStack>& stacks) {
    std::vector<int32_t> ids;
    for (const LayerStack& stack : stacks) ids.push_back(static_cast<int32_t>(find(stack.name)));
    return ids;
  }
  // Job-wide number of a rank's layer.
  int32_t layer_of(const std::vector<LayerStack>& stacks, int32_t layer) {
    const int32_t stack = stack_of(stacks, layer);
    if (stack < 0) return layer;
    const LayerStack& from = stacks[static_cast<size_t>(stack)];
    return stacks_[find(from.name)].first + layer - from.first;
  }
  std::vector<LayerStack> take() { return std::move(stacks_); }

 private:
  size_t find(const std::string& name) {
    const auto found =
        std::find_if(stacks_.begin(), stacks_.end(),
                     [&name](const LayerStack& stack) { return stack.name == name; });
    if (found != stacks_.end()) return static_cast<size_t>(found - stacks_.begin());
    stacks_.push_back({name, 0, 0, 0});
    return stacks_.size() - 1;
  }
  std::vector<LayerStack> stacks_;
};

// Sorted operation names of the job.
class JobNames {
 public:
  explicit JobNames(const std::vector<RankLevels>& ranks) {
    std::set<std::string> all;
    for (const RankLevels& rank : ranks)
      all.insert(rank.report.op_names.begin(), rank.report.op_names.end());
    names_.assign(all.begin(), all.end());
  }
  std::vector<uint32_t> ids_of(const std::vector<std::string>& names) const {
    std::vector<uint32_t> ids;
    for (const std::string& name : names) {
      ids.push_back(static_cast<uint32_t>(std::lower_bound(names_.begin(), names_.end(), name) -
                                          names_.begin()));
    }
    return ids;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
};

void add_kernels(
    const BreakdownReport& report, const std::vector<uint32_t>& ids,
    const std::vector<int32_t>& stacks,
    std::map<std::tuple<LevelPhase, int32_t, uint32_t, std::string>, LevelSums>& kernels) {
  for (const LevelKernelCell& cell : report.kernels) {
    const int32_t stack =
        cell.stack == kNoStack ? kNoStack : stacks[static_cast<size_t>(cell.stack)];
    kernels[{cell.phase, stack, ids[cell.op], cell.kernel}].add(cell.sums);
  }
}

JobGpu total_of(const RankLevels& rank, int64_t device, int64_t gpu) {
  JobGpu total;
  total.gpu = gpu;
  total.rank = rank.rank;
  total.device = device;
  total.file = rank.file;
  for (const LevelSpan& span : rank.report.spans) {
    if (span.gpu != device) continue;
    total.compute.add(span.compute);
    total.comm_ns += span.comm_ns;
    total.exposed_comm_ns += span.exposed_comm_ns;
  }
  for (const GpuExtent& extent : rank.report.extents) {
    if (extent.gpu != device) continue;
    total.span_ns = extent.span_ns();
    total.comm_outside_ns = extent.comm_outside_ns;
    total.copy_outside_ns = extent.copy_outside_ns;
  }
  const LevelSums& sums = total.compute;
  total.closure_ns = total.span_ns - (sums.dur_ns - sums.concurrent_ns + sums.bubble_ns());
  return total;
}

double ratio(double value, double to) {
  return to > 0 ? value / to : std::numeric_limits<double>::quiet_NaN();
}

// Median of the values except one that equals `own`; NaN if there is no other.
double median_of_others(const std::vector<double>& sorted, double own) {
  const size_t others = sorted.size() - 1;
  if (others == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto place =
      static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), own) - sorted.begin());
  const auto other = [&](size_t k) { return sorted[k < place ? k : k + 1]; };
  return (other((others - 1) / 2) + other(others / 2)) / 2;
}

// Ratio of each GPU to the median of the others (Insight 3), in total and for its slowest
// operation. The GPU itself is excluded: with two GPUs, none could exceed a median that includes it
// by a factor of two.
void find_tails(JobLevels& job) {
  std::vector<double> durations;
  std::map<int64_t, double> total;
  for (const JobGpu& gpu : job.gpus) {
    durations.push_back(static_cast<double>(gpu.compute.dur_ns));
    total[gpu.gpu] = durations.back();
  }
  std::sort(durations.begin(), durations.end());
  std::map<uint32_t, std::map<int64_t, double>> by_op;
  for (const LevelCell& cell : job.cells) {
    if (cell.op_type == OpType::kComm || cell.op_type == OpType::kCopy) continue;
    by_op[cell.op][cell.gpu] += static_cast<double>(cell.sums.dur_ns);
  }
  std::map<uint32_t, std::vector<double>> sorted;
  for (const auto& [op, by_gpu] : by_op) {
    std::vector<double>& values = sorted[op];
    for (const auto& [gpu, dur_ns] : by_gpu) values.push_back(dur_ns);
    std::sort(values.begin(), values.end());
  }
  for (JobGpu& gpu : job.gpus) {
    const double own_ns = total[gpu.gpu];
    gpu.compute_ratio = ratio(own_ns, median_of_others(durations, own_ns));
    gpu.slowest_op_ratio = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [op, by_gpu] : by_op) {
      const auto own = by_gpu.find(gpu.gpu);
      if (own == by_gpu.end() || own->second < kHeavyShare * own_ns) continue;
      const double above = ratio(own->second, median_of_others(sorted[op], own->second));
      if (std::isnan(above) || above <= gpu.slowest_op_ratio) continue;
      gpu.slowest_op = job.op_names[op];
      gpu.slowest_op_ratio = above;
    }
  }
}

// Adds the counters of one rank, with the job's GPU and operation numbers. Counters that this rank
// did not measure are NaN in its cells.
void add_counters(const RankLevels& rank, const std::vector<uint32_t>& ids,
                  const std::map<int64_t, int64_t>& numbers, const std::vector<std::string>& names,
                  CounterJoin& job) {
  for (PassAlignment pass : rank.counters.passes) {
    pass.gpu = numbers.at(pass.gpu);
    job.passes.push_back(std::move(pass));
  }
  job.repeats.insert(job.repeats.end(), rank.counters.repeats.begin(), rank.counters.repeats.end());
  for (CounterDevice device : rank.counters.devices) {
    device.device = numbers.at(device.device);
    job.devices.push_back(std::move(device));
  }
  for (CounterCell cell : rank.counters.cells) {
    cell.gpu = numbers.at(cell.gpu);
    cell.op = ids[cell.op];
    std::vector<double> values(names.size(), std::numeric_limits<double>::quiet_NaN());
    for (size_t i = 0; i < cell.values.size(); ++i) {
      const auto at = std::lower_bound(names.begin(), names.end(), rank.counters.counters[i]);
      values[static_cast<size_t>(at - names.begin())] = cell.values[i];
    }
    cell.values = std::move(values);
    job.cells.push_back(std::move(cell));
  }
}

// Merges the repeats of one counter over ranks; the largest median is kept, as the worst case.
void merge_repeats(CounterJoin& counters) {
  std::map<std::string, CounterRepeat> merged;
  for (const CounterRepeat& repeat : counters.repeats) {
    const auto [found, is_new] = merged.try_emplace(repeat.counter, repeat);
    if (is_new) continue;
    found->second.kernels += repeat.kernels;
    found->second.above_limit += repeat.above_limit;
    found->second.spread_median = std::max(found->second.spread_median, repeat.spread_median);
    found->second.spread_max = std::max(found->second.spread_max, repeat.spread_max);
  }
  counters.repeats.clear();
  for (auto& [name, repeat] : merged) counters.repeats.push_back(std::move(repeat));
}

std::vector<std::string> counter_names(const std::vector<RankLevels>& ranks) {
  std::set<std::string> names;
  for (const RankLevels& rank : ranks) {
    names.insert(rank.counters.counters.begin(), rank.counters.counters.end());
  }
  return {names.begin(), names.end()};
}

void add_notes(const std::vector<RankLevels>& ranks, JobLevels& job) {
  std::map<std::string, TrustNote> merged;
  uint64_t without_counters = 0;
  for (const RankLevels& rank : ranks) {
    without_counters += rank.counters.empty() ? 1 : 0;
    for (const TrustNotes* notes : {&rank.report.trust, &rank.counters.trust}) {
      for (const TrustNote& note : *notes) {
        const auto [found, is_new] = merged.try_emplace(note.what, note);
        if (is_new) continue;
        found->second.count += note.count;
        found->second.time_ns += note.time_ns;
      }
    }
  }
  if (!job.counters.empty() && without_counters > 0) {
    merged["ranks_without_counters"] = {
        "ranks_without_counters", without_counters, 0, "waterfall",
        "ranks of the trace without a counter run: they are in no waterfall"};
  }
  for (auto& [what, note] : merged) job.trust.push_back(std::move(note));
  int64_t world_size = 0;
  std::set<int64_t> seen;
  for (const RankLevels& rank : ranks) {
    if (rank.world_size) world_size = std::max(world_size, *rank.world_size);
    if (rank.rank) seen.insert(*rank.rank);
  }
  const auto missing =
      static_cast<uint64_t>(std::max<int64_t>(world_size - static_cast<int64_t>(seen.size()), 0));
  if (ranks.size() > 1 && missing > 0 && !seen.empty()) {
    job.trust.push_back(
        {"missing_ranks", missing, 0, "alignment,arrivals",
         std::to_string(missing) + " of " + std::to_string(world_size) +
             " ranks are not in this set: one of them may be the straggler"});
  }
  if (job.alignment.unmatched > 0) {
    job.trust.push_back({"collectives_unmatched", job.alignment.unmatched, 0, "alignment,arrivals",
                         "collectives with a number or order that differs between ranks: left out "
                         "of arrival comparisons"});
  }
}

}  // namespace

RankLevels summarize_rank(const Trace& trace, int64_t named_rank, BreakdownReport report) {
  RankLevels rank;
  rank.file = trace.source;
  rank.rank = trace.distributed.rank;
  if (!rank.rank && named_rank >= 0) rank.rank = named_rank;
  rank.world_size = trace.distributed.world_size;
  report.rows = {};
  rank.report = std::move(report);
  return rank;
}

RankLevels rank_outline(const RankLevels& rank) {
  std::map<std::tuple<int64_t, uint32_t, OpType>, LevelSums> sums;
  for (const LevelCell& cell : rank.report.cells) {
    sums[{cell.gpu, cell.op, cell.op_type}].add(cell.sums);
  }
  RankLevels outline{rank.file, rank.rank, rank.world_size, {}, {}};
  const BreakdownReport& from = rank.report;
  BreakdownReport& to = outline.report;
  to.definition = from.definition;
  to.op_names = from.op_names;
  for (const auto& [key, sum] : sums) {
    LevelCell cell;
    std::tie(cell.gpu, cell.op, cell.op_type) = key;
    cell.sums = sum;
    to.cells.push_back(cell);
  }
  to.spans = from.spans;
  to.extents = from.extents;
  to.idle_ns = from.idle_ns;
  to.groups = from.groups;
  to.collectives = from.collectives;
  to.window_source = from.window_source;
  to.window_evidence = from.window_evidence;
  to.placement = from.placement;
  to.trust = from.trust;
  return outline;
}

JobLevels combine_ranks(std::vector<RankLevels> ranks) {
  sort_ranks(ranks);
  JobLevels job;
  job.ranks = ranks.size();
  if (!ranks.empty()) {
    job.definition = ranks.front().report.definition;
    job.window_source = ranks.front().report.window_source;
    job.window_evidence = ranks.front().report.window_evidence;
  }
  const auto numbers = number_gpus(ranks);
  job.counters.counters = counter_names(ranks);
  const std::vector<size_t> groups = token_groups(ranks);
  JobNames names(ranks);
  JobStacks stacks(ranks);
  std::map<std::tuple<LevelPhase, int32_t, uint32_t, std::string>, LevelSums> kernels;
  size_t spans = 0;
  for (const RankLevels& rank : ranks) spans += rank.report.spans.size();
  job.spans.reserve(spans);
  for (size_t r = 0; r < ranks.size(); ++r) {
    const BreakdownReport& report = ranks[r].report;
    const std::vector<uint32_t> ids = names.ids_of(report.op_names);
    for (LevelCell cell : report.cells) {
      cell.gpu = numbers[r].at(cell.gpu);
      cell.op = ids[cell.op];
      cell.layer = stacks.layer_of(report.stacks, cell.layer);
      job.cells.push_back(cell);
    }
    for (LevelSpan span : report.spans) {
      span.gpu = numbers[r].at(span.gpu);
      job.spans.push_back(span);
    }
    for (const auto& [device, gpu] : numbers[r]) {
      job.gpus.push_back(total_of(ranks[r], device, gpu));
      job.gpus.back().token_group = numbers[groups[r]].begin()->second;
    }
    add_kernels(report, ids, stacks.ids_of(report.stacks), kernels);
    add_placement(report.placement, job.placement);
    for (size_t c = 0; c < job.idle_ns.size(); ++c) job.idle_ns[c] += report.idle_ns[c];
    add_counters(ranks[r], ids, numbers[r], job.counters.counters, job.counters);
  }
  merge_repeats(job.counters);
  job.op_names = names.take();
  job.stacks = stacks.take();
  std::sort(job.cells.begin(), job.cells.end(), [](const LevelCell& a, const LevelCell& b) {
    return std::tie(a.gpu, a.iter, a.phase, a.layer, a.op, a.op_type) <
           std::tie(b.gpu, b.iter, b.phase, b.layer, b.op, b.op_type);
  });
  for (const auto& [key, sums] : kernels) {
    const auto& [phase, stack, op, kernel] = key;
    job.kernels.push_back({phase, stack, op, kernel, sums});
  }
  job.iterations = job_iterations(job.spans, job.gpus);
  find_tails(job);
  align_ranks(ranks, numbers, job);
  add_notes(ranks, job);
  return job;
}

}  // namespace assay
