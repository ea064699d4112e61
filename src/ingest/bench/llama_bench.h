#pragma once

// Results of llama.cpp's llama-bench (-o json, jsonl or csv): a test is the prompt alone or the
// answer alone, and a run is one of each.

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
  std::string setting;  // what else two tests of one run have in common
  double batch = 0;     // n_batch and n_ubatch: tokens of a prompt at a time
  double micro_batch = 0;
  double gpu_layers = 0;
  double prompt = 0, answer = 0, depth = 0;  // tokens; depth is existing context
  double ns = 0;                             // mean time of the whole test
  int64_t line = 0;
};
LlamaTest llama_test(const BenchField& field, int64_t line);

// Builds runs of one sequence: every prompt test with every answer test of the same model and
// settings. If a test of an answer after the prompt's context exists, that one is used. Tests
// without a partner are dropped and counted.
void add_llama_runs(const std::vector<LlamaTest>& tests, BenchTable& table, OddityLog& log);

bool is_llama_csv(const std::vector<CsvRecord>& records);
Result<BenchTable> bench_table_of_llama_csv(const std::vector<CsvRecord>& records);
// Its Markdown, which is rounded: refused by name.
bool is_llama_markdown(const std::string& text);

}  // namespace assay
