#pragma once

// What --help prints, from the table of options: what it does, examples, its own options, and only
// then those that every verb has. Plain value names, lines as wide as the terminal.

#include <string>

#include "cli/options.h"

namespace assay {

// verb: with all that is below it. above: "assay".
std::string help_page(const VerbFacts& verb, const std::string& program, size_t width);

// Columns of the terminal that help is printed on.
size_t help_width();

}  // namespace assay
