#pragma once

// What fuzzing starts from: samples of the formats and files of the corpus, as bytes that a parser
// takes.

#include <string>
#include <vector>

#include "parsers.h"

namespace assay::fuzz {

// Those of one parser, by name of file: of `formats` (tests/data/formats) the files whose names
// begin as the target says, of `corpus` the folder that has its name. A file of the corpus that
// ends in .sql becomes the database it describes. Seeds of `.assay` files, which only the build
// that reads them can write, are made of those of PyTorch's traces. Never empty.
std::vector<std::string> seeds_of(const ParserTarget& target, const std::string& formats,
                                  const std::string& corpus);

}  // namespace assay::fuzz
