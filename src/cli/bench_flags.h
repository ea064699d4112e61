#pragma once

// Options shared by the throughput verbs: the table, how to read it, and specifications.

#include "answers/throughput/bench.h"

namespace assay {

class Verb;  // cli/options.h

void add_bench_options(Verb& verb, BenchRequest& flags);

}  // namespace assay
