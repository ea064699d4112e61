#pragma once

// Iterations without host events: repeated sequences of GPU activities.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay {

// Role of a GPU activity in an iteration, by its name.
enum class WorkRole : uint8_t {
  kPlain,
  kHeavy,      // matrix products, convolutions
  kAttention,  // one or two per layer
  kOptimizer,  // ends a training step
  kReadback,   // a copy of a result to the host
};

// One kernel, copy or fill.
struct SequenceItem {
  uint32_t token = 0;  // number of its name; numbered from 0 without gaps
  WorkRole role = WorkRole::kPlain;
  bool begins = true;  // false: inside a graph launch, where no iteration may begin
  int64_t gap_ns = 0;  // idle time before it
  int64_t dur_ns = 0;
};

// Evidence that a period is an iteration and not a layer.
enum class PeriodEvidence : uint8_t {
  kOptimizer,  // each has one optimizer step
  kLayers,     // each has a repeated block and other activities around it
  kReadback,   // each copies a result to the host
  kPause,      // each follows an idle gap of many times its length
  kWhole,      // the whole sequence is repeats of the period; with matrix products, only complete
               // ones
};
std::string_view period_evidence_words(PeriodEvidence evidence);

struct Period {
  size_t begin = 0;  // items [begin, end)
  size_t end = 0;
};
struct Periods {
  std::vector<Period> periods;  // sorted, disjoint; at least 3
  PeriodEvidence evidence = PeriodEvidence::kWhole;
  size_t items = 0;    // length of the typical period
  double alike = 0;    // lowest share of names that a period shares with the typical one
  size_t outside = 0;  // items in no period: warm-up, evaluation, incomplete periods at the ends
};

// Finds the iterations of a sequence. nullopt unless it is clear that the repeated part is an
// iteration: no period is better than a wrong one.
std::optional<Periods> find_periods(const std::vector<SequenceItem>& items);

}  // namespace assay
