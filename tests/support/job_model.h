#pragma once

// A job of any number of ranks whose truth is known, as rank records: what each rank's own clock
// would have shown. It shares nothing with src/job but the bytes of a record.
//
// Every rank visits the same meetings: per iteration all-reduces inside its node, reduce-scatters
// with the ranks of its place in the pod, one all-reduce over the pods.
//   arrival(v, m) = end(previous meeting of v) + work(v, m)
//   end(m)        = max of arrivals + transfer(m)
// Times are nanoseconds on the true clock until record() shows them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "job/record.h"

namespace assay::testing {

struct FleetFault {
  enum Kind : uint8_t {
    kSlowGpu,
    kSlowNode,
    kSlowPodLinks,
    kPauses,
    kFastClock,
    kAbsent,
    kBursts,
    kMovingNode,     // slow for `every` iterations, then the next node
    kSlowLarge,      // the pod's links for the second of its collectives, four times as large
    kEndsEarly,      // its record: a share of the iterations
    kAbsentRun,      // `every` ranks from `which` on
    kSameHost,       // all tell one host
    kHostPerRank,    // each tells another
    kWorldTold,      // every rank tells `which` ranks
    kWorldToldOnce,  // rank 0 tells `which` ranks, the others what is so
  };
  Kind kind = kSlowGpu;
  int64_t which = 0;  // rank, node or pod; of kAbsent the seed
  double size = 1;    // factor of work or transfer; seconds of a pause; ppm; share of absent ranks
  int64_t every = 1;  // of pauses: iterations
};

// A point that follows the one before it.
inline void add_point(RankFold& fold, FoldKind kind, int32_t iteration, int64_t work_ns,
                      FoldVector path) {
  const auto point = static_cast<uint32_t>(fold.points.size());
  fold.points.push_back({kind, iteration, fold.points.back().time_ns + path.sum_ns(), work_ns, 0,
                         static_cast<uint32_t>(fold.edges.size()),
                         static_cast<uint32_t>(fold.shares.size())});
  fold.edges.push_back({point - 1, path.device_ns > 0 ? point : kNoSegment,
                        path.host_ns > 0 ? point : kNoSegment,
                        static_cast<uint32_t>(fold.vectors.size()), 1});
  fold.vectors.push_back(path);
}

// The graph of a record whose collectives follow each other: before each the host does something,
// then a kernel runs. first_ns: when the rank began. Per collective: time of the host, elements.
inline void add_fold(RankRecord& made, int64_t first_ns, const std::vector<int64_t>& host_ns = {},
                     const std::vector<int64_t>& elements = {}) {
  RankFold& fold = made.fold;
  fold.numbered = true;
  fold.names = {"gemm"};
  for (const RecordGroup& group : made.groups) {
    fold.groups.push_back(
        {{group.name, group.members, group.kind, group.waits}, std::max<int64_t>(group.size, 0)});
  }
  const int32_t first = made.arrivals.empty() ? 0 : made.arrivals.front().iteration;
  fold.points.push_back({.kind = FoldKind::kHost, .iteration = first, .time_ns = first_ns});
  for (size_t k = 0; k < made.arrivals.size(); ++k) {
    const RecordArrival& one = made.arrivals[k];
    const int64_t own_ns = one.start_ns - fold.points.back().time_ns;
    const int64_t host = std::min(host_ns.empty() ? 0 : host_ns[k], own_ns);
    add_point(fold, FoldKind::kHost, one.iteration, host, {0, host, 0});
    add_point(fold, FoldKind::kKernel, one.iteration, own_ns - host, {own_ns - host, 0, 0});
    fold.points.back().kernels = 1;
    fold.shares.push_back({0, own_ns - host});
    add_point(fold, FoldKind::kBegin, one.iteration, 0, {});
    add_point(fold, FoldKind::kEnd, one.iteration, 0, {0, 0, one.end_ns - one.start_ns});
    const auto end = static_cast<uint32_t>(fold.points.size() - 1);
    fold.parts.push_back(
        {end - 1, end, one.group, one.seq, elements.empty() ? int64_t{-1} : elements[k]});
  }
}

class FleetModel {
 public:
  FleetModel(int64_t ranks, uint64_t seed, std::vector<FleetFault> faults, int64_t per_node = 8,
             int64_t nodes_per_pod = 16, int32_t iterations = 20, int tp = 8, int pod = 2)
      : ranks_(ranks),
        per_node_(per_node),
        nodes_per_pod_(nodes_per_pod),
        iterations_(iterations),
        seed_(seed),
        faults_(std::move(faults)) {
    for (int k = 0; k < tp / 2; ++k) kinds_.push_back(kTp);
    for (int k = 0; k < pod; ++k) kinds_.push_back(kPod);
    for (int k = 0; k < tp - tp / 2; ++k) kinds_.push_back(kTp);
    kinds_.push_back(kDp);
    make_truth();
  }

  int64_t ranks() const { return ranks_; }
  int64_t node_of(int64_t rank) const { return rank / per_node_; }
  int64_t pod_of(int64_t rank) const { return node_of(rank) / nodes_per_pod_; }
  int64_t span_ns() const { return span_of(work_, transfer_); }
  int64_t clock_offset_ns(int64_t rank) const { return offset_[at(rank)]; }
  bool is_absent(int64_t rank) const { return absent_[at(rank)]; }

  // What the span would lose if the own work of these ranks had been what it is without faults.
  int64_t saved_ns(const std::function<bool(int64_t)>& has) const {
    std::vector<int64_t> work = work_;
    for (size_t s = 0; s < steps(); ++s) {
      for (int64_t r = 0; r < ranks_; ++r) {
        int64_t& ns = work[s * at(ranks_) + at(r)];
        if (has(r)) ns = std::min(ns, middle_[s]);
      }
    }
    return span_ns() - span_of(work, transfer_);
  }

  std::string hosts() const {
    std::string text = "rank\tnode\tpod\n";
    for (int64_t r = 0; r < ranks_; ++r) {
      text += std::to_string(r) + "\tn" + std::to_string(node_of(r)) + "\tp" +
              std::to_string(pod_of(r)) + "\n";
    }
    return text;
  }

  // The record of a rank.
  std::string record(int64_t rank) const {
    SplitMix64 jitter(mix_seeds(seed_ + 1, static_cast<uint64_t>(rank)));
    RankRecord made;
    made.stamp = {"rank" + std::to_string(rank) + ".json", 1, 1, "model"};
    made.rank = rank;
    made.world_size = ranks_;
    made.window_source = "profiler_step";
    tell_identity(rank, made);
    for (const Kind kind : {kTp, kPod, kDp}) {
      made.groups.push_back({name_of(kind) + std::to_string(group_of(kind, rank)), "",
                             kind == kPod ? "reduce_scatter" : "all_reduce", size_of(kind, rank),
                             true});
    }
    const auto clock = [&](int64_t true_ns) -> int64_t {
      const double drift = drift_[at(rank)];
      return kEpochNs + true_ns + std::llround(static_cast<double>(true_ns) * drift) +
             offset_[at(rank)] + std::llround(jitter.normal() * 1000);
    };
    const int64_t first_ns = clock(0);
    int64_t last_end_ns = first_ns;
    std::vector<int64_t> host_ns;
    std::vector<int64_t> elements;
    for (size_t s = 0; s < steps_of(rank); ++s) {
      const int32_t iteration = static_cast<int32_t>(s / kinds_.size());
      const size_t k = s * at(ranks_) + at(rank);
      const int64_t start_ns = std::max(clock(arrival_[k]), last_end_ns);
      const int64_t end_ns = std::max(clock(end_[k]), start_ns + 1);
      made.arrivals.push_back({iteration, static_cast<uint32_t>(kinds_[s % kinds_.size()]), -1,
                               start_ns, end_ns, s == 0 ? -1 : start_ns - last_end_ns});
      host_ns.push_back(host_[k]);
      elements.push_back(int64_t{1} << elements_[s]);
      last_end_ns = end_ns;
    }
    add_fold(made, first_ns, host_ns, elements);
    add_iterations(rank, made);
    return record_bytes(made);
  }

 private:
  enum Kind : uint8_t { kTp, kPod, kDp };
  static constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;

  static size_t at(int64_t n) { return static_cast<size_t>(n); }
  size_t steps() const { return kinds_.size() * at(iterations_); }
  static std::string name_of(Kind kind) { return kind == kTp ? "tp" : kind == kPod ? "pod" : "dp"; }

  int64_t group_of(Kind kind, int64_t rank) const {
    const int64_t place = rank % per_node_;
    if (kind == kTp) return node_of(rank);
    if (kind == kPod) return pod_of(rank) * per_node_ + place;
    return pod_of(ranks_ - 1) > 0 ? rank % (per_node_ * nodes_per_pod_) : place;
  }
  int64_t size_of(Kind kind, int64_t rank) const { return sizes_.at({kind, group_of(kind, rank)}); }

  void tell_identity(int64_t rank, RankRecord& made) const {
    for (const FleetFault& fault : faults_) {
      if (fault.kind == FleetFault::kSameHost) made.host = "localhost";
      if (fault.kind == FleetFault::kHostPerRank) {
        made.host = std::to_string(mix_seeds(seed_, static_cast<uint64_t>(rank)) % 0xFFFFFFFF);
      }
      const bool told = fault.kind == FleetFault::kWorldTold ||
                        (fault.kind == FleetFault::kWorldToldOnce && rank == 0);
      if (told) made.world_size = fault.which;
    }
  }

  // As far as its record goes.
  size_t steps_of(int64_t rank) const {
    for (const FleetFault& fault : faults_) {
      if (fault.kind != FleetFault::kEndsEarly || fault.which != rank) continue;
      return kinds_.size() * static_cast<size_t>(fault.size * static_cast<double>(iterations_));
    }
    return steps();
  }

  void make_truth() {
    for (const Kind kind : {kTp, kPod, kDp}) {
      for (int64_t r = 0; r < ranks_; ++r) ++sizes_[{kind, group_of(kind, r)}];
    }
    SplitMix64 random(seed_);
    for (size_t s = 0; s < steps(); ++s) make_step(s, random);
    for (int64_t r = 0; r < ranks_; ++r) {
      offset_.push_back(std::llround(random.normal() * 2e6));
      drift_.push_back(random.normal() * 5e-6);
      absent_.push_back(false);
    }
    for (const FleetFault& fault : faults_) add_fault(fault);
    run(work_, transfer_, arrival_, end_);
  }

  void make_step(size_t s, SplitMix64& random) {
    const Kind kind = kinds_[s % kinds_.size()];
    const double base = kind == kTp ? 2e6 : kind == kPod ? 4e6 : 6e6;
    const double cost = kind == kTp ? 3e5 : kind == kPod ? 8e5 : 2e6;
    std::vector<int64_t> row;
    elements_.push_back(20);
    for (int64_t r = 0; r < ranks_; ++r) {
      const double kernels = base * std::exp(random.normal() * 0.01);
      const double host = -2e4 * std::log(1 - random.uniform());
      row.push_back(std::llround(kernels + host));
      host_.push_back(std::llround(host));
    }
    std::vector<int64_t> sorted = row;
    std::nth_element(sorted.begin(), sorted.begin() + ranks_ / 2, sorted.end());
    middle_.push_back(sorted[at(ranks_ / 2)]);
    work_.insert(work_.end(), row.begin(), row.end());
    std::map<int64_t, int64_t> of_group;
    for (int64_t r = 0; r < ranks_; ++r) {
      const auto [group, is_new] = of_group.try_emplace(group_of(kind, r), 0);
      if (is_new) group->second = std::llround(cost * std::exp(random.normal() * 0.02));
      transfer_.push_back(group->second);
    }
  }

  void add_fault(const FleetFault& fault) {
    for (size_t s = 0; s < steps(); ++s) {
      const auto iteration = static_cast<int64_t>(s / kinds_.size());
      for (int64_t r = 0; r < ranks_; ++r) {
        int64_t& work = work_[s * at(ranks_) + at(r)];
        int64_t& transfer = transfer_[s * at(ranks_) + at(r)];
        const bool slow = (fault.kind == FleetFault::kSlowGpu && r == fault.which) ||
                          (fault.kind == FleetFault::kSlowNode && node_of(r) == fault.which);
        const bool moved = fault.kind == FleetFault::kMovingNode &&
                           node_of(r) == fault.which + iteration / fault.every;
        if (slow || moved) work = std::llround(static_cast<double>(work) * fault.size);
        const bool in_pod = pod_of(r) == fault.which && kinds_[s % kinds_.size()] == kPod;
        const bool second = s % kinds_.size() > 0 && kinds_[s % kinds_.size() - 1] == kPod;
        if (fault.kind == FleetFault::kSlowLarge && second && kinds_[s % kinds_.size()] == kPod) {
          transfer *= 4;
          elements_[s] = 22;
        }
        const bool link = in_pod && (fault.kind == FleetFault::kSlowPodLinks ||
                                     (fault.kind == FleetFault::kSlowLarge && second));
        if (link) transfer = std::llround(static_cast<double>(transfer) * fault.size);
        const bool pause = fault.kind == FleetFault::kPauses && r == fault.which &&
                           s % kinds_.size() == 0 && iteration % fault.every == fault.every - 1;
        // Another step of each iteration.
        const bool burst = fault.kind == FleetFault::kBursts && r == fault.which &&
                           s % kinds_.size() == at(iteration * 7) % kinds_.size();
        if (pause || burst) {
          work += std::llround(fault.size * 1e9);
          host_[s * at(ranks_) + at(r)] += std::llround(fault.size * 1e9);
        }
      }
    }
    if (fault.kind == FleetFault::kFastClock) drift_[at(fault.which)] = fault.size * 1e-6;
    for (int64_t k = 0; fault.kind == FleetFault::kAbsentRun && k < fault.every; ++k) {
      absent_[at(fault.which + k)] = true;
    }
    if (fault.kind != FleetFault::kAbsent) return;
    SplitMix64 random(static_cast<uint64_t>(fault.which));
    for (int64_t r = 0; r < ranks_; ++r) absent_[at(r)] = random.chance(fault.size);
  }

  void run(const std::vector<int64_t>& work, const std::vector<int64_t>& transfer,
           std::vector<int64_t>& arrival, std::vector<int64_t>& end) const {
    arrival.resize(work.size());
    end.resize(work.size());
    std::vector<int64_t> now(at(ranks_), 0);
    for (size_t s = 0; s < steps(); ++s) {
      const Kind kind = kinds_[s % kinds_.size()];
      std::vector<int64_t> latest(at(ranks_), 0);  // by group: never more groups than ranks
      for (int64_t r = 0; r < ranks_; ++r) {
        const size_t k = s * at(ranks_) + at(r);
        arrival[k] = now[at(r)] + work[k];
        int64_t& last = latest[at(group_of(kind, r))];
        last = std::max(last, arrival[k]);
      }
      for (int64_t r = 0; r < ranks_; ++r) {
        const size_t k = s * at(ranks_) + at(r);
        now[at(r)] = end[k] = latest[at(group_of(kind, r))] + transfer[k];
      }
    }
  }

  int64_t span_of(const std::vector<int64_t>& work, const std::vector<int64_t>& transfer) const {
    std::vector<int64_t> arrival;
    std::vector<int64_t> end;
    run(work, transfer, arrival, end);
    return *std::max_element(end.end() - ranks_, end.end());
  }

  void add_iterations(int64_t rank, RankRecord& made) const {
    for (int32_t it = 0; at(it) * kinds_.size() < steps_of(rank); ++it) {
      RecordIteration one{.number = it};
      for (size_t s = at(it) * kinds_.size(); s < at(it + 1) * kinds_.size(); ++s) {
        one.kernel_ns += work_[s * at(ranks_) + at(rank)];
      }
      one.span_ns = one.kernel_ns;
      for (const FleetFault& fault : faults_) {
        const bool held = fault.which == rank && it % fault.every == fault.every - 1 &&
                          (fault.kind == FleetFault::kPauses || fault.kind == FleetFault::kBursts);
        if (held) one.kernel_ns -= std::llround(fault.size * 1e9);
      }
      one.collectives = kinds_.size();
      made.iterations.push_back(one);
    }
  }

  int64_t ranks_;
  int64_t per_node_;
  int64_t nodes_per_pod_;
  int32_t iterations_;
  uint64_t seed_;
  std::vector<FleetFault> faults_;
  std::vector<Kind> kinds_;  // of the meetings of an iteration
  std::map<std::pair<Kind, int64_t>, int64_t> sizes_;
  std::vector<int64_t> work_;  // step by step
  std::vector<int64_t> host_;  // of it, of the host
  std::vector<int> elements_;  // per step: log2 of those of its collective
  std::vector<int64_t> transfer_;
  std::vector<int64_t> middle_;  // usual work per step
  std::vector<int64_t> arrival_;
  std::vector<int64_t> end_;
  std::vector<int64_t> offset_;
  std::vector<double> drift_;
  std::vector<bool> absent_;
};

}  // namespace assay::testing
