#pragma once

// The options that the verbs about throughput share: the table, how to read it, and facts.

#include "answers/throughput/bench.h"

namespace CLI {
class App;
}

namespace assay {

using BenchFlags = BenchRequest;
void add_bench_options(CLI::App& verb, BenchFlags& flags);

}  // namespace assay
