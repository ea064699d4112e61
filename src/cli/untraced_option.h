#pragma once

// `--untraced`: duration of one run without its profiler.

#include <string>

namespace assay {

class Verb;
void add_untraced_option(Verb& verb, std::string& asked);

}  // namespace assay
