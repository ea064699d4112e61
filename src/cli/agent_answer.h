#pragma once

// Reduces a verb's JSON document to the answer of a question, within a token budget, most important
// parts first. The answer lists omitted rows, the call that returns them, and unknown values.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "cli/questions.h"

namespace assay {

// JSON bytes per token, a conservative estimate: digits and kernel names take more tokens than
// prose.
constexpr size_t kBytesOfToken = 3;
constexpr size_t kUsualTokens = 2000;
constexpr size_t kLeastTokens = 500;
constexpr size_t kMostTokens = 20'000;

struct AnswerRequest {
  size_t max_tokens = kUsualTokens;
  std::string table = {};      // only this table; empty = all
  size_t skip_rows = 0;        // rows of each table to skip
  std::string arguments = {};  // as given by the caller: a JSON object, for "left_out" and "next"
};

// printed: the verb's output, a document with standard-error sentences before or after it. Returns
// a JSON object of at most max_tokens * kBytesOfToken bytes; only input names and single values may
// exceed it. Errors: no document in the output, an unknown table.
Result<std::string> agent_answer(const Question& question, const std::string& printed,
                                 const AnswerRequest& request);

}  // namespace assay
