#pragma once

// `--facts FILE`: models and devices that the built-in facts do not know, or know otherwise.

#include <string>

namespace CLI {
class App;
}

namespace assay {

void add_facts_option(CLI::App& verb, std::string& path);

}  // namespace assay
