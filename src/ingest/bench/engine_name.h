#pragma once

#include <string>

namespace assay {

// The engine of a client's or image's word for it, as the other tables call it: "vLLM" for
// "vllm-openai"; `otherwise` where it names none. A client's "openai" backend does not tell the
// server.
std::string engine_name(const std::string& backend, const std::string& otherwise);

}  // namespace assay
