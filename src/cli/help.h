#pragma once

// Text of --help, generated from the table of options: the verb's sentence, examples, its own
// options, then the common ones. Lines are as wide as the terminal.

#include <string>

#include "cli/options.h"

namespace assay {

// verb: including its subverbs. program: "assay".
std::string help_page(const VerbFacts& verb, const std::string& program, size_t width);

// Width of the terminal in columns.
size_t help_width();

}  // namespace assay
