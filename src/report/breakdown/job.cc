#include "report/breakdown/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/stats.h"
#include "text/units.h"

namespace assay {
namespace {

// Kernel times with a smaller relative difference are considered equal.
constexpr double kEqualWithin = 0.05;
// A GPU's launch overhead is reported if its share of the span is at least kHostBehindTimes the
// median of the other GPUs, and at least kHostBehindShare.
constexpr double kHostBehindTimes = 1.5;
constexpr double kHostBehindShare = 0.05;
constexpr size_t kHostsNamed = 3;

struct GpuShare {
  int64_t gpu = 0;
  int64_t time_ns = 0;
  double share = 0;  // of the GPU's span
};

GpuShare share_of_span(const JobGpu& gpu, int64_t time_ns) {
  const auto span = static_cast<double>(std::max<int64_t>(gpu.span_ns, 1));
  return {gpu.gpu, time_ns, static_cast<double>(time_ns) / span};
}

bool less_share(const GpuShare& a, const GpuShare& b) { return a.share < b.share; }

std::string place_words(const GpuShare& one) {
  return fmt::format("{} on GPU {}, {} of its span", format_ns(one.time_ns), one.gpu,
                     format_share(one.share));
}

// The last to arrive, by the largest share; nullptr if no collective is matched.
const Arrivals* straggler(const JobLevels& job) {
  const auto last = std::max_element(
      job.arrivals.begin(), job.arrivals.end(),
      [](const Arrivals& a, const Arrivals& b) { return a.last_margin_ns < b.last_margin_ns; });
  return last == job.arrivals.end() ? nullptr : &*last;
}

// True if the delay of the last GPU may be an error of the alignment.
bool clocks_explain(const JobLevels& job, const Arrivals& last) {
  const auto times = static_cast<double>(std::max<uint64_t>(last.last, 1));
  return static_cast<double>(last.last_margin_ns) < job.alignment.residual_p95_ns * times;
}

std::string range_words(const std::string& what, const std::vector<GpuShare>& waits) {
  const auto [least, most] = std::minmax_element(waits.begin(), waits.end(), less_share);
  return fmt::format("{} takes from {} to {}.", what, place_words(*least), place_words(*most));
}

std::string wait_words(const JobLevels& job) {
  const Arrivals* last = straggler(job);
  std::vector<GpuShare> waits;
  // Wait times that do not need aligned clocks.
  if (last == nullptr || clocks_explain(job, *last)) {
    int64_t waited_ns = 0;
    for (const JobGpu& gpu : job.gpus) {
      waits.push_back(share_of_span(gpu, gpu.compute.comm_wait_ns));
      waited_ns += gpu.compute.comm_wait_ns;
    }
    return waited_ns == 0 ? "" : range_words("Waiting for collectives", waits);
  }
  std::map<int64_t, const JobGpu*> gpus;
  for (const JobGpu& gpu : job.gpus) gpus[gpu.gpu] = &gpu;
  for (const Arrivals& one : job.arrivals) {
    const auto found = gpus.find(one.gpu);
    if (found != gpus.end()) waits.push_back(share_of_span(*found->second, one.waited_ns));
  }
  return waits.empty() ? "" : range_words("Waiting for the last to arrive", waits);
}

std::string compute_words(const JobLevels& job) {
  const auto slowest = std::max_element(
      job.gpus.begin(), job.gpus.end(),
      [](const JobGpu& a, const JobGpu& b) { return a.compute.dur_ns < b.compute.dur_ns; });
  double furthest = 0;
  for (const JobGpu& gpu : job.gpus) furthest = std::max(furthest, std::abs(gpu.compute_ratio - 1));
  if (!std::isfinite(slowest->compute_ratio)) return "";
  if (furthest < kEqualWithin) {
    return fmt::format("Compute kernels take the same time on every GPU, within {}.",
                       format_share(furthest));
  }
  const bool two = job.gpus.size() == 2;
  std::string words =
      fmt::format("GPU {} computes longest, {:.2f} times the {}", slowest->gpu,
                  slowest->compute_ratio, two ? "other GPU" : "median of the other GPUs");
  if (!slowest->slowest_op.empty() && std::isfinite(slowest->slowest_op_ratio)) {
    words += fmt::format("; furthest above the {} in {} ({:.2f} times)", two ? "other" : "others",
                         slowest->slowest_op, slowest->slowest_op_ratio);
  }
  return words + ".";
}

// Median share of all GPUs except `count` starting at `first`; NaN if none remain.
double median_without(const std::vector<GpuShare>& gpus, size_t first, size_t count) {
  std::vector<double> shares;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (i < first || i >= first + count) shares.push_back(gpus[i].share);
  }
  return median(std::move(shares));
}

std::string host_words(const JobLevels& job) {
  std::vector<GpuShare> overheads;
  for (const JobGpu& gpu : job.gpus) {
    overheads.push_back(share_of_span(gpu, gpu.compute.launch_ns));
  }
  std::stable_sort(overheads.begin(), overheads.end(),
                   [](const GpuShare& a, const GpuShare& b) { return less_share(b, a); });
  std::string behind;
  size_t count = 0;
  for (const GpuShare& one : overheads) {
    const double others = median_without(overheads, count, 1);
    if (one.share < kHostBehindShare || !(one.share >= kHostBehindTimes * others)) break;
    if (++count > kHostsNamed) continue;
    behind +=
        fmt::format("{}GPU {} ({}{})", count > 1 ? ", " : "", one.gpu, format_share(one.share),
                    count > 1 ? "" : " of its span is launch overhead");
  }
  if (count == 0) return "";
  if (count > kHostsNamed) behind += fmt::format(" and {} more", count - kHostsNamed);
  return fmt::format(
      "The host is late on {}; {} {}.", behind,
      overheads.size() - count == 1 ? "the other has" : "the median of the others is",
      format_share(median_without(overheads, 0, count)));
}

// Why waits between ranks are unknown.
std::string unaligned_words(const Alignment& alignment) {
  if (alignment.matched == 0) {
    return "No collective is matched over these ranks: who waits for whom is not known.";
  }
  std::string kinds;
  for (const std::string& kind : alignment.unused_kinds) {
    kinds += (kinds.empty() ? "" : ", ") + kind;
  }
  const bool one = alignment.matched == 1;
  return fmt::format(
      "{} matched, but the clocks could not be aligned on {} because a rank may leave {} ({}) "
      "before all arrive. Which rank waits for which is not known.",
      format_counted(alignment.matched, "collective is", "collectives are"), one ? "it" : "them",
      one ? "it" : "these", kinds);
}

bool computes(const JobLevels& job) {
  return std::any_of(job.gpus.begin(), job.gpus.end(),
                     [](const JobGpu& gpu) { return gpu.compute.kernels > 0; });
}

}  // namespace

bool is_one_job(const JobLevels& job) {
  if (job.ranks < 2 || !computes(job)) return false;
  std::map<int64_t, std::string> files;  // by rank
  bool all_told = true;
  for (const JobGpu& gpu : job.gpus) {
    all_told = all_told && gpu.rank.has_value();
    if (!gpu.rank) continue;
    if (files.try_emplace(*gpu.rank, gpu.file).first->second != gpu.file) return false;
  }
  return job.alignment.matched > 0 || (all_told && files.size() == job.ranks);
}

std::string straggler_words(const JobLevels& job) {
  const Arrivals* last = straggler(job);
  if (last == nullptr) return is_one_job(job) ? unaligned_words(job.alignment) : "";
  if (last->last_margin_ns == 0) return "No single GPU arrives last at collectives.";
  std::string words = fmt::format(
      "GPU {} arrives last by most: at {} of {} collectives, {} after the second to last.",
      last->gpu, last->last, last->collectives, format_ns(last->last_margin_ns));
  if (clocks_explain(job, *last)) {
    return words + fmt::format(" That is no more than the clocks' residual ({} at p95) explains.",
                               format_ns(static_cast<int64_t>(job.alignment.residual_p95_ns)));
  }
  return words + " Two stragglers hide each other here; assay report has the straggler analysis.";
}

std::vector<std::string> job_words(const JobLevels& job) {
  std::vector<std::string> words;
  if (!is_one_job(job)) return words;
  const std::string unaligned = straggler(job) == nullptr ? unaligned_words(job.alignment) : "";
  for (std::string sentence : {unaligned, wait_words(job), compute_words(job), host_words(job)}) {
    if (!sentence.empty()) words.push_back(std::move(sentence));
  }
  return words;
}

}  // namespace assay
