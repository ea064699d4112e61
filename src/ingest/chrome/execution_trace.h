#pragma once

// Reads the execution traces of PyTorch (docs/formats/execution_trace.md): what operators were
// called with, for profiler traces that were recorded without shapes.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace assay {

struct ExecutionTrace {
  // Inputs in the form of Kineto's arguments, as JSON: "Input Dims", "Input type" and so on.
  struct Node {
    std::string name, dims, types, strides, concrete;
  };
  std::unordered_map<uint64_t, Node> nodes;  // by record function id
  std::string pid;                           // of the process; empty if the file does not say
  uint64_t bad_nodes = 0;
};

Result<ExecutionTrace> read_execution_trace(const std::string& path);
Result<ExecutionTrace> parse_execution_trace(std::string_view text, const std::string& path);

}  // namespace assay
