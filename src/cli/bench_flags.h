#pragma once

// The options that the verbs about throughput share: the table, how to read it, and facts.

#include "answers/throughput/bench.h"

namespace assay {

class Verb;  // cli/options.h

void add_bench_options(Verb& verb, BenchRequest& flags);

}  // namespace assay
