#pragma once

// Reads results of llama.cpp's llama-bench (-o json, jsonl or csv). A test measures either the
// prompt or the generation; a run combines one test of each.

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/bench/columns.h"
#include "ingest/bench/titled.h"
#include "records/bench_table.h"

namespace assay {

// One test of the file; NaN and empty = unknown.
struct LlamaTest {
  std::string build, gpu, cpu, file, type_k, time;
  std::string setting;  // other values that both tests of a run share
  double batch = 0;     // n_batch and n_ubatch: tokens of a prompt at a time
  double micro_batch = 0;
  double gpu_layers = 0;
  double prompt = 0, answer = 0, depth = 0;  // tokens; depth is existing context
  double ns = 0;                             // mean time of the whole test
  int64_t line = 0;
};
LlamaTest llama_test(const BenchField& field, int64_t line);

// Builds runs of one sequence from every pair of a prompt test and a generation test of the same
// model and settings. Prefers the generation test with the prompt as existing context, if there is
// one. Drops and counts tests without a partner.
void add_llama_runs(const std::vector<LlamaTest>& tests, BenchTable& table, OddityLog& log);

bool is_llama_csv(const std::vector<CsvRecord>& records);
Result<BenchTable> bench_table_of_llama_csv(const std::vector<CsvRecord>& records);
// True for llama-bench's Markdown table, which is rejected because its values are rounded.
bool is_llama_markdown(const std::string& text);

}  // namespace assay
