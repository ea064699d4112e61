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
  kAttention,  // one or two of them make a layer
  kOptimizer,  // ends a training step
  kReadback,   // a copy to the host: a result is looked at
};

// One kernel, copy or fill of the sequence.
struct SequenceItem {
  uint32_t token = 0;  // equal numbers, equal names; numbered from 0 without holes
  WorkRole role = WorkRole::kPlain;
  bool begins = true;  // false: inside one launch (a graph), where no iteration may begin
  int64_t gap_ns = 0;  // idle time before it
  int64_t dur_ns = 0;
};

// Evidence that a period is an iteration and not a layer.
enum class PeriodEvidence : uint8_t {
  kOptimizer,  // each holds one step of an optimizer
  kLayers,     // each holds a block that repeats, and other work around it
  kReadback,   // each copies a result to the host
  kPause,      // each follows a gap of many times its length
  kWhole,      // the sequence is nothing but this period, from its first item to its last; with
               // products in it, whole ones alone
};
std::string_view period_evidence_words(PeriodEvidence evidence);

struct Period {
  size_t begin = 0;  // items [begin, end)
  size_t end = 0;
};
struct Periods {
  std::vector<Period> periods;  // in order, disjoint; at least 3
  PeriodEvidence evidence = PeriodEvidence::kWhole;
  size_t items = 0;    // of the typical period
  double alike = 0;    // lowest share of names that a period has in common with the typical one
  size_t outside = 0;  // items in none: a warm-up, an evaluation, what is cut at the ends
};

// The iterations of a sequence. Nothing where it is not clear that what repeats is one: no period
// is better than a wrong one.
std::optional<Periods> find_periods(const std::vector<SequenceItem>& items);

}  // namespace assay
