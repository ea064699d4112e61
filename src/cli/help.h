#pragma once

// Text of --help from the table of options: the sentence, examples, the verb's own options, then
// the common ones. Plain value names; lines are as wide as the terminal.

#include <string>

#include "cli/options.h"

namespace assay {

// verb: with all verbs below it. above: "assay".
std::string help_page(const VerbFacts& verb, const std::string& program, size_t width);

// Columns of the terminal that help is printed on.
size_t help_width();

}  // namespace assay
