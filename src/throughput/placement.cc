#include "throughput/placement.h"

#include <algorithm>
#include <cmath>

#include "base/decimal.h"

namespace assay {
namespace {

constexpr double kUsedShare = 0.9;
constexpr double kWeightsWithBuffers = 1.03;
constexpr double kBytesOf16Bits = 2;

// llama.cpp splits a model by layers, and its batch size is not a number of sequences.
bool splits_by_layers(const BenchRow& row) { return row.framework == "llama.cpp"; }

double tensor_parallel_of(const BenchRow& row) {
  if (splits_by_layers(row)) return 1;
  return row.variant.layout ? row.variant.layout->tensor : row.devices;
}

bool is_whole(double value) { return value == std::floor(value); }

bool divide(double a, double b) { return std::fmod(a, b) == 0; }

void note_heads(const BenchRow& row, const ModelFacts& model, std::vector<std::string>& problems) {
  const double parts = tensor_parallel_of(row);
  // A user's variant ("TP = 2, EP = 2") says that the model is not split over all devices.
  const bool told_otherwise = !row.variant.layout && !row.variant.words.empty() &&
                              row.variant.words.find("TP") != std::string::npos;
  if (parts <= 1 || told_otherwise || !(model.heads > 0)) return;
  if (!divide(model.heads, parts)) {
    problems.push_back("tensor parallel " + rounded_text(parts) + " does not divide " +
                       rounded_text(model.heads) + " attention heads");
    return;
  }
  const double kv = model.kv_heads;
  if (is_whole(kv) && kv > 0 && !divide(kv, parts) && !divide(parts, kv)) {
    problems.push_back("tensor parallel " + rounded_text(parts) + " and " + rounded_text(kv) +
                       " heads of keys and values do not divide each other");
  }
}

}  // namespace

double kv_copies(const BenchRow& row, const ModelFacts& model) {
  return model.kv_heads > 0 ? std::max(1.0, tensor_parallel_of(row) / model.kv_heads) : 1.0;
}

Placement placement_of(const BenchRow& row, const ModelFacts& model,
                       const HardwareFacts& hardware) {
  Placement out;
  out.tensor_parallel = tensor_parallel_of(row);
  out.weights_gb = row.precision.weight_bytes * model.parameters_b;
  out.memory_gb = row.devices * hardware.memory_gb;
  out.sequence_gb = model.kv_gb_per_token() * row.precision.kv_bytes / kBytesOf16Bits *
                    kv_copies(row, model) * (row.in_len + row.out_len);
  out.free_gb = kUsedShare * out.memory_gb - kWeightsWithBuffers * out.weights_gb;
  out.seats = std::floor(out.free_gb / out.sequence_gb);
  return out;
}

std::vector<std::string> placement_problems(const BenchRow& row, const ModelFacts& model,
                                            const HardwareFacts& hardware) {
  std::vector<std::string> problems;
  const Placement placement = placement_of(row, model, hardware);
  const auto gb = [](double value) { return rounded_text(value, 4) + " GB"; };
  if (placement.weights_gb > placement.memory_gb) {
    problems.push_back("weights " + gb(placement.weights_gb) + " do not fit " +
                       gb(placement.memory_gb));
  } else if (placement.weights_gb + placement.sequence_gb > placement.memory_gb) {
    problems.push_back("weights " + gb(placement.weights_gb) +
                       " leave no room for the keys and values of one sequence, " +
                       gb(placement.sequence_gb) + ", in " + gb(placement.memory_gb));
  }
  note_heads(row, model, problems);
  return problems;
}

}  // namespace assay
