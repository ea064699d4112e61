#include "ingest/bench/silicon.h"

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/decimal.h"
#include "ingest/bench/date.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

constexpr uint64_t kLargestLayout = 100000;

const std::string* cell_of(const std::vector<std::string>& cells, int place) {
  return place >= 0 && static_cast<size_t>(place) < cells.size()
             ? &cells[static_cast<size_t>(place)]
             : nullptr;
}

// 0 if unknown.
uint32_t told_size(const std::vector<std::string>& cells, int place) {
  const std::string* cell = cell_of(cells, place);
  const auto size = cell != nullptr ? parse_cell(*cell, BenchRole::kDevices, 1) : std::nullopt;
  if (!size || !(size->value >= 1) || size->value > static_cast<double>(kLargestLayout)) return 0;
  return static_cast<uint32_t>(size->value);
}

// 1 if unknown.
uint32_t size_of(const std::vector<std::string>& cells, int place) {
  return std::max(told_size(cells, place), 1U);
}

// The folder of a collection, without the part of the path that names a user's machine:
// "…/b200_sxm/trtllm/1.3.0rc1/deepseek.csv" -> "b200_sxm/trtllm/1.3.0rc1".
std::string collection_of(const std::string& path) {
  constexpr size_t kParts = 3;
  const size_t file = path.rfind('/');
  if (file == std::string::npos) return {};
  size_t begin = file;
  for (size_t part = 0; part < kParts && begin != std::string::npos && begin > 0; ++part)
    begin = path.rfind('/', begin - 1);
  return path.substr(begin == std::string::npos ? 0 : begin + 1,
                     file - (begin == std::string::npos ? 0 : begin + 1));
}

void settle_layout(const SiliconColumns& columns, const std::vector<std::string>& cells,
                   BenchRow& row, OddityLog& log) {
  const uint32_t tensor = size_of(cells, columns.tensor);
  const uint32_t data = size_of(cells, columns.data);
  const uint32_t pipeline = size_of(cells, columns.pipeline);
  const uint32_t moe_tensor = size_of(cells, columns.moe_tensor);
  const uint32_t moe_expert = size_of(cells, columns.moe_expert);
  const uint32_t replicas =
      untold_replicas(tensor, told_size(cells, columns.data), moe_tensor, moe_expert);
  if (replicas > 1) {
    const ParallelLayout layout{
        .tensor = tensor, .pipeline = pipeline, .data = replicas, .expert = moe_expert};
    row.devices = layout.devices();
    row.variant.layout = layout;
    log.note("layout_by_experts", row.line, false,
             "the experts are split over more devices than tensor parallelism has, and data "
             "parallelism is not given: read as that many attention replicas");
    return;
  }
  const SquaredLayout square = squared_layout(tensor, data, moe_tensor, moe_expert);
  if (square.kind == Square::kNone) return;
  ParallelLayout layout{.pipeline = pipeline, .expert = square.side};
  (data > 1 ? layout.data : layout.tensor) = square.side;
  row.devices = layout.devices();
  row.variant.layout = layout;
  if (square.kind == Square::kExperts) {
    log.note("layout_squared", row.line, false,
             "tensor (or data) and expert parallelism span the same devices, and the table has "
             "their product: read as its square root (64 as 8 devices)");
    return;
  }
  log.warn(
      "layout_squared_by_speed", row.line, false,
      "equal tensor and data parallelism, experts split by their product: read as one group, by "
      "speed. Tokens/s per device are too high if it was tp x dp devices");
}

}  // namespace

SiliconColumns silicon_columns(const std::vector<std::string>& header) {
  SiliconColumns columns;
  const auto place = [&header](const char* title) {
    for (size_t i = 0; i < header.size(); ++i) {
      if (lower_trimmed(header[i]) == title) return static_cast<int>(i);
    }
    return -1;
  };
  columns.source = place("silicon_data_source");
  columns.tensor = place("tp_size");
  columns.pipeline = place("pp_size");
  columns.data = place("attention_dp_size");
  columns.moe_tensor = place("moe_tp_size");
  columns.moe_expert = place("moe_ep_size");
  return columns;
}

std::string source_field(const std::string& text, const std::string& name) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    const size_t first = text.find_first_not_of(' ', begin);
    const size_t equals = text.find('=', begin);
    if (first < end && equals < end && text.compare(first, equals - first, name) == 0)
      return text.substr(equals + 1, end - equals - 1);
    begin = end + 1;
  }
  return {};
}

SquaredLayout squared_layout(uint32_t tensor, uint32_t data, uint32_t moe_tensor,
                             uint32_t moe_expert) {
  const uint64_t product = static_cast<uint64_t>(tensor) * data;
  const auto side = static_cast<uint64_t>(std::llround(std::sqrt(static_cast<double>(product))));
  if (side <= 1 || side * side != product) return {};
  const auto width = static_cast<uint32_t>(side);
  if (moe_tensor == side && moe_expert == side) return {width, Square::kExperts};
  const bool replicas =
      tensor == side && data == side && static_cast<uint64_t>(moe_tensor) * moe_expert == product;
  return replicas ? SquaredLayout{width, Square::kReplicas} : SquaredLayout{};
}

uint32_t untold_replicas(uint32_t tensor, uint32_t data, uint32_t moe_tensor, uint32_t moe_expert) {
  const uint64_t experts = static_cast<uint64_t>(moe_tensor) * moe_expert;
  if (data > 0 || tensor == 0 || experts % tensor != 0) return 1;
  return static_cast<uint32_t>(experts / tensor);
}

bool settle_silicon_row(const SiliconColumns& columns, const std::vector<std::string>& cells,
                        BenchRow& row, OddityLog& log) {
  const std::string* source = cell_of(cells, columns.source);
  if (source == nullptr) {
    // The batch size is that of one attention replica.
    row.batch *= size_of(cells, columns.data);
    settle_layout(columns, cells, row, log);
    return true;
  }
  const auto in_flight =
      parse_cell(source_field(*source, "silicon_concurrency"), BenchRole::kBatch, 1);
  if (!in_flight || !(in_flight->value > 0)) {
    log.note(
        "concurrency_unknown", row.line, true,
        "dropped: the row has no concurrency, and its batch size is the engine's limit");
    return false;
  }
  row.batch = in_flight->value;
  if (row.date.empty()) row.date = date_of(source_field(*source, "measured"));
  const std::string collection = collection_of(source_field(*source, "source_file"));
  if (row.date.empty() && row.campaign.empty() && !collection.empty())
    row.campaign = campaign_name(row, collection);
  settle_layout(columns, cells, row, log);
  return true;
}

}  // namespace assay
