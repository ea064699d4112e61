#pragma once

// A verb's JSON document as the answer of a question, within a budget and with the most important
// first. Lists say which rows were left out, which call returns them, and which values are unknown.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "cli/questions.h"

namespace assay {

// Bytes of JSON per token, on the safe side: digits and names of kernels take more
// tokens than prose.
constexpr size_t kBytesOfToken = 3;
constexpr size_t kUsualTokens = 2000;
constexpr size_t kLeastTokens = 500;
constexpr size_t kMostTokens = 20'000;

struct AnswerRequest {
  size_t max_tokens = kUsualTokens;
  std::string table = {};      // only this one; empty = all
  size_t skip_rows = 0;        // rows of each table to skip
  std::string arguments = {};  // as the caller gave them: a JSON object, for "left_out" and "next"
};

// printed: what the verb printed, its document and sentences of standard error before or after it.
// The answer is a JSON object of at most max_tokens * kBytesOfToken bytes; only names of inputs and
// single values may exceed it. Errors: no document in it, an unknown table.
Result<std::string> agent_answer(const Question& question, const std::string& printed,
                                 const AnswerRequest& request);

}  // namespace assay
