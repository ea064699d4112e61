#pragma once

// Parses workloads: "gemm:2048:bf16", "copy:1GiB", "all_reduce:512MB" or "60*gemm:2048 ,
// 1*gemm:8192".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

enum class WorkloadKind : uint8_t {
  kGemm,          // gemm:N or gemm:MxNxK [:dtype]
  kGemv,          // gemv:N or gemv:MxK [:dtype]; N x 1 output
  kCopy,          // copy:BYTES, device to device
  kTriad,         // triad:BYTES, a = b + s c over three arrays of BYTES each
  kAllReduce,     // all_reduce:BYTES[:dtype], over all GPUs; BYTES on each before and after
  kAllGather,     // all_gather:BYTES[:dtype]; BYTES on each after, an equal part of it before
  kSharedObject,  // so:FILE:symbol, void symbol(void* stream)
  kCudaSource,    // cu:FILE:kernel, compiled at run time, launched without arguments
  kHipSource,     // hip:FILE:kernel
  kCommand,       // cmd:COMMAND LINE, one process per execution
};

enum class DataType : uint8_t { kF16, kBf16, kF32, kF64 };
std::string_view data_type_name(DataType type);
int64_t data_type_bytes(DataType type);

struct Workload {
  WorkloadKind kind = WorkloadKind::kGemm;
  std::string text;  // as typed
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  DataType type = DataType::kBf16;
  int64_t array_bytes = 0;  // copy and triad: one array; collectives: the part of each GPU
  std::string file;         // so, cu, hip
  std::string symbol;       // so, cu, hip
  std::string command;      // cmd
  double flop = 0;          // per execution; NaN = not known
  double bytes = 0;         // moved at least, per execution; NaN = not known
};

bool is_collective(WorkloadKind kind);

struct WorkloadStep {
  uint32_t count = 1;
  Workload workload;
};

Result<Workload> parse_workload(std::string_view text);
// Steps in order; the last one is the one that is profiled, and its count is 1 unless it is alone.
Result<std::vector<WorkloadStep>> parse_workload_list(std::string_view text);

}  // namespace assay
