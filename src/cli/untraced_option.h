#pragma once

// `--untraced`, for verbs that say how long a run takes without its profiler.

#include <string>

namespace assay {

class Verb;
void add_untraced_option(Verb& verb, std::string& asked);

}  // namespace assay
