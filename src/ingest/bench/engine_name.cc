#include "ingest/bench/engine_name.h"

#include "ingest/text/csv_records.h"

namespace assay {

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
