#pragma once

// What the verbs about throughput share: the table, how to read it, and the facts that it is judged
// by.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/method.h"

namespace assay {

class Verb;  // cli/options.h

struct BenchFlags {
  std::vector<std::string> tables;
  std::vector<std::string> maps;
  std::vector<std::string> metas;
  std::string facts;
  std::optional<size_t> rows;  // learnt from at most
};
// For the head of a document and for errors.
std::string name_of(const BenchFlags& flags);

void add_bench_options(Verb& verb, BenchFlags& flags);

struct LoadedBench {
  FactBook facts;
  BenchTable table;
  ThroughputData data;
};
// text: of the only table, where it was read before.
Result<LoadedBench> load_bench(const BenchFlags& flags, const std::string* text = nullptr);

}  // namespace assay
