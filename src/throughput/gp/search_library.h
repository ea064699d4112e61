#pragma once

// What libassay_search.so has inside: Ceres' search for a minimum, in a library of its own, because
// Ceres brings two dozen libraries along and one verb needs it. Plain C, so that either side may be
// built anew.

#include <cstddef>

extern "C" {

struct AssaySearchProblem {
  int parameters;
  int max_iterations;
  void* context;
  // The value at a place and, where gradient is not null, the slope; false: none can be had there.
  bool (*evaluate)(void* context, const double* at, double* value, double* gradient);
  // After each iteration; false ends the search with what there is.
  bool (*progress)(void* context, int iteration, double value);
};

struct AssaySearchFound {
  double value;
  int iterations;
  char message[256];  // why there is nothing to use
};

// Moves `at` to the minimum that is found from there; false where nothing usable was found.
typedef bool AssaySearchMinimum(const AssaySearchProblem* problem, double* at,
                                AssaySearchFound* found);
__attribute__((visibility("default"))) AssaySearchMinimum assay_search_minimum;

}  // extern "C"
