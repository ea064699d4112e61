#include "findings/advice.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "base/tab_table.h"

namespace assay {

// The contents of data/tables/advice.tsv at build time.
std::string_view advice_text();

namespace findings {
namespace {

struct Condition {
  std::string_view word;
  bool (*holds)(const RunFacts& f);
};

template <KernelKind... kinds>
bool leads(const RunFacts& f) {
  return ((f.kernel_kind == kinds) || ...);
}
template <StretchUnit unit>
bool is_unit(const RunFacts& f) {
  return f.unit == unit;
}

const Condition kConditions[] = {
    {"no graphs", [](const RunFacts& f) { return f.evidence.graph_work_ns * 10 < f.evidence.work_ns; }},
    {"prefill", is_unit<StretchUnit::kPrefill>},
    {"decode", is_unit<StretchUnit::kDecode>},
    {"mixed step", is_unit<StretchUnit::kMixed>},
    {"training", [](const RunFacts& f) { return f.program.trains; }},
    {"inference", [](const RunFacts& f) { return !f.program.trains; }},
    {"data parallel", [](const RunFacts& f) { return f.program.uses("ddp") || f.program.uses("fsdp") || f.program.uses("fsdp1"); }},
    {"optimizer", [](const RunFacts& f) { return f.host_range.starts_with("Optimizer.step"); }},
    {"one executable", [](const RunFacts& f) { return f.one_executable; }},
    {"cuda", [](const RunFacts& f) { return f.program.cuda; }},
    {"hip", [](const RunFacts& f) { return f.program.hip; }},
    {"other device", [](const RunFacts& f) { return !f.program.cuda && !f.program.hip; }},
    {"single process loader",
     [](const RunFacts& f) {
       return f.input.loader.find("_utils/fetch.py") != std::string::npos ||
              f.input.loader.find("SingleProcessDataLoader") != std::string::npos;
     }},
    {"loader",
     [](const RunFacts& f) {
       return f.input.loader.find("dataloader.py") != std::string::npos ||
              f.input.loader.find("DataLoader") != std::string::npos;
     }},
    {"pipeline",
     [](const RunFacts& f) { return f.input.loader.find("pipelines/") != std::string::npos; }},
    {"launches block", [](const RunFacts& f) { return f.launches_block; }},
    {"several processes", [](const RunFacts& f) { return f.evidence.processes > 1; }},
    {"falls back", [](const RunFacts& f) { return f.attention_falls_back; }},
    {"managed memory",
     [](const RunFacts& f) {
       return std::max(f.evidence.migration_ns, f.gpu_fault_ns) * 10 >= f.window_ns;
     }},
    {"attention leads", leads<KernelKind::kAttention>},
    {"gemm leads", leads<KernelKind::kGemm>},
    {"conv leads", leads<KernelKind::kConv>},
    {"channels first", [](const RunFacts& f) { return f.longest_of_kind.find("nhwc") == std::string::npos; }},
    // cuDNN and MIOpen convert tensors before and after a convolution that uses another layout.
    {"layouts lead",
     [](const RunFacts& f) {
       constexpr std::string_view kConversions[] = {"nchwToNhwc", "nhwcToNchw", "NchwToNhwc", "NhwcToNchw",
                                                    "batched_transpose", "tensorTransformGeneric"};
       return leads<KernelKind::kCopy>(f) &&
              std::any_of(std::begin(kConversions), std::end(kConversions), [&f](std::string_view name) {
                return f.longest_of_kind.find(name) != std::string::npos;
              });
     }},
    {"dequantize leads", [](const RunFacts& f) { return f.longest_of_kind.find("equantize") != std::string::npos; }},
    {"optimizer leads", leads<KernelKind::kOptimizer>},
    {"small kernels lead", leads<KernelKind::kElementwise, KernelKind::kNorm, KernelKind::kSoftmax,
                                 KernelKind::kReduce, KernelKind::kCopy, KernelKind::kQuantize>},
    {"not compiled", [](const RunFacts& f) { return !f.compiled; }},
    {"library", [](const RunFacts& f) { return f.kind_by_library; }},
    {"no library", [](const RunFacts& f) { return !f.kind_by_library; }},
    // An unknown device may have FP8 units.
    {"fp8 units", [](const RunFacts& f) { return !f.matrix_types.known || f.matrix_types.fp8; }},
    {"no fp8 units", [](const RunFacts& f) { return f.matrix_types.known && !f.matrix_types.fp8; }},
    {"bf16 units", [](const RunFacts& f) { return f.matrix_types.bf16; }},
    {"tf32 units", [](const RunFacts& f) { return f.matrix_types.tf32; }},
    {"operators", [](const RunFacts& f) { return f.has_ops; }},
    {"nsys", [](const RunFacts& f) { return f.tracer == Tracer::kNsightSystems; }},
    {"rocprof", [](const RunFacts& f) { return f.program.hip && !f.has_ops; }},
    {"launches recorded", [](const RunFacts& f) { return f.linked_share >= kLeastLinked; }},
};

const Condition* condition_of(std::string_view word) {
  const auto at = std::find_if(std::begin(kConditions), std::end(kConditions),
                               [word](const Condition& one) { return one.word == word; });
  return at == std::end(kConditions) ? nullptr : at;
}

bool all_hold(const Advice& advice, const RunFacts& f) {
  return std::all_of(advice.when.begin(), advice.when.end(),
                     [&f](std::string_view word) { return holds(word, f); });
}

// Programs to look up in the table, outermost first.
std::vector<std::string_view> programs_of(const Program& program) {
  std::vector<std::string_view> programs;
  if (const ProgramSeen* engine = program.engine()) return {engine->key, "engine", "any"};
  for (const ProgramSeen& one : program.seen) programs.push_back(one.key);
  if (program.kind == ProgramKind::kCuda) programs.push_back("cuda");
  if (program.kind != ProgramKind::kPyTorch && program.hip) programs.push_back("hip");
  programs.push_back("any");
  return programs;
}

}  // namespace

std::span<const Advice> all_advice() {
  static const std::vector<Advice> rows = [] {
    std::vector<Advice> read;
    for (const auto& row : tab_rows(advice_text(), 6)) {
      read.push_back({row[0], list_parts(row[1], ','), row[2], row[3], row[4], row[5]});
    }
    return read;
  }();
  return rows;
}

bool is_condition(std::string_view word) { return condition_of(word) != nullptr; }

bool holds(std::string_view word, const RunFacts& facts) {
  const Condition* condition = condition_of(word);
  return condition != nullptr && condition->holds(facts);
}

const Advice* advice_for(std::string_view cause, const RunFacts& facts) {
  for (const std::string_view program : programs_of(facts.program)) {
    for (const Advice& advice : all_advice()) {
      if (advice.cause == cause && advice.program == program && all_hold(advice, facts)) {
        return &advice;
      }
    }
  }
  return nullptr;
}

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// A text that kernel filters of profilers match in the name of the leading kernel: they search for
// a part of the function's name. Empty if the name is not an identifier.
std::string_view kernel_filter(const RunFacts& facts) {
  constexpr size_t kMost = 28;  // keeps a command within a line
  const std::string_view name = facts.longest_function;
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return plain ? name.substr(0, kMost) : std::string_view();
}

}  // namespace

void fill_advice(const Advice& advice, const RunFacts& facts, Finding& finding) {
  std::string text(advice.code);
  replace_all(text, "\\n", "\n");
  const std::string_view filter = kernel_filter(facts);
  if (!filter.empty()) replace_all(text, "KERNEL", filter);
  finding.text("code", std::move(text)).text("source", std::string(advice.source));
  for (const ProgramSeen& one : facts.program.seen) {
    const bool configured = one.layer == ProgramLayer::kEngine || one.layer == ProgramLayer::kTrainer;
    if (configured && one.key == advice.program) finding.text("program", std::string(one.name));
  }
}

}  // namespace findings
}  // namespace assay
