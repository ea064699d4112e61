#pragma once

// `--specs FILE`: models and devices that the built-in facts do not know, or know otherwise.

#include <string>

namespace assay {

class Verb;  // cli/options.h

void add_facts_option(Verb& verb, std::string& path);

}  // namespace assay
