#pragma once

// What the verbs about throughput share: the table, how to read it, and the facts that it is judged
// by.

#include <string>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/method.h"

namespace CLI {
class App;
}

namespace assay {

struct BenchFlags {
  std::string table;
  std::vector<std::string> maps;
  std::vector<std::string> metas;
  std::string facts;
};

void add_bench_options(CLI::App& verb, BenchFlags& flags);

struct LoadedBench {
  FactBook facts;
  BenchTable table;
  ThroughputData data;
};
Result<LoadedBench> load_bench(const BenchFlags& flags);

}  // namespace assay
