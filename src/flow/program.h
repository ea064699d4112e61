#pragma once

// Identifies the recorded program: engine, trainer, libraries and framework, from names in the
// trace and data/tables/programs.tsv.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace assay {

// The framework or runtime, for message texts.
enum class ProgramKind : uint8_t { kUnknown, kPyTorch, kJax, kTensorFlow, kCuda, kHip, kSycl };

// Outermost first: a user who configures an engine does not edit the model.
enum class ProgramLayer : uint8_t { kEngine, kTrainer, kLibrary, kParallel, kFramework };
inline constexpr size_t kProgramLayers = 5;
std::string_view program_layer_name(ProgramLayer layer);  // "engine", as in the table and in JSON

// The trace tables with names that identify programs.
enum class ProgramTable : uint8_t { kFrames, kOps, kLabels, kKernels, kThreads };
inline constexpr size_t kProgramTables = 5;

// A program identified by names in the trace.
struct ProgramSeen {
  std::string_view key;   // "vllm"
  std::string_view name;  // "vLLM"
  ProgramLayer layer = ProgramLayer::kFramework;
  uint64_t weight = 0;                               // sum of the weights of matching rules
  std::array<uint64_t, kProgramTables> names{};      // distinct matching names, by table
  uint64_t all_names() const;
};

struct Program {
  ProgramKind kind = ProgramKind::kUnknown;
  bool hip = false;   // HIP API calls
  bool cuda = false;  // CUDA API calls and no HIP ones
  bool mpi = false;   // MPI calls
  bool trains = false;  // trains: has gradients or an optimizer
  // The best match of each layer, outermost first; all libraries and all kinds of parallelism.
  std::vector<ProgramSeen> seen = {};

  bool uses(std::string_view key) const;
  // The engine; null if none was identified.
  const ProgramSeen* engine() const;
};
Program program_of(const Trace& trace);

// True if the name contains one of the texts separated by `|`. A text must start at a word
// boundary, with `^` at the begin of the name. `~` matches one or more digits.
bool matches_program(std::string_view alternatives, std::string_view name);

}  // namespace assay
