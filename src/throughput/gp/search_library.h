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
  // Computes the value at a point, and the gradient unless it is null. Returns false if the point
  // has no value.
  bool (*evaluate)(void* context, const double* at, double* value, double* gradient);
  // Called after each iteration. If it returns false, the search ends with the current result.
  bool (*progress)(void* context, int iteration, double value);
};

struct AssaySearchFound {
  double value;
  int iterations;
  char message[256];  // of the solver; the reason if the result is unusable
};

// Moves `at` to a minimum, starting from its value. Returns false if no usable one was found.
typedef bool AssaySearchMinimum(const AssaySearchProblem* problem, double* at,
                                AssaySearchFound* found);
__attribute__((visibility("default"))) AssaySearchMinimum assay_search_minimum;

}  // extern "C"
