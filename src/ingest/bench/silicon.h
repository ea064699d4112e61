#pragma once

// What the accuracy table of NVIDIA's AIConfigurator (silicon_sample.csv) says in a way of its own:
// where a row is from, how many requests were in flight, and layouts written as products.

#include <string>
#include <vector>

#include "ingest/bench/columns.h"
#include "records/bench_table.h"

namespace assay {

// Places of its columns; -1: the table has none.
struct SiliconColumns {
  int source = -1;
  int tensor = -1;
  int pipeline = -1;
  int data = -1;
  int moe_tensor = -1;
  int moe_expert = -1;
};
SiliconColumns silicon_columns(const std::vector<std::string>& header);

// Completes a row of aggregated serving: requests in flight, date, devices and layout. False: it is
// dropped, since nobody knows how many requests ran.
bool settle_silicon_row(const SiliconColumns& columns, const std::vector<std::string>& cells,
                        BenchRow& row, OddityLog& log);

// "a=1; b=2": the value of a name; empty where there is none.
std::string source_field(const std::string& text, const std::string& name);

// Devices along which attention and experts were both split, where the table has their product: 8
// for tensor parallel 64 = 8 x 8 on a machine of eight. 0: the layout is as it says.
enum class Square : uint8_t { kNone, kExperts, kReplicas };
struct SquaredLayout {
  uint32_t side = 0;
  Square kind = Square::kNone;
};
SquaredLayout squared_layout(uint32_t tensor, uint32_t data, uint32_t moe_tensor,
                             uint32_t moe_expert);

// Attention replicas of a row that does not tell them (data = 0): attention and experts span the
// same devices, tensor x data = moe_tensor x moe_expert. 1 where the product is no multiple.
uint32_t untold_replicas(uint32_t tensor, uint32_t data, uint32_t moe_tensor, uint32_t moe_expert);

}  // namespace assay
