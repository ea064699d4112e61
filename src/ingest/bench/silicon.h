#pragma once

// Special columns of the accuracy table of NVIDIA's AIConfigurator (silicon_sample.csv): the source
// of a row, the number of requests in flight, and layouts written as products.

#include <string>
#include <vector>

#include "ingest/bench/columns.h"
#include "records/bench_table.h"

namespace assay {

// Indices of its columns; -1 if missing.
struct SiliconColumns {
  int source = -1;
  int tensor = -1;
  int pipeline = -1;
  int data = -1;
  int moe_tensor = -1;
  int moe_expert = -1;
};
SiliconColumns silicon_columns(const std::vector<std::string>& header);

// Sets concurrency, date, devices and layout of a row of aggregated serving. Returns false if the
// row must be dropped because its concurrency is unknown.
bool settle_silicon_row(const SiliconColumns& columns, const std::vector<std::string>& cells,
                        BenchRow& row, OddityLog& log);

// The value of `name` in a text like "a=1; b=2"; empty if there is none.
std::string source_field(const std::string& text, const std::string& name);

// Splits a layout that is written as a product of attention and expert parallelism: tensor parallel
// 64 = 8 x 8 on a machine of eight devices. side: 8 in this example; 0 if the layout is as written.
enum class Square : uint8_t { kNone, kExperts, kReplicas };
struct SquaredLayout {
  uint32_t side = 0;
  Square kind = Square::kNone;
};
SquaredLayout squared_layout(uint32_t tensor, uint32_t data, uint32_t moe_tensor,
                             uint32_t moe_expert);

// Number of attention replicas of a row that lacks it (data = 0): attention and experts use the
// same devices, so tensor x data = moe_tensor x moe_expert. 1 if that has no integer solution.
uint32_t untold_replicas(uint32_t tensor, uint32_t data, uint32_t moe_tensor, uint32_t moe_expert);

}  // namespace assay
