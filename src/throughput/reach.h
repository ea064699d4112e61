#pragma once

// The range of a table's rows, and the ways in which a point lies outside it.

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "records/bench_table.h"

namespace assay {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  void add(double value);
};

// Of input over output tokens.
double ratio_of(const BenchRow& row);

// The range of a group of rows.
struct Reach {
  Range in_len, out_len, length, batch, devices, ratio;
  size_t rows = 0;
  void add(const BenchRow& row);
};

// A reason where the value lies beyond the range by more than the factor.
void note_beyond(const char* what, double value, const Range& range, double factor,
                 std::vector<std::string>& reasons);
// By how many doublings the value lies beyond the range; 0 inside.
double doublings_beyond(double value, const Range& range);
// True and a reason where all rows have one batch size, and the point another.
bool note_only_batch(double batch, const Range& range, std::vector<std::string>& reasons);
// If prompt and answer lengths always have the same ratio, their separate costs cannot be learned.
void note_ratio(double ratio, const Range& range, std::vector<std::string>& reasons);

}  // namespace assay
