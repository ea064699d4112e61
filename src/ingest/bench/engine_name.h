#pragma once

#include <map>
#include <string>

#include "records/bench_table.h"

namespace assay {

// The engine of a client's or image's word for it, as the other tables call it: "vLLM" for
// "vllm-openai"; `otherwise` where it names none. A client's "openai" backend does not tell the
// server.
std::string engine_name(const std::string& backend, const std::string& otherwise);

// Spellings of engines: letter case and punctuation tell none apart, and "trtllm" is TensorRT-LLM.
class EngineSpellings {
 public:
  // Gives all rows of an engine the name that its first row has, also over several calls; the
  // others are counted.
  void unify(BenchTable& table);

 private:
  std::map<std::string, std::string> name_of_;  // by what is compared
};

}  // namespace assay
