#pragma once

// Every answer about a trace, for fuzzing: what the readers let pass, the rooms have to bear.

#include <string>

namespace assay::fuzz {

// Reads the trace at `path`, asks for all answers about it and writes each down. Errors are answers
// as well. True where there was a report. Ends the program where a written answer is no JSON.
bool every_answer(const std::string& path, bool allow_truncated);

// The same of two traces that can be read: as ranks of one job, and as two sides of a comparison.
void every_answer_of_two(const std::string& a, const std::string& b);

}  // namespace assay::fuzz
