#pragma once

// The input of assay-replay, which `assay replay` writes from a kernel database: one record per
// line, fields separated by tabs. The format is simple so that the program needs nothing but
// libtorch.
//
//   assay-replay-job  1
//   warmups  W        runs  R        device  cpu|cuda        entry_seconds  S
//   entry    number   operator       elements                list type      inputs (-1 = unknown)
//   input    type     dims           strides                 has value (0, 1)    value
//
// In the fields %, tab and line ends are written as %25, %09, %0A, %0D. dims and strides are JSON:
// an array of integers, for a list of tensors an array of arrays.

#include <cstdint>
#include <string>
#include <vector>

namespace assay::replay {

using Shape = std::vector<int64_t>;

// Sizes or strides of one input: of a tensor, or of each tensor of a list.
struct Shapes {
  bool told = false;
  bool nested = false;
  std::vector<Shape> shapes;  // one unless nested
};

struct RecordedInput {
  std::string type;  // the profiler's name: "float", "c10::BFloat16", "Scalar", "TensorList"
  Shapes dims;
  Shapes strides;
  bool value_told = false;
  std::string value;  // "1", "0.5", "True", "[1, 2]"
};

struct JobEntry {
  int64_t number = 0;
  std::string op;         // "aten::add"
  int64_t elements = 0;   // of each tensor if no inputs were recorded: threads of the launch
  std::string list_type;  // element type of tensor lists, which profilers do not record
  bool inputs_told = false;
  std::vector<RecordedInput> inputs;
};

struct Job {
  int64_t warmups = 50;
  int64_t runs = 150;
  double entry_seconds = 20;
  std::string device = "cpu";
  std::vector<JobEntry> entries;
};

// Throws std::runtime_error with the line number.
Job read_job(const std::string& path);

}  // namespace assay::replay
