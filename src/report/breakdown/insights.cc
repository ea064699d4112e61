#include "report/breakdown/insights.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "report/breakdown/results.h"
#include "report/document/columns.h"
#include "text/units.h"

namespace assay {
namespace {

std::string time_of(double ns) { return format_ns(std::llround(ns)); }
std::string signed_time(double ns) { return (ns > 0 ? "+" : "") + time_of(ns); }
std::string signed_points(double share) { return fmt::format("{:+.1f}", 100 * share); }
std::string in_config(const Insight& one) { return one.config.empty() ? "" : " in " + one.config; }

std::string iterations_of(const Insight& one) {
  std::string own = format_counted(one.n, "iteration", "iterations");
  if (one.other.empty()) return own;
  if (one.n == one.other_n) return own + " each";
  return fmt::format("{} and {} iterations", one.n, one.other_n);
}

std::string time_change(const Insight& one) {
  return fmt::format("{} to {} at 95 %; {}", signed_time(one.low), signed_time(one.high),
                     iterations_of(one));
}

std::string point_change(const Insight& one) {
  return fmt::format("{} to {} points at 95 %; {}", signed_points(one.low), signed_points(one.high),
                     iterations_of(one));
}

std::string faster_words(const Insight& one) {
  return fmt::format(
      "{} takes less time with more work: {} per iteration in {}, {} in {} ({}). But {} processes "
      "{:.1f} times the tokens, and products take {:.1f} times as long.",
      one.of, time_of(one.to), one.other, time_of(one.from), one.config, time_change(one),
      one.other, one.share, one.beside_to);
}

std::string collective_words(const Insight& one) {
  return fmt::format(
      "The growth of {} from {} to {} is not its transfer. The median goes from {} to {} ({}), as "
      "the iteration grows by {}. The minimum stays: {} and {}.",
      one.of, one.config, one.other, time_of(one.from), time_of(one.to), time_change(one),
      format_share(one.share), time_of(one.beside_from), time_of(one.beside_to));
}

std::string overlap_over_gpus_words(const Insight& one) {
  return fmt::format(
      "GPUs that overlap {}{} more with collectives take longer: {} at {} on GPU {}, {} at {} on "
      "GPU {}. Correlation: {:.2f} over {} GPUs ({:.2f} to {:.2f} at 95 %).",
      one.of, in_config(one), time_of(one.beside_from), format_share(one.from), one.gpu_from,
      time_of(one.beside_to), format_share(one.to), one.gpu_to, one.share, one.n, one.low,
      one.high);
}

std::string overlap_share_words(const Insight& one) {
  return fmt::format(
      "With more work, less of the kernel time overlaps with collectives: {} in {}, {} in {} ({}).",
      format_share(one.from), one.config, format_share(one.to), one.other, point_change(one));
}

std::string ends_words(const Insight& one) {
  return fmt::format(
      "{} of the time without compute kernels{} is before the first or in the optimizer ({} to {} "
      "at 95 %; {}). {} of that is collective wait, a late host at most {}.",
      format_share(one.from), in_config(one), format_share(one.low), format_share(one.high),
      iterations_of(one), format_share(one.share), format_share(1 - one.share));
}

std::string launch_words(const Insight& one) {
  return fmt::format(
      "Launch overhead weighs less with more work: {} of the kernel time in {}, {} in {} ({}).",
      format_share(one.from), one.config, format_share(one.to), one.other, point_change(one));
}

std::string cores_words(const Insight& one) {
  return fmt::format(
      "{:.0f} logical cores are active{} where {:.1f} would do: {:.1f} to {:.1f} times as many at "
      "95 % ({} samples). {} of the physical cores are ever used.",
      one.from, in_config(one), one.to, one.low, one.high,
      format_count(static_cast<int64_t>(one.n)), format_share(one.share));
}

std::string frequency_words(const Insight& one) {
  if (!one.other.empty()) {
    return fmt::format(
        "From {} to {}, frequency is the overhead that falls most: {} to {} per execution, {} of "
        "the whole fall, over {}.",
        one.config, one.other, time_of(one.from), time_of(one.to), format_share(one.share),
        format_counted(one.n, "operation", "operations"));
  }
  return fmt::format(
      "Clocks below the peak cost most{}: {} of the {} that matrix products and attention take "
      "above their time at peak. They cost most in {:.0f} of {}.",
      in_config(one), time_of(one.from), time_of(one.to), one.share,
      format_counted(one.n, "operation", "operations"));
}

std::string sentence_of(const Insight& one) {
  using Words = std::string (*)(const Insight&);
  constexpr Words kWords[] = {faster_words,        collective_words, overlap_over_gpus_words,
                              overlap_share_words, ends_words,       launch_words,
                              cores_words,         frequency_words};
  return kWords[one.number - 1](one);
}

bool same_statement(const Insight& a, const Insight& b) {
  return a.number == b.number && a.other.empty() && b.other.empty();
}

std::string source_of(const Insight& one) {
  return fmt::format("Chopper, Insight {}, Figure {}", one.number, one.figure);
}

}  // namespace

std::vector<std::string> insight_words(const std::vector<Insight>& insights) {
  std::vector<std::string> words;
  const Insight* said = nullptr;
  std::string also;
  const auto close = [&] {
    if (said == nullptr) return;
    std::string end = also.empty() ? "" : " Likewise" + also + ".";
    words.push_back(fmt::format("{}{} ({})", sentence_of(*said), end, source_of(*said)));
  };
  for (const Insight& one : insights) {
    if (one.state != InsightState::kHolds) continue;
    if (said != nullptr && same_statement(*said, one)) {
      also += (also.empty() ? " " : ", ") + one.config;
      continue;
    }
    close();
    said = &one;
    also.clear();
  }
  close();
  return words;
}

Prose insight_reasons(const std::vector<Insight>& insights) {
  Prose reasons{.paragraphs = {}, .bullets = true, .show = Show::kReadersOnly};
  std::map<std::tuple<int, InsightState, std::string>, std::string> configs;
  for (const Insight& one : insights) {
    if (one.state == InsightState::kHolds) continue;
    std::string& names = configs[{one.number, one.state, one.why}];
    const std::string pair = one.other.empty() ? one.config : one.config + " and " + one.other;
    if (!pair.empty()) names += (names.empty() ? "" : ", ") + pair;
  }
  for (const auto& [key, names] : configs) {
    const auto& [number, state, why] = key;
    reasons.paragraphs.push_back(
        fmt::format("Insight {} of Chopper {}{}: {}", number,
                    state == InsightState::kNot ? "is not seen" : "is not known",
                    names.empty() ? "" : " (" + names + ")", why));
  }
  return reasons;
}

Table insights_table(const std::vector<Insight>& insights) {
  const auto number = [](double Insight::*field) {
    return [field](const Insight& one) { return one.*field; };
  };
  TableOf table(insights, {.key = "insights",
                           .title = "Chopper's eight Insights, by these numbers",
                           .show = Show::kDataOnly});
  table.add(keys::insight, &Insight::number)
      .add(keys::figure, &Insight::figure)
      .add(keys::insight_state, [](const Insight& one) { return insight_state_name(one.state); })
      .add(keys::config, &Insight::config)
      .add(keys::other_config, &Insight::other)
      .add(keys::insight_of, &Insight::of)
      .add(keys::why_not, [](const Insight& one) { return one.why; })
      .add(keys::insight_from, number(&Insight::from))
      .add(keys::insight_to, number(&Insight::to))
      .add(keys::low, number(&Insight::low))
      .add(keys::high, number(&Insight::high))
      .add(keys::insight_n, &Insight::n)
      .add(keys::other_n, &Insight::other_n)
      .add(keys::beside_from, number(&Insight::beside_from))
      .add(keys::beside_to, number(&Insight::beside_to))
      .add(keys::insight_beside, number(&Insight::share), Show::kDataOnly);
  return table;
}

}  // namespace assay
