#pragma once

// `--specs FILE`: specifications of models and devices that extend or override the built-in ones.

#include <string>

namespace assay {

class Verb;  // cli/options.h

void add_facts_option(Verb& verb, std::string& path);

}  // namespace assay
