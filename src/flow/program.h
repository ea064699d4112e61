#pragma once

// The program that was recorded: the engine, trainer, libraries and framework that its names show, by
// data/tables/programs.tsv.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace assay {

// The framework or runtime, for the words of a sentence.
enum class ProgramKind : uint8_t { kUnknown, kPyTorch, kJax, kTensorFlow, kCuda, kHip, kSycl };

// The outermost first: who configures an engine edits no model.
enum class ProgramLayer : uint8_t { kEngine, kTrainer, kLibrary, kParallel, kFramework };
inline constexpr size_t kProgramLayers = 5;
std::string_view program_layer_name(ProgramLayer layer);  // "engine", as in the table and in JSON

// The tables of names that show a program.
enum class ProgramTable : uint8_t { kFrames, kOps, kLabels, kKernels, kThreads };
inline constexpr size_t kProgramTables = 5;

// One program that names of a trace show.
struct ProgramSeen {
  std::string_view key;   // "vllm"
  std::string_view name;  // "vLLM"
  ProgramLayer layer = ProgramLayer::kFramework;
  uint64_t weight = 0;                               // of the tables that show it
  std::array<uint64_t, kProgramTables> names{};      // distinct names by table
  uint64_t all_names() const;
};

struct Program {
  ProgramKind kind = ProgramKind::kUnknown;
  bool hip = false;   // its calls are AMD's
  bool cuda = false;  // or NVIDIA's; of other vendors neither
  bool mpi = false;   // it calls MPI
  bool trains = false;  // gradients or an optimizer
  // One of each layer, the outermost layer first; of libraries and of kinds of parallelism all.
  std::vector<ProgramSeen> seen = {};

  bool uses(std::string_view key) const;
  // The engine; null where none is seen.
  const ProgramSeen* engine() const;
};
Program program_of(const Trace& trace);

// True for a name with one of the texts between `|`. A text begins where a word begins, with `^` at the begin of the
// name alone. `~` is one or more digits.
bool matches_program(std::string_view alternatives, std::string_view name);

}  // namespace assay
