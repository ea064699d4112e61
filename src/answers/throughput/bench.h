#pragma once

// Measured throughput: the table, how to read it, and the specifications to check it against.

#include <optional>
#include <string>
#include <vector>

#include "answers/inputs/facts.h"
#include "base/result.h"
#include "ingest/bench/engine_name.h"
#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/method.h"

namespace assay {

struct BenchRequest {
  std::vector<std::string> tables = {};  // files or a folder of them; "-" for standard input
  std::vector<std::string> maps = {};    // "bb=Batch Size,ii=Prompt length": role and column
  std::vector<std::string> metas = {};   // "hardware=Nvidia H100 GPU": values without a column
  std::string facts = {};                // file: docs/formats/facts.md
  std::optional<size_t> rows = {};       // maximum number of training rows
};
// The models and devices of the rows; their specifications must be complete.
FactNames names_in(const std::vector<BenchRow>& rows);
// Counts and names the sections of the user's specifications that no row uses. asked: additional
// rows, for points that are not in the table.
void note_unused_facts(const FactBook& facts, const std::string& path,
                       const std::vector<BenchRow>& rows, const std::vector<BenchRow>& asked,
                       std::vector<BenchOddity>& oddities);
// Display name for the document head and for errors.
std::string name_of(const BenchRequest& request);

struct LoadedBench {
  FactBook facts;
  BenchTable table;
  ThroughputData data;
};
// text: content of the only table, if already read. spellings: shared by tables that are compared;
// the first table determines the engine names.
Result<LoadedBench> load_bench(const BenchRequest& request, const std::string* text = nullptr,
                               EngineSpellings* spellings = nullptr);

}  // namespace assay
