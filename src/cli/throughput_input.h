#pragma once

// Options of throughput fits and of query points.

#include "answers/throughput/model.h"
#include "cli/bench_flags.h"

namespace assay {

class Verb;  // cli/options.h

void add_fit_options(Verb& verb, FitRequest& flags);
void add_method_option(Verb& verb, FitRequest& flags);

void add_point_options(Verb& verb, PointRequest& flags);

}  // namespace assay
