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

// Input over output length.
double ratio_of(const BenchRow& row);

// The range of a group of rows.
struct Reach {
  Range in_len, out_len, length, batch, devices, ratio;
  size_t rows = 0;
  void add(const BenchRow& row);
};

// Adds a reason if the value is beyond the range by more than the factor.
void note_beyond(const char* what, double value, const Range& range, double factor,
                 std::vector<std::string>& reasons);
// Distance from the range in doublings; 0 inside.
double doublings_beyond(double value, const Range& range);
// Returns true and adds a reason if all rows have one batch size and the point has another.
bool note_only_batch(double batch, const Range& range, std::vector<std::string>& reasons);
// Adds a reason if the ratio of lengths is outside that of the rows. If input and output lengths
// always have the same ratio, their separate costs cannot be learned.
void note_ratio(double ratio, const Range& range, std::vector<std::string>& reasons);

}  // namespace assay
