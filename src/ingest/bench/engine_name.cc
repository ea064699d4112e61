#include "ingest/bench/engine_name.h"

#include "base/ascii.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

std::string compared(const std::string& name) {
  std::string key = name_key(name);
  return key == "trtllm" ? "tensorrtllm" : key;
}

}  // namespace

void EngineSpellings::unify(BenchTable& table) {
  for (BenchRow& row : table.rows) {
    const std::string& name =
        name_of_.emplace(compared(row.framework), row.framework).first->second;
    if (name == row.framework) continue;
    count_oddity(
        table.oddities, "engine_spelled", row.line, false,
        "read as the engine '" + name + "' of other rows, which it is but for its spelling",
        OddityWeight::kNote);
    row.framework = name;
  }
}

std::string engine_name(const std::string& backend, const std::string& otherwise) {
  const std::string lower = lower_trimmed(backend);
  struct Known {
    const char* part;
    const char* name;
  };
  for (const Known known :
       {Known{"vllm", "vLLM"}, Known{"sglang", "SGLang"}, Known{"trt", "TensorRT-LLM"},
        Known{"tensorrt", "TensorRT-LLM"}, Known{"tgi", "TGI"}, Known{"lmdeploy", "LMDeploy"}}) {
    if (lower.find(known.part) != std::string::npos) return known.name;
  }
  return otherwise;
}

}  // namespace assay
