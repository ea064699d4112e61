#pragma once

// Interface of libassay_search.so, which contains the minimum search of Ceres. It is a separate
// library because Ceres needs two dozen libraries and only one verb uses it. Plain C, so that
// either side can be rebuilt alone.

#include <cstddef>

extern "C" {

struct AssaySearchProblem {
  int parameters;
  int max_iterations;
  void* context;
  // The value at a point, and the gradient unless it is null. Returns false if the point has no
  // value.
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
