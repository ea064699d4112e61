#pragma once

// Greedy order of what-if edits: each saves most on top of those before it; ties go to the first.

#include <cstdint>
#include <span>
#include <vector>

#include "flow/gain_finder.h"

namespace assay {

// One edit to order.
struct OrderedLever {
  const Edit* edit = nullptr;
  std::vector<uint32_t> slots = {};  // LagEditor::touched() of the edit alone
  int64_t alone_ns = 0;              // time saved by it alone
};

struct TakenLever {
  size_t lever = 0;
  int64_t more_ns = 0;  // time saved on top of those before it
};

// Stops at the first edit that saves less than least_ns. threads: used to evaluate edits; does not
// change the result.
std::vector<TakenLever> order_levers(const GainFinder& finder, std::span<const OrderedLever> levers,
                                     int64_t least_ns, unsigned threads);

}  // namespace assay
