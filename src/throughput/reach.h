#pragma once

// How far the rows of a table reach, and how a point lies beyond them.

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

// How far the rows of some group reach.
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
// What a prompt costs against an answer cannot be learnt where the two always go together.
void note_ratio(double ratio, const Range& range, std::vector<std::string>& reasons);

}  // namespace assay
