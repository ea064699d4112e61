#pragma once

// The options of fits and of points asked about.

#include "answers/throughput/model.h"
#include "cli/bench_flags.h"

namespace CLI {
class App;
}

namespace assay {

using FitFlags = FitRequest;
void add_fit_options(CLI::App& verb, FitFlags& flags);
void add_method_option(CLI::App& verb, FitFlags& flags);

using PointFlags = PointRequest;
void add_point_options(CLI::App& verb, PointFlags& flags);

}  // namespace assay
