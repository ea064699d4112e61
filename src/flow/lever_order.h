#pragma once

// In which order to take levers: each the one that gives most on top of those before it, of equal
// ones the first.

#include <cstdint>
#include <span>
#include <vector>

#include "flow/gain_finder.h"

namespace assay {

// What is asked of one lever, in the order in which they were tried.
struct OrderedLever {
  const Edit* edit = nullptr;
  std::vector<uint32_t> slots = {};  // that it touches
  int64_t alone_ns = 0;              // what the run becomes shorter by with it alone
};

struct TakenLever {
  size_t lever = 0;
  int64_t more_ns = 0;  // of the run, on top of those before it
};

// While they give least_ns. threads: to look at levers in; the answer is the same.
std::vector<TakenLever> order_levers(const GainFinder& finder, std::span<const OrderedLever> levers,
                                     int64_t least_ns, unsigned threads);

}  // namespace assay
