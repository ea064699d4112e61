#pragma once

// Measured throughput: the table, how to read it, and the specifications that it is checked
// against.

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
  std::optional<size_t> rows = {};       // learnt from at most
};
// Models and devices that rows have, for which facts must be complete.
FactNames names_in(const std::vector<BenchRow>& rows);
// Counts and names the sections of the user's specifications that no row uses. asked: points that
// are not rows of the table.
void note_unused_facts(const FactBook& facts, const std::string& path,
                       const std::vector<BenchRow>& rows, const std::vector<BenchRow>& asked,
                       std::vector<BenchOddity>& oddities);
// For the head of a document and for errors.
std::string name_of(const BenchRequest& request);

struct LoadedBench {
  FactBook facts;
  BenchTable table;
  ThroughputData data;
};
// text: of the only table, where it was read before. spellings: of tables that are compared, the
// first of which names the engines.
Result<LoadedBench> load_bench(const BenchRequest& request, const std::string* text = nullptr,
                               EngineSpellings* spellings = nullptr);

}  // namespace assay
