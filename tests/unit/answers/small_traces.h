#pragma once

// Traces small enough to work their answers out by hand, as files; and looking into Documents.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "support/scratch.h"

namespace assay::testing {

inline std::string in_repository(const std::string& path) {
  return std::string(ASSAY_SOURCE_DIR) + "/" + path;
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// One operator from 0 to 20 us, its launch call from 5 to 10 us, its kernel from 12 us on. So the
// launch takes 7 us until its start, and the whole 12 us more than the kernel.
inline std::string one_kernel_trace(int kernel_us, int rank = -1, int world_size = 0) {
  std::string text = R"({"schemaVersion": 1, )";
  if (rank >= 0) {
    text += R"("distributedInfo": {"backend": "nccl", "rank": )" + std::to_string(rank) +
            R"(, "world_size": )" + std::to_string(world_size) + "}, ";
  }
  return text + R"("traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 20,
   "args": {"External id": 3}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5,
   "dur": 5, "args": {"correlation": 7, "External id": 3}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 12, "dur": )" +
         std::to_string(kernel_us) + R"(,
   "args": {"correlation": 7, "device": 0, "stream": 7, "External id": 3}}]}
)";
}

// A folder of files that goes when the test ends.
struct Folder {
  explicit Folder(const std::string& name) : scratch("_" + name) {
    std::filesystem::create_directories(scratch.path);
  }
  std::string add(const std::string& name, const std::string& text) const {
    const std::string path = scratch.path + "/" + name;
    write_text(path, text);
    return path;
  }

  Scratch scratch;
};

inline TraceRequest traces_at(std::vector<std::string> inputs) {
  TraceRequest request;
  request.inputs = std::move(inputs);
  return request;
}

inline std::vector<std::string> keys_of(const std::vector<Section>& sections) {
  std::vector<std::string> keys;
  for (const Section& section : sections) keys.push_back(section.key);
  return keys;
}

// The block of that kind and key; fails the test where there is none.
template <typename BlockKind>
const BlockKind& block_of(const std::vector<Section>& sections, const std::string& key) {
  for (const Section& section : sections) {
    for (const Block& block : section.blocks) {
      const auto* found = std::get_if<BlockKind>(&block);
      if (found != nullptr && found->key == key) return *found;
    }
  }
  ADD_FAILURE() << "no block " << key;
  static const BlockKind none;
  return none;
}

inline int64_t integer_of(const std::vector<Item>& items, const std::string& key) {
  for (const Item& item : items) {
    if (item.key == key && item.value.get<int64_t>() != nullptr) return *item.value.get<int64_t>();
  }
  ADD_FAILURE() << "no whole number " << key;
  return -1;
}

}  // namespace assay::testing
