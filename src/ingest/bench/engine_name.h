#pragma once

#include <map>
#include <string>

#include "records/bench_table.h"

namespace assay {

// The engine for a client's or image's name of it, as in the other tables: "vLLM" for
// "vllm-openai". Returns `otherwise` for other names. A client's "openai" backend does not name the
// server.
std::string engine_name(const std::string& backend, const std::string& otherwise);

// Spellings of engines. Letter case and punctuation do not count, and "trtllm" is TensorRT-LLM.
class EngineSpellings {
 public:
  // Gives all rows of an engine the name that its first row has, also over several calls; the
  // others are counted.
  void unify(BenchTable& table);

 private:
  std::map<std::string, std::string> name_of_;  // by what is compared
};

}  // namespace assay
