#pragma once

#include <map>
#include <string>

#include "records/bench_table.h"

namespace assay {

// The engine's usual name for the name of a client's backend or an image: "vLLM" for "vllm-openai".
// Returns `otherwise` for unknown names, and for a client's "openai" backend, which does not
// identify the server.
std::string engine_name(const std::string& backend, const std::string& otherwise);

// Unifies spellings of engine names. Ignores letter case and punctuation; "trtllm" is TensorRT-LLM.
class EngineSpellings {
 public:
  // Renames all rows of an engine to the spelling of its first row, which may be from an earlier
  // call. Counts the renamed rows as irregularities.
  void unify(BenchTable& table);

 private:
  std::map<std::string, std::string> name_of_;  // by compared form
};

}  // namespace assay
